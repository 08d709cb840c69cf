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
    /// `http://host:port` of the operations listener, where it is on.
    #[allow(dead_code, reason = "not every test program looks at it")]
    pub(crate) operations: Option<String>,
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
        Self::told(database, &[])
    }

    /// A monolith on this database with these settings, as in `--http-workers=1`.
    pub(crate) fn told(database: Arc<TestDatabase>, changed: &[&str]) -> Self {
        let settings = settings(&database, changed);
        let (stop, stopped) = oneshot::channel();
        let (started, addresses) = mpsc::channel();
        let thread = std::thread::spawn(move || serve(settings, &started, stopped));
        let Addresses { address, operations } = addresses.recv().expect("the monolith did not start");
        Self {
            database,
            address,
            operations,
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

/// What a deployment tells at its start.
struct Addresses {
    address: String,
    operations: Option<String>,
}

fn settings(database: &TestDatabase, changed: &[&str]) -> monolith::Settings {
    let url = database.url("monolith");
    let usual = [
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
        &format!("--database-url={}", url.expose()),
        &format!("--token-secret={SECRET}"),
    ];
    let usual = usual.map(str::to_owned).to_vec();
    let changed: Vec<String> = changed.iter().map(|&setting| setting.to_owned()).collect();
    monolith::Settings::parse_from([vec!["monolith".to_owned()], replaced(usual, &changed)].concat())
}

/// Settings with some of them changed: nothing may be said twice.
pub(crate) fn replaced(mut settings: Vec<String>, changed: &[String]) -> Vec<String> {
    let name = |setting: &str| setting.split('=').next().map(str::to_owned);
    settings.retain(|setting| !changed.iter().any(|changed| name(changed) == name(setting)));
    settings.extend(changed.iter().cloned());
    settings
}

/// As `main` does it: one thread that builds and runs, beside the workers.
fn serve(settings: monolith::Settings, started: &mpsc::Sender<Addresses>, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async move {
        let monolith = monolith::build(settings).await.unwrap();
        let address = monolith.address().trim_start_matches("http://").to_owned();
        assert!(address.parse::<SocketAddr>().is_ok(), "{address}");
        let operations = monolith.operations_address().map(str::to_owned);
        started.send(Addresses { address, operations }).unwrap();
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
