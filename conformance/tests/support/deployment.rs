//! A monolith in this process, on a database of its own or on a shared one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use clap::Parser as _;
use conduit_testkit::TestDatabase;
use conformance::ctx::Run;
use conformance::forge::Secret;
use conformance::target::{RouteTable, Target};
use tokio::sync::oneshot;

pub(crate) const SECRET: &str = "a secret of the conformance tests, long enough for everybody";
/// Against tests that hang: an exchange takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running monolith; it stops when the value goes.
pub(crate) struct Deployment {
    pub(crate) database: Arc<TestDatabase>,
    /// Host and port.
    pub(crate) address: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Deployment {
    /// A monolith on an empty database.
    pub(crate) async fn start() -> Self {
        Self::on(Arc::new(TestDatabase::new().await))
    }

    /// A monolith on this database.
    pub(crate) fn on(database: Arc<TestDatabase>) -> Self {
        let url = database.url("monolith").expose().to_owned();
        let (stop, stopped) = oneshot::channel();
        let (started, address) = mpsc::channel();
        let thread = std::thread::spawn(move || serve(&url, &started, stopped));
        let address = address.recv().expect("the monolith did not start");
        Self {
            database,
            address,
            stop: Some(stop),
            thread: Some(thread),
        }
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        self.stop.take().map(|stop| stop.send(()));
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(
            !matches!(ended, Some(Err(_))) || std::thread::panicking(),
            "the monolith broke"
        );
    }
}

/// As `main` does it: one thread that builds and runs, beside the workers.
fn serve(url: &str, started: &mpsc::Sender<String>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let arguments = [
        "monolith",
        "--http-listen=127.0.0.1:0",
        "--ops-listen=off",
        "--http-workers=2",
        "--database-migrate=false",
        "--database-wait=5s",
        "--request-deadline=5s",
        "--http-stop-wait=1s",
        // Hashing is not what is tested here, and it is most of what a check costs.
        "--password-memory=64",
        "--password-passes=1",
        &format!("--database-url={url}"),
        &format!("--token-secret={SECRET}"),
    ];
    let settings = monolith::Settings::parse_from(arguments);
    runtime.block_on(async move {
        let monolith = monolith::build(settings).await.unwrap();
        let address = monolith.address().trim_start_matches("http://").to_owned();
        assert!(address.parse::<SocketAddr>().is_ok(), "{address}");
        started.send(address).unwrap();
        let stop = async {
            let _ = stopped.await;
            "the test is over"
        };
        monolith.run(stop).await.unwrap();
    });
}

/// What checks need to know about a deployment at host and port.
pub(crate) fn run(address: &str, seed: u64) -> Run {
    let target = Target::parse(&format!("http://{address}"), &RouteTable::built_in().unwrap()).unwrap();
    Run {
        target,
        seed,
        secret: Some(Secret::new(SECRET)),
        patience: PATIENCE,
    }
}
