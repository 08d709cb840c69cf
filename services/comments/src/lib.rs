//! The comments service: comments on articles that another service owns.
//!
//! [`build`] is the composition root, for `main` and for tests. What this build does differently from the monolith is in
//! [`reads`]; what it does because no foreign key reaches it, in [`purger`]. Nobody asks it anything. It must not contain a rule, a
//! route or a statement.

pub mod purger;
pub mod reads;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use conduit_app::Comments;
use conduit_process::AllReady;
use conduit_runtime::database::Owner;
use conduit_service::{ArticlesReady, Parts, Peering, ProfilesReady, Service, UsersReady, Worker};
use conduit_store::CommentStore;
use conduit_store::db::Db;

use self::purger::Purger;
use self::reads::Composed;
pub use self::settings::{PurgeArgs, Settings};

/// For one batch of purges; nobody waits for it, and each of its statements has the limit of the database's role.
const TRANSACTION_LIMIT: Duration = Duration::from_secs(30);

/// Takes the addresses, opens the database and migrates the schema `comments`, and puts the parts together.
///
/// # Errors
/// One sentence for the person who started the program, never with a secret.
pub async fn build(settings: Settings) -> anyhow::Result<Service> {
    let Settings {
        service,
        users,
        profiles,
        articles,
        purge,
    } = settings;
    ensure!(
        purge.comments_purge_grace > service.common.http.request_deadline,
        "CONDUIT_COMMENTS_PURGE_GRACE must be longer than CONDUIT_REQUEST_DEADLINE: until then a comment may be under way"
    );
    let peers = Peerings {
        users: users.into(),
        profiles: profiles.into(),
        articles: articles.into(),
    };
    let articles = peers.articles.clone();
    let service = conduit_service::build(Owner::Comments, service, move |parts, db| {
        worker(parts, db, &peers)
    })
    .await?;
    let purger = purger(service.parts(), &articles, &purge);
    Ok(service.with_background(purger.run(purge.comments_purge_interval)))
}

/// Where everybody is whom this service asks.
struct Peerings {
    users: Peering,
    profiles: Peering,
    articles: Peering,
}

fn worker(parts: &Parts, db: Db, peers: &Peerings) -> Worker {
    let users = parts.connect(&peers.users).users;
    let profiles = parts.connect(&peers.profiles).profiles;
    let articles = parts.connect(&peers.articles).articles;
    let comments = CommentStore::new(db.clone());
    let ready = AllReady(vec![
        parts.common.own_store(db),
        Arc::new(UsersReady(Arc::clone(&users))),
        Arc::new(ProfilesReady(Arc::clone(&profiles))),
        Arc::new(ArticlesReady(Arc::clone(&articles))),
    ]);
    let composed = Arc::new(Composed::new(users, profiles, articles, comments.clone()));
    Worker {
        comments: Some(Comments::new(composed, comments, Arc::clone(&parts.common.clock))),
        ..Worker::new(Arc::new(ready))
    }
}

/// Runs beside the workers, so with a connection and a client of its own.
fn purger(parts: &Parts, articles: &Peering, args: &PurgeArgs) -> Purger {
    Purger::new(
        parts.connect(articles).articles,
        CommentStore::new(parts.common.spare_db().with_limit(TRANSACTION_LIMIT)),
        Arc::clone(&parts.common.clock),
        args.comments_purge_grace,
    )
}
