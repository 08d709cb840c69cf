//! The health check that images use: a program asks a running one with the same settings.

use std::path::PathBuf;
use std::process::{Command, Output};

use stack::{Binaries, DatabaseChoice, Layout, ProxyChoice, ServiceInfo};

use crate::support::{binaries, folder, options, up};

/// A path, a number, a duration, a word and an address that are set to nothing, as container platforms do with what is not given.
const EMPTY: [&str; 5] = [
    "DATABASE_URL_FILE",
    "CONDUIT_HTTP_WORKERS",
    "CONDUIT_REQUEST_DEADLINE",
    "CONDUIT_LOG_FORMAT",
    "CONDUIT_HTTP_LISTEN",
];

/// What the program says of the service's health.
fn health(binaries: &Binaries, service: &ServiceInfo) -> Output {
    let program: PathBuf = binaries.folder.join(&service.name);
    let listen = service.operations.strip_prefix("http://").unwrap();
    Command::new(program)
        .arg("--health")
        .envs(EMPTY.map(|name| (name, "")))
        .env("CONDUIT_OPS_LISTEN", listen)
        .output()
        .unwrap()
}

#[tokio::test]
async fn every_program_tells_whether_one_of_its_kind_is_ready() {
    for layout in [Layout::Monolith, Layout::SplitHttp] {
        let folder = folder();
        let mut options = options(&folder);
        options.database = DatabaseChoice::Temporary;
        options.proxy = ProxyChoice::Without;
        let mut stack = up(layout, &options).await;
        for service in stack.services() {
            let told = health(&binaries(), &service);
            assert!(told.status.success(), "{}: {told:?}", service.name);
            assert!(told.stdout.is_empty() && told.stderr.is_empty(), "{told:?}");

            stack.stop_service(&service.name).await.unwrap();
            let told = health(&binaries(), &service);
            assert_eq!(told.status.code(), Some(1), "{}: {told:?}", service.name);
            let said = String::from_utf8(told.stderr).unwrap();
            assert!(said.starts_with("Error: nobody answers at "), "{said}");
        }
        stack.down().await.unwrap();
    }
}
