//! The database under a stack, prepared for each program that uses it.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use conduit_runtime::database::{DatabaseSettings, DatabaseUrl, Owner, prepare};
use conduit_runtime::embedded::{Embedded, EmbeddedSettings};
use conduit_runtime::secrets;

use crate::files::write_private;
use crate::options::DatabaseChoice;
use crate::state::State;

/// The database's name in an own cluster.
const DATABASE: &str = "conduit";

/// Sixteen connections for each process of the largest layout, and some for people.
const MAX_CONNECTIONS: (&str, &str) = ("max_connections", "200");

/// A database with roles and tables; an own server under it, unless it was given.
#[derive(Debug)]
pub(crate) struct Database {
    embedded: Option<Embedded>,
    admin: DatabaseUrl,
}

impl Database {
    /// Starts and prepares it for the owners, and writes the URL of each to its file.
    pub(crate) async fn open(
        choice: &DatabaseChoice,
        state: &State,
        owners: &BTreeSet<Owner>,
        parameters: &[(String, String)],
    ) -> Result<Self> {
        let given = |(name, value): &(String, String)| (name.clone(), value.clone());
        let own = || [(MAX_CONNECTIONS.0.to_owned(), MAX_CONNECTIONS.1.to_owned())];
        let parameters: Vec<_> = own().into_iter().chain(parameters.iter().map(given)).collect();
        let embedded = match choice {
            DatabaseChoice::Given(_) => None,
            DatabaseChoice::Kept => Some(kept(state, parameters).await?),
            DatabaseChoice::Temporary => Some(temporary(&parameters).await?),
        };
        let admin = match (choice, &embedded) {
            (DatabaseChoice::Given(url), _) => url.clone(),
            (_, Some(embedded)) => embedded.url_of(DATABASE),
            (_, None) => anyhow::bail!("there is no database"),
        };
        let database = Self { embedded, admin };
        write_private(&state.database_url(None), database.admin.expose())?;
        for owner in owners {
            let url = database.prepared_for(*owner, state).await?;
            write_private(&state.database_url(Some(*owner)), url.expose())?;
        }
        Ok(database)
    }

    async fn prepared_for(&self, owner: Owner, state: &State) -> Result<DatabaseUrl> {
        let mut settings = DatabaseSettings::new(owner);
        if self.embedded.is_some() {
            settings.create = true;
            settings.passwords = vec![(owner, secrets::kept(&state.password(owner))?)];
        }
        let prepared = prepare(&self.admin, &settings).await?;
        // Roles belong to the whole server, so a given one keeps the passwords that it has: each process finds its own way from
        // the given login to its role, as it would without us.
        Ok(match self.embedded {
            Some(_) => prepared.url().clone(),
            None => self.admin.clone(),
        })
    }

    /// A login that may look at everything, or the given one.
    pub(crate) fn admin(&self) -> &DatabaseUrl {
        &self.admin
    }

    /// The process id of an own server.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.embedded.as_ref().map(Embedded::process_id)
    }

    pub(crate) async fn close(self) -> Result<()> {
        match self.embedded {
            Some(embedded) => embedded.stop().await.context("stopping PostgreSQL"),
            None => Ok(()),
        }
    }
}

async fn kept(state: &State, parameters: Vec<(String, String)>) -> Result<Embedded> {
    let mut settings = EmbeddedSettings::new(state.postgres());
    settings.parameters = parameters;
    Ok(Embedded::start(&settings).await?)
}

async fn temporary(parameters: &[(String, String)]) -> Result<Embedded> {
    let parameters: Vec<_> = parameters
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    Ok(Embedded::temporary_with(&parameters).await?)
}
