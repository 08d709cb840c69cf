//! The users service: registration, log-in, one's own account; and accounts by identifier or name for the other services.
//!
//! [`build`] is the composition root, for `main` and for tests. What peers may ask is in [`internal`]; everything else comes from
//! the shared crates. It asks nobody, so it has no reads of its own. It must not contain a rule, a route or a statement.

pub mod internal;
mod settings;

use std::sync::Arc;

use conduit_app::{Passwords, Users};
use conduit_runtime::database::Owner;
use conduit_service::{Parts, Service, Worker, build_with};
use conduit_store::UserStore;
use conduit_store::db::Db;

pub use self::settings::Settings;

/// Takes the addresses, opens the database and migrates the schema `users`, and puts the parts together.
///
/// # Errors
/// One sentence for the person who started the program, never with a secret.
pub async fn build(settings: Settings) -> anyhow::Result<Service> {
    let Settings { service, passwords } = settings;
    build_with(Owner::Users, service, |parts| {
        let passwords = parts.common.passwords(&passwords)?;
        Ok(move |parts: &Parts, db: Db| worker(parts, db, &passwords))
    })
    .await
}

fn worker(Parts { common, calls, .. }: &Parts, db: Db, passwords: &Passwords) -> Worker {
    let accounts = UserStore::new(db.clone());
    let users = Users::new(
        accounts.clone(),
        passwords.clone(),
        common.tokens.clone(),
        Arc::clone(&common.clock),
    );
    Worker {
        users: Some(users),
        users_api: Some(internal::api(accounts, calls)),
        ..Worker::new(common.own_store(db))
    }
}
