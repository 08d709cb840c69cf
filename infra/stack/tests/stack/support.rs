//! Stacks in a folder that goes with the test.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use conduit_testkit::skip;
use conformance::ctx::Run;
use conformance::forge::Secret;
use conformance::target::{RouteTable, Target};
use stack::{Binaries, DatabaseChoice, Layout, Options, Stack, nginx};
use tempfile::TempDir;

/// Against tests that hang: an exchange takes milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder that the accounts of PostgreSQL and nginx may walk through.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).unwrap();
    folder
}

/// The programs beside this test, which `cargo test --workspace` has just built; what is missing is built when it is started.
/// Building all of them here again would be another build, with other features of what they depend on.
pub(crate) fn binaries() -> Binaries {
    Binaries::beside_this_program(false, false).unwrap()
}

pub(crate) fn options(folder: &TempDir) -> Options {
    let mut options = Options::new(folder.path().join("state"), binaries());
    options.database = DatabaseChoice::Temporary;
    options.environment = vec![("RUST_LOG".to_owned(), "warn".to_owned())];
    options
}

pub(crate) async fn up(layout: Layout, options: &Options) -> Stack {
    Stack::up(layout, options)
        .await
        .unwrap_or_else(|error| panic!("{error:#}"))
}

/// What checks need to know about the stack.
pub(crate) fn run(stack: &Stack) -> Run {
    let secret = fs::read_to_string(stack.token_secret_file()).unwrap();
    Run {
        target: Target::parse(stack.address(), &RouteTable::built_in().unwrap()).unwrap(),
        seed: 1,
        secret: Some(Secret::new(secret.trim())),
        patience: PATIENCE,
    }
}

/// What the processes had to say: they log warnings and errors only.
pub(crate) fn logged(stack: &Stack) -> String {
    let services = stack.services().into_iter().map(|service| service.name);
    let logs = services.chain(["nginx".to_owned()]);
    logs.map(|name| {
        format!(
            "== {name}\n{}",
            fs::read_to_string(stack.log(&name)).unwrap_or_default()
        )
    })
    .collect()
}

/// Whether nginx is here; a word about what is not tested if it is not.
pub(crate) fn has_nginx() -> bool {
    let installed = nginx::installed().is_some();
    if !installed {
        skip("nginx is not installed (Debian's package is nginx), so nothing is tried behind it");
    }
    installed
}

/// Status and body of a GET.
pub(crate) fn get(url: &str) -> (u16, String) {
    ask("GET", url, b"")
}

/// Status and body. It blocks: nothing of a stack runs in the test's own process.
pub(crate) fn ask(method: &str, url: &str, body: &[u8]) -> (u16, String) {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    let head = format!(
        "{method} /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
    );
    connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}
