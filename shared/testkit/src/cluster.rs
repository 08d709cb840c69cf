//! One PostgreSQL for all tests of a process.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::{Context, Result, bail};
use conduit_runtime::database::DatabaseUrl;
use conduit_runtime::embedded::{Embedded, EmbeddedError, EmbeddedSettings};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::template;

/// Test processes that may run at the same time, each with a cluster of its own.
const MOST_PROCESSES: usize = 64;

static CLUSTER: OnceCell<Cluster> = OnceCell::const_new();

/// A running server with a migrated template.
pub(crate) struct Cluster {
    /// The superuser's address of the maintenance database.
    pub(crate) url: DatabaseUrl,
    done_with: UnboundedSender<Request>,
}

/// A database that nobody needs any more, and whom to tell that it is gone.
struct Request {
    name: String,
    gone: SyncSender<()>,
}

/// The cluster of this process; started by whoever asks first.
pub(crate) async fn shared() -> Result<&'static Cluster> {
    CLUSTER.get_or_try_init(start).await
}

/// The server belongs to a thread of its own, for the runtime of a test ends with the test.
async fn start() -> Result<Cluster> {
    let (started, outcome) = oneshot::channel();
    let (done_with, requests) = unbounded_channel();
    std::thread::Builder::new()
        .name("test-cluster".to_owned())
        .spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => return drop(started.send(Err(error.into()))),
            };
            runtime.block_on(keep(started, requests));
        })?;
    let url = outcome
        .await
        .context("the thread of the test cluster has ended")??;
    Ok(Cluster { url, done_with })
}

async fn keep(started: oneshot::Sender<Result<DatabaseUrl>>, mut requests: UnboundedReceiver<Request>) {
    let server = match launch().await {
        Ok(server) => server,
        Err(error) => return drop(started.send(Err(error))),
    };
    let prepared = template::make(&server.url())
        .await
        .context("preparing the template of test databases");
    let _ = started.send(prepared.map(|()| server.url()));
    while let Some(request) = requests.recv().await {
        // What cannot be dropped now goes with the next start.
        let _ = template::drop_database(&server.url(), &request.name).await;
        let _ = request.gone.send(());
    }
}

/// The first cluster under the target folder that no other process has, so that `initdb` runs once and not for every test.
async fn launch() -> Result<Embedded> {
    for number in 0..MOST_PROCESSES {
        let mut settings = EmbeddedSettings::new(folder()?.join(number.to_string()));
        settings.parameters = parameters();
        match Embedded::start(&settings).await {
            Err(EmbeddedError::InUse { .. }) => {}
            Err(EmbeddedError::OutOfReach { .. }) => break,
            outcome => return Ok(outcome?),
        }
    }
    let parameters = parameters();
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    Ok(Embedded::temporary_with(&parameters).await?)
}

/// Nothing here outlives a crash of the machine, so nothing waits for the disk.
fn parameters() -> Vec<(String, String)> {
    [
        ("fsync", "off"),
        ("synchronous_commit", "off"),
        ("full_page_writes", "off"),
        ("max_connections", "300"),
        // A lost deadlock is a test that waits for nothing.
        ("deadlock_timeout", "100ms"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// A test's program is `<target>/<profile>/deps/<name>`.
fn folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    match program.ancestors().nth(3) {
        Some(target) => Ok(target.join("test-databases")),
        None => bail!("{} is in no target folder", program.display()),
    }
}

impl Cluster {
    /// Drops a database and waits until it is gone.
    pub(crate) fn drop_database(&self, name: &str) {
        let (gone, wait) = sync_channel(1);
        if self
            .done_with
            .send(Request {
                name: name.to_owned(),
                gone,
            })
            .is_ok()
        {
            let _ = wait.recv();
        }
    }
}
