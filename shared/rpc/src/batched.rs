//! [`Batch`] over a peer. What cannot be combined (`followed_by`, `deleted_since`) goes through as it is.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::{AccountId, ArticleId, NameKey};

use crate::batch::Batch;
use crate::counts::Counts;
use crate::error::CallError;
use crate::peers::{ArticlesApi, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi};

/// A peer whose look-ups leave together when they queue behind one another.
pub struct Batched<A: Lookups + ?Sized> {
    api: Arc<A>,
    batch: Batch<A::Key, A::Value>,
}

/// What is looked up at a peer.
pub trait Lookups {
    /// By what.
    type Key;
    /// And what is found.
    type Value;
}

impl Lookups for dyn UsersApi {
    type Key = UserKey;
    type Value = User;
}

impl Lookups for dyn ProfilesApi {
    type Key = Follow;
    type Value = ();
}

impl Lookups for dyn ArticlesApi {
    type Key = String;
    type Value = ArticleId;
}

/// An account is found by id or by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum UserKey {
    /// By id.
    Id(AccountId),
    /// By the name's key.
    Name(NameKey),
}

impl<A: Lookups + ?Sized> fmt::Debug for Batched<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batched").finish_non_exhaustive()
    }
}

impl Batched<dyn UsersApi> {
    /// Batches `find`.
    pub fn users(api: Arc<dyn UsersApi>, counts: Arc<Counts>) -> Self {
        let inner = Arc::clone(&api);
        let look = move |keys| find_by_keys(Arc::clone(&inner), keys);
        Self {
            api,
            batch: Batch::counted(look, move |callers| counts.joined_by("users", callers)),
        }
    }
}

async fn find_by_keys(api: Arc<dyn UsersApi>, keys: Vec<UserKey>) -> Result<Vec<(UserKey, User)>, CallError> {
    let mut wanted = FindUsers::default();
    for key in keys {
        match key {
            UserKey::Id(id) => wanted.ids.push(id),
            UserKey::Name(name) => wanted.names.push(name),
        }
    }
    let by_name = !wanted.names.is_empty();
    let found = api.find(wanted).await?;
    // Whoever did not ask by a key does not get the answer under it, so both can be given.
    let name =
        |user: &User| by_name.then(|| (UserKey::Name(NameKey::of_valid(&user.username)), user.clone()));
    Ok(found
        .into_iter()
        .flat_map(|user| [name(&user), Some((UserKey::Id(user.id), user))])
        .flatten()
        .collect())
}

#[async_trait]
impl UsersApi for Batched<dyn UsersApi> {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        if let Some(_turn) = self.batch.turn() {
            return self.api.find(wanted).await;
        }
        let ids = wanted.ids.into_iter().map(UserKey::Id);
        let keys = ids.chain(wanted.names.into_iter().map(UserKey::Name)).collect();
        Ok(self
            .batch
            .join(keys)
            .await?
            .into_iter()
            .map(|(_, user)| user)
            .collect())
    }
}

impl Batched<dyn ProfilesApi> {
    /// Batches `follows`. The keys are pairs, so one viewer's flags never answer another's.
    pub fn profiles(api: Arc<dyn ProfilesApi>, counts: Arc<Counts>) -> Self {
        let inner = Arc::clone(&api);
        let look = move |pairs| {
            let api = Arc::clone(&inner);
            async move {
                Ok(api
                    .follows(pairs)
                    .await?
                    .into_iter()
                    .map(|pair| (pair, ()))
                    .collect())
            }
        };
        Self {
            api,
            batch: Batch::counted(look, move |callers| counts.joined_by("profiles", callers)),
        }
    }
}

#[async_trait]
impl ProfilesApi for Batched<dyn ProfilesApi> {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        if let Some(_turn) = self.batch.turn() {
            return self.api.follows(pairs).await;
        }
        Ok(self
            .batch
            .join(pairs)
            .await?
            .into_iter()
            .map(|(pair, ())| pair)
            .collect())
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        self.api.followed_by(viewer).await
    }

    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        self.api.followed_page(viewer, after, limit).await
    }
}

impl Batched<dyn ArticlesApi> {
    /// Batches `ids_by_slugs`.
    pub fn articles(api: Arc<dyn ArticlesApi>, counts: Arc<Counts>) -> Self {
        let inner = Arc::clone(&api);
        let look = move |slugs| {
            let api = Arc::clone(&inner);
            async move { api.ids_by_slugs(slugs).await }
        };
        Self {
            api,
            batch: Batch::counted(look, move |callers| counts.joined_by("articles", callers)),
        }
    }
}

#[async_trait]
impl ArticlesApi for Batched<dyn ArticlesApi> {
    async fn ids_by_slugs(&self, slugs: Vec<String>) -> Result<Vec<(String, ArticleId)>, CallError> {
        if let Some(_turn) = self.batch.turn() {
            return self.api.ids_by_slugs(slugs).await;
        }
        self.batch.join(slugs).await
    }

    async fn deleted_since(&self, cursor: DeletionCursor, limit: u32) -> Result<Vec<Deletion>, CallError> {
        self.api.deleted_since(cursor, limit).await
    }
}
