//! The database of a process, whether given or its own.

use std::path::PathBuf;

use crate::database::{self, DatabaseError, DatabaseUrl, Owner, Prepared};
#[cfg(feature = "embedded")]
use crate::embedded::{Embedded, EmbeddedError, EmbeddedSettings};
use crate::settings::{DataArgs, DataFolder, DatabaseArgs, SettingsError};

/// The database's name in an own cluster.
#[cfg(feature = "embedded")]
const DATABASE: &str = "conduit";

/// A prepared database, and the own PostgreSQL under it where none was given.
#[derive(Debug)]
pub struct Database {
    prepared: Prepared,
    home: Option<DataFolder>,
    #[cfg(feature = "embedded")]
    embedded: Option<Embedded>,
}

/// Why there is no database.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting is missing or wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The database cannot be used as it is.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The own PostgreSQL does not run.
    #[cfg(feature = "embedded")]
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
}

impl Database {
    /// Opens the database that the settings name, prepared for a process that logs in as `login`. Without one,
    /// starts an own PostgreSQL in the data folder; programs built without the feature `embedded` refuse that.
    ///
    /// # Errors
    /// Every [`OpenError`] is a sentence for the person who started the program, without secrets.
    pub async fn open(args: &DatabaseArgs, data: &DataArgs, login: Owner) -> Result<Self, OpenError> {
        match args.url()? {
            Some(url) => Self::given(&url, args, login).await,
            None => Self::own(args, data, login).await,
        }
    }

    async fn given(url: &DatabaseUrl, args: &DatabaseArgs, login: Owner) -> Result<Self, OpenError> {
        let prepared = database::prepare(url, &args.preparation(login)?).await?;
        Ok(Self {
            prepared,
            home: None,
            #[cfg(feature = "embedded")]
            embedded: None,
        })
    }

    #[cfg(feature = "embedded")]
    async fn own(args: &DatabaseArgs, data: &DataArgs, login: Owner) -> Result<Self, OpenError> {
        let home = data.folder()?;
        let settings = EmbeddedSettings {
            port: data.data_port,
            ..EmbeddedSettings::new(home.postgres())
        };
        let embedded = Embedded::start(&settings).await?;
        let mut preparation = args.preparation(login)?;
        preparation.create = true;
        for owner in Owner::ALL {
            if preparation.passwords.iter().all(|(other, _)| *other != owner) {
                preparation.passwords.push((owner, kept_password(&home, owner)?));
            }
        }
        let prepared = database::prepare(&embedded.url_of(DATABASE), &preparation).await?;
        Ok(Self {
            prepared,
            home: Some(home),
            embedded: Some(embedded),
        })
    }

    #[cfg(not(feature = "embedded"))]
    async fn own(args: &DatabaseArgs, _data: &DataArgs, _login: Owner) -> Result<Self, OpenError> {
        args.required_url()?;
        Err(SettingsError::Missing { name: "DATABASE_URL" }.into())
    }

    /// What the process's pool logs in with.
    #[must_use]
    pub fn url(&self) -> &DatabaseUrl {
        self.prepared.url()
    }

    /// What a process of another owner would log in with, where we know a way.
    #[must_use]
    pub fn url_of(&self, owner: Owner) -> Option<&DatabaseUrl> {
        self.prepared.url_of(owner)
    }

    /// The file for a token secret of development; none where the database was given, since then the secret
    /// must be, too.
    #[must_use]
    pub fn development_secret(&self) -> Option<PathBuf> {
        self.home.as_ref().map(DataFolder::token_secret)
    }

    /// Where the data are and how to use others, for the lines a program prints at its start.
    #[must_use]
    pub fn description(&self) -> String {
        match &self.home {
            None => format!("data: {}", self.url()),
            Some(home) => format!(
                "data: {} ({}). To use another PostgreSQL set DATABASE_URL, for other data CONDUIT_DATA_DIR",
                home.path().display(),
                self.server()
            ),
        }
    }

    #[cfg(feature = "embedded")]
    fn server(&self) -> String {
        self.embedded.as_ref().map_or_else(String::new, |embedded| {
            format!("own PostgreSQL {}", embedded.version())
        })
    }

    #[cfg(not(feature = "embedded"))]
    fn server(&self) -> String {
        String::new()
    }

    /// Stops the own PostgreSQL. Close the pool first: its sessions would be ended under it.
    ///
    /// # Errors
    /// None that matter to the data.
    pub async fn close(self) -> Result<(), OpenError> {
        #[cfg(feature = "embedded")]
        if let Some(embedded) = self.embedded {
            embedded.stop().await?;
        }
        Ok(())
    }
}

#[cfg(feature = "embedded")]
fn kept_password(home: &DataFolder, owner: Owner) -> Result<secrecy::SecretString, SettingsError> {
    let path = home.password(owner);
    crate::secrets::kept(&path).map_err(|source| SettingsError::Data { path, source })
}
