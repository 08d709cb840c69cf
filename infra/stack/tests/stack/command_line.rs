//! What people type.

use std::io::Read;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stack::state;

use crate::support::{PATIENCE, binaries, folder};

fn stack(state: &Path, arguments: &[&str]) -> Output {
    binaries();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stack"));
    command
        .args(arguments)
        .arg("--state")
        .arg(state)
        .env_remove("DATABASE_URL");
    command.output().unwrap()
}

fn said(state: &Path, arguments: &[&str]) -> String {
    let output = stack(state, arguments);
    let (out, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{arguments:?}: {out}{told}");
    out.into_owned()
}

const UP: [&str; 7] = [
    "up",
    "monolith",
    "--detach",
    "--temporary-data",
    "--no-nginx",
    "--no-build",
    "--workers=1",
];

#[test]
fn a_detached_stack_can_be_looked_at_and_stopped() {
    let folder = folder();
    let state = folder.path().join("state");
    assert!(said(&state, &["status"]).contains("nothing runs"));
    let told = said(&state, &UP);
    assert!(told.contains("monolith serves at http://127.0.0.1:"), "{told}");
    let status = said(&state, &["status"]);
    assert!(status.contains("monolith      ready"), "{status}");
    let log = said(&state, &["logs", "monolith"]);
    assert!(log.contains("Conduit serves at"), "{log}");
    let second = stack(&state, &UP);
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("already runs"));
    assert!(said(&state, &["down"]).contains("stopped"));
    assert!(said(&state, &["status"]).contains("nothing runs"));
}

#[test]
fn processes_end_with_a_stack_that_is_killed() {
    let folder = folder();
    let state = folder.path().join("state");
    said(&state, &UP);
    let summary = state::summary(&state).unwrap().unwrap();
    let address = summary.address.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let stack = state::holder(&state).unwrap().unwrap();
    kill(Pid::from_raw(i32::try_from(stack).unwrap()), Signal::SIGKILL).unwrap();
    // The end of the connection is the end of the process.
    let read = connection.read(&mut [0]);
    assert!(!matches!(read, Ok(1..)), "{read:?}");
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_configuration_can_be_rendered_for_elsewhere() {
    let folder = folder();
    let variables = folder.path().join("site.toml");
    let text = "listen = [\"80\"]\nfolder = \"/run/nginx\"\n[services]\nmonolith = [{ address = \"10.0.0.1:3000\" }]\n";
    std::fs::write(&variables, text).unwrap();
    let rendered = said(folder.path(), &["render", "single", variables.to_str().unwrap()]);
    assert!(rendered.contains("server \"10.0.0.1:3000\";"), "{rendered}");
}
