//! Whether a peer can be asked.
//!
//! A look-up of something that nobody has proves the way there, the secret and the peer's own store, without a call of its own.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_app::Readiness;
use conduit_domain::AccountId;
use conduit_rpc::{ArticlesApi, FindUsers, Follow, ProfilesApi, UsersApi};

const NOBODY: AccountId = AccountId(0);
/// A text that could be a slug and is no article's, since no slug begins with a hyphen.
const NO_SLUG: &str = "-";

/// The users service.
pub struct UsersReady(pub Arc<dyn UsersApi>);

#[async_trait]
impl Readiness for UsersReady {
    async fn ready(&self) -> bool {
        self.0
            .find(FindUsers {
                ids: vec![NOBODY],
                names: Vec::new(),
            })
            .await
            .is_ok()
    }
}

/// The profiles service.
pub struct ProfilesReady(pub Arc<dyn ProfilesApi>);

#[async_trait]
impl Readiness for ProfilesReady {
    async fn ready(&self) -> bool {
        self.0
            .follows(vec![Follow {
                follower: NOBODY,
                followee: NOBODY,
            }])
            .await
            .is_ok()
    }
}

/// The articles service.
pub struct ArticlesReady(pub Arc<dyn ArticlesApi>);

#[async_trait]
impl Readiness for ArticlesReady {
    async fn ready(&self) -> bool {
        self.0.ids_by_slugs(vec![NO_SLUG.to_owned()]).await.is_ok()
    }
}
