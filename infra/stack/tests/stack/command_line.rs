//! What people type.

use std::io::Read;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stack::state;

use crate::support::{PATIENCE, ask, binaries, folder};

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
fn data_and_secrets_are_kept_and_nothing_goes_on_running() {
    let folder = folder();
    let state = folder.path().join("state");
    let up: Vec<_> = UP
        .into_iter()
        .filter(|argument| *argument != "--temporary-data")
        .collect();
    let account = br#"{"user":{"username":"ann","email":"ann@example.test","password":"a password"}}"#;
    let mut tokens = Vec::new();
    for expected in [201, 409] {
        said(&state, &up);
        let summary = state::summary(&state).unwrap().unwrap();
        assert_eq!(
            ask("POST", &format!("{}/api/users", summary.address), account).0,
            expected
        );
        tokens.push(std::fs::read_to_string(&summary.token_secret_file).unwrap());
        said(&state, &["down"]);
        let pid = summary.services[0].pid.unwrap();
        assert!(
            kill(Pid::from_raw(i32::try_from(pid).unwrap()), None).is_err(),
            "{pid} still runs"
        );
        assert!(!state.join("postgres/data/postmaster.pid").exists());
        assert!(state::summary(&state).unwrap().is_none());
    }
    assert_eq!(tokens[0], tokens[1]);
}

#[test]
fn processes_end_with_a_stack_that_is_killed() {
    let folder = folder();
    let state = folder.path().join("state");
    said(&state, &UP);
    let summary = state::summary(&state).unwrap().unwrap();
    let address = summary.address.strip_prefix("http://").unwrap();
    let stack = state::holder(&state).unwrap().unwrap();
    kill(Pid::from_raw(i32::try_from(stack).unwrap()), Signal::SIGKILL).unwrap();
    let deadline = Instant::now() + PATIENCE;
    // Whoever still gets through waits for the end of the connection, which comes with the end of the process.
    while let Ok(mut connection) = TcpStream::connect(address) {
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = connection.read(&mut [0]);
        assert!(Instant::now() < deadline, "the monolith outlives its stack");
    }
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
