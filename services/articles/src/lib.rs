//! The articles service: articles, lists, feeds, favorites and tags; and slugs and deletions for the comments service.
//!
//! [`build`] is the composition root, for `main` and for tests. What this build does differently from the monolith is in
//! [`reads`], what peers may ask in [`internal`]; everything else comes from the shared crates. It must not contain a rule, a route
//! or a statement.

pub mod internal;
pub mod reads;
mod settings;

use std::sync::Arc;

use conduit_app::Articles;
use conduit_process::AllReady;
use conduit_runtime::database::Owner;
use conduit_service::{Parts, Peering, ProfilesReady, Service, UsersReady, Worker};
use conduit_store::ArticleStore;
use conduit_store::db::Db;

use self::reads::Composed;
pub use self::settings::Settings;

/// Takes the addresses, opens the database and migrates the schema `articles`, and puts the parts together.
///
/// # Errors
/// One sentence for the person who started the program, never with a secret.
pub async fn build(settings: Settings) -> anyhow::Result<Service> {
    let (users, profiles) = (settings.users.into(), settings.profiles.into());
    conduit_service::build(Owner::Articles, settings.service, move |parts, db| {
        worker(parts, db, &users, &profiles)
    })
    .await
}

fn worker(parts: &Parts, db: Db, users: &Peering, profiles: &Peering) -> Worker {
    let users = parts.connect(users).users;
    let profiles = parts.connect(profiles).profiles;
    let articles = ArticleStore::new(db.clone());
    let ready = AllReady(vec![
        parts.common.own_store(db),
        Arc::new(UsersReady(Arc::clone(&users))),
        Arc::new(ProfilesReady(Arc::clone(&profiles))),
    ]);
    let composed = Arc::new(Composed::new(users, profiles, articles.clone()));
    Worker {
        articles: Some(Articles::new(
            composed,
            articles.clone(),
            Arc::clone(&parts.common.clock),
        )),
        articles_api: Some(internal::api(articles, &parts.calls)),
        ..Worker::new(Arc::new(ready))
    }
}
