//! From a database's address to tables and a role to log in with.
//!
//! [`prepare`] is idempotent and may run in several processes at once: roles and schemas (`sql/roles.sql`,
//! compiled in) are applied under a lock of the cluster, migrations (`sql/migrations`, compiled in) under a
//! lock of the database, each owner's as that owner and recorded in its own schema. What our role may not do
//! must have been done by an administrator; if it has not, the error names the command.

mod error;
mod login;
mod migrations;
mod owner;
mod roles;
mod rotation;
mod session;
mod url;

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;

pub use self::error::DatabaseError;
pub use self::owner::Owner;
pub use self::roles::ROLES;
pub use self::rotation::{SET_LOGIN, set_login};
pub use self::url::{DatabaseUrl, InvalidDatabaseUrl};

/// How to prepare a database.
#[derive(Clone, Debug)]
pub struct DatabaseSettings {
    /// Whom the process logs in as: its own role and schema are needed, the monolith needs all.
    pub login: Owner,
    /// Make the database where it is missing.
    pub create: bool,
    /// Passwords to set for roles, and to log in with. A role that is not here keeps the one it has.
    pub passwords: Vec<(Owner, SecretString)>,
    /// Run migrations; otherwise only see that none is missing.
    pub migrate: bool,
    /// How long to try to reach the server.
    pub wait: Duration,
}

impl DatabaseSettings {
    /// For a process that logs in as `login`: no new database, no passwords, with migrations, twenty seconds
    /// for the server to answer.
    #[must_use]
    pub fn new(login: Owner) -> Self {
        Self {
            login,
            create: false,
            passwords: Vec::new(),
            migrate: true,
            wait: Duration::from_secs(20),
        }
    }
}

/// A database with everything in it.
#[derive(Clone, Debug)]
pub struct Prepared {
    url: DatabaseUrl,
    urls: BTreeMap<Owner, DatabaseUrl>,
}

impl Prepared {
    /// What the process's pool logs in with.
    #[must_use]
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// What a process of another owner would log in with, where we know a way.
    #[must_use]
    pub fn url_of(&self, owner: Owner) -> Option<&DatabaseUrl> {
        self.urls.get(&owner)
    }
}

/// Makes roles, schemas and tables what this program needs, as far as they are not.
///
/// # Errors
/// Every [`DatabaseError`] names the database, the cause and what to do, never a password. A server that cannot be reached is one after
/// `settings.wait`, one that refuses us at once.
pub async fn prepare(url: &DatabaseUrl, settings: &DatabaseSettings) -> Result<Prepared, DatabaseError> {
    let mut session = roles::prepare(url, settings).await?;
    match settings.migrate {
        true => migrations::run(&mut session, settings.login).await?,
        false => migrations::check(&mut session, settings.login).await?,
    }
    let mut urls = BTreeMap::new();
    for owner in Owner::ALL {
        if let Some(own) = login::url_of(owner, &mut session, url, settings).await? {
            urls.insert(owner, own);
        }
    }
    session.close().await;
    let own = urls
        .get(&settings.login)
        .cloned()
        .ok_or_else(|| DatabaseError::NotMember {
            target: url.to_string(),
            user: url
                .options()
                .map(|options| options.get_username().to_owned())
                .unwrap_or_default(),
            role: settings.login.role(),
        })?;
    Ok(Prepared { url: own, urls })
}
