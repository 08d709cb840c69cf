//! The profiles service: accounts as others see them, and who follows whom; and follows for the other services.
//!
//! [`build`] is the composition root, for `main` and for tests. What this build does differently from the monolith is in
//! [`reads`], what peers may ask in [`internal`]; everything else comes from the shared crates. It must not contain a rule, a route
//! or a statement.

pub mod internal;
pub mod reads;
mod settings;

use std::sync::Arc;

use conduit_app::Profiles;
use conduit_process::AllReady;
use conduit_runtime::database::Owner;
use conduit_service::{Parts, Peering, Service, UsersReady, Worker};
use conduit_store::ProfileStore;
use conduit_store::db::Db;

use self::reads::Composed;
pub use self::settings::Settings;

/// Takes the addresses, opens the database and migrates the schema `profiles`, and puts the parts together.
///
/// # Errors
/// One sentence for the person who started the program, never with a secret.
pub async fn build(settings: Settings) -> anyhow::Result<Service> {
    let users = settings.users.into();
    conduit_service::build(Owner::Profiles, settings.service, move |parts, db| {
        worker(parts, db, &users)
    })
    .await
}

fn worker(parts: &Parts, db: Db, users: &Peering) -> Worker {
    let users = parts.connect(users).users;
    let follows = ProfileStore::new(db.clone());
    let composed = Arc::new(Composed::new(Arc::clone(&users), follows.clone()));
    let ready = AllReady(vec![parts.common.own_store(db), Arc::new(UsersReady(users))]);
    Worker {
        profiles: Some(Profiles::new(composed, follows.clone())),
        profiles_api: Some(internal::api(follows, &parts.calls)),
        ..Worker::new(Arc::new(ready))
    }
}
