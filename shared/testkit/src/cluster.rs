//! One PostgreSQL for all tests of a process.

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::{Context, Result, bail};
use conduit_runtime::database::DatabaseUrl;
use conduit_runtime::embedded::{Embedded, EmbeddedError, EmbeddedSettings};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::template::{Keys, Templates};

/// Test processes that may run at the same time, each with a cluster of its own.
const MOST_PROCESSES: usize = 64;

static CLUSTER: OnceCell<Cluster> = OnceCell::const_new();

/// A running server that makes test databases.
pub(crate) struct Cluster {
    requests: UnboundedSender<Request>,
}

enum Request {
    Make {
        keys: Keys,
        made: oneshot::Sender<Result<DatabaseUrl>>,
    },
    Drop {
        name: String,
        gone: SyncSender<()>,
    },
}

/// The cluster of this process; started by whoever asks first.
pub(crate) async fn shared() -> Result<&'static Cluster> {
    CLUSTER.get_or_try_init(start).await
}

impl Cluster {
    /// Makes a database and returns the superuser's address of it.
    pub(crate) async fn make_database(&self, keys: Keys) -> Result<DatabaseUrl> {
        let (made, outcome) = oneshot::channel();
        self.requests
            .send(Request::Make { keys, made })
            .context("the test cluster has ended")?;
        outcome.await.context("the test cluster has ended")?
    }

    /// Drops a database and waits until it is gone.
    pub(crate) fn drop_database(&self, name: &str) {
        let (gone, wait) = sync_channel(1);
        if self
            .requests
            .send(Request::Drop {
                name: name.to_owned(),
                gone,
            })
            .is_ok()
        {
            let _ = wait.recv();
        }
    }
}

/// The server belongs to a thread of its own, for the runtime of a test ends with the test.
async fn start() -> Result<Cluster> {
    let (started, outcome) = oneshot::channel();
    let (requests, incoming) = unbounded_channel();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    std::thread::Builder::new()
        .name("test-cluster".to_owned())
        .spawn(move || runtime.block_on(keep(started, incoming)))?;
    outcome
        .await
        .context("the thread of the test cluster has ended")??;
    Ok(Cluster { requests })
}

async fn keep(started: oneshot::Sender<Result<()>>, mut incoming: UnboundedReceiver<Request>) {
    let opened = async {
        let server = launch().await?;
        let templates = Templates::open(server.url())
            .await
            .context("preparing for test databases")?;
        anyhow::Ok((server, templates))
    };
    // The server runs while its value lives: until the end of the process, for the requests never end.
    let (_server, mut templates) = match opened.await {
        Ok(opened) => opened,
        Err(error) => return drop(started.send(Err(error))),
    };
    let _ = started.send(Ok(()));
    while let Some(request) = incoming.recv().await {
        match request {
            Request::Make { keys, made } => drop(made.send(templates.clone_of(keys).await)),
            Request::Drop { name, gone } => {
                // What cannot be dropped now goes with the next start.
                let _ = templates.drop_database(&name).await;
                let _ = gone.send(());
            }
        }
    }
}

/// The first cluster under the target folder that no other process has, so that `initdb` runs once and not for every test.
async fn launch() -> Result<Embedded> {
    for number in 0..MOST_PROCESSES {
        let mut settings = EmbeddedSettings::new(folder()?.join(number.to_string()));
        settings.parameters = PARAMETERS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        match Embedded::start(&settings).await {
            Err(EmbeddedError::InUse { .. }) => {}
            Err(EmbeddedError::OutOfReach { .. }) => break,
            outcome => return Ok(outcome?),
        }
    }
    Ok(Embedded::temporary_with(&PARAMETERS).await?)
}

/// Nothing here outlives a crash of the machine, so nothing waits for the disk.
pub(crate) const PARAMETERS: [(&str, &str); 5] = [
    ("fsync", "off"),
    ("synchronous_commit", "off"),
    ("full_page_writes", "off"),
    ("max_connections", "300"),
    // Whoever tests a deadlock need not wait a second for it.
    ("deadlock_timeout", "100ms"),
];

/// A test's program is `<target>/<profile>/deps/<name>`.
fn folder() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    match program.ancestors().nth(3) {
        Some(target) => Ok(target.join("test-databases")),
        None => bail!("{} is in no target folder", program.display()),
    }
}
