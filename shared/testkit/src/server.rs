//! A PostgreSQL of one test's own, for tests that stop it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context, Result, ensure};
use conduit_runtime::database::DatabaseUrl;
use conduit_runtime::embedded::{Embedded, EmbeddedSettings};
use tempfile::TempDir;
use tokio::sync::Mutex;

use crate::cluster::PARAMETERS;
use crate::template::{Keys, Templates};

/// A server that keeps its data and its address while it is stopped.
pub(crate) struct OwnServer {
    // Dropped in this order: the server before its folder.
    running: Mutex<Option<Embedded>>,
    settings: EmbeddedSettings,
    _folder: TempDir,
}

impl OwnServer {
    /// Starts it, with one database in it.
    pub(crate) async fn with_database(keys: Keys) -> Result<(Self, DatabaseUrl)> {
        let folder = tempfile::tempdir()?;
        // The account of the server has to walk through.
        fs::set_permissions(folder.path(), Permissions::from_mode(0o711))?;
        let mut settings = EmbeddedSettings::new(folder.path().join("postgres"));
        settings.parameters = PARAMETERS
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let server = Embedded::start(&settings).await?;
        let url = Templates::open(server.url()).await?.clone_of(keys).await?;
        let server = Self {
            running: Mutex::new(Some(server)),
            settings,
            _folder: folder,
        };
        Ok((server, url))
    }

    /// Ends all sessions and stops it.
    pub(crate) async fn stop(&self) -> Result<()> {
        let server = self.running.lock().await.take();
        Ok(server.context("it is stopped already")?.stop().await?)
    }

    /// Starts it again, where it was.
    pub(crate) async fn start(&self) -> Result<()> {
        let mut running = self.running.lock().await;
        ensure!(running.is_none(), "it runs already");
        *running = Some(Embedded::start(&self.settings).await?);
        Ok(())
    }
}
