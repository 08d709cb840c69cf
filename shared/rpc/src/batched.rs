//! [`Batch`] over a peer. What cannot be combined (`deleted_since`) goes through as it is.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::{AccountId, ArticleId, NameKey};

use crate::batch::Batch;
use crate::clients::followed_from;
use crate::counts::Counts;
use crate::error::CallError;
use crate::limits::{FIRST_FOLLOWED, PAGE};
use crate::peers::{ArticlesApi, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi};

/// The owner of the accounts, where look-ups leave together when they queue behind one another.
pub struct BatchedUsers {
    api: Arc<dyn UsersApi>,
    batch: Batch<UserKey, User>,
}

/// The owner of the follows, likewise.
pub struct BatchedProfiles {
    api: Arc<dyn ProfilesApi>,
    /// The keys are pairs, so one viewer's flags never answer another's.
    follows: Batch<Follow, ()>,
    followed: Batch<AccountId, FirstPage>,
}

/// The owner of the articles, likewise.
pub struct BatchedArticles {
    api: Arc<dyn ArticlesApi>,
    batch: Batch<String, ArticleId>,
}

/// What somebody follows first, and how many were asked for.
type FirstPage = (Vec<AccountId>, u32);

/// An account is found by id or by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum UserKey {
    Id(AccountId),
    Name(NameKey),
}

impl BatchedUsers {
    /// Batches `find`.
    pub fn new(api: Arc<dyn UsersApi>, counts: Arc<Counts>) -> Self {
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
impl UsersApi for BatchedUsers {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        if let Some(_turn) = self.batch.turn() {
            return self.api.find(wanted).await;
        }
        let ids = wanted.ids.into_iter().map(UserKey::Id);
        let keys = ids.chain(wanted.names.into_iter().map(UserKey::Name)).collect();
        let found = self.batch.join(keys).await?;
        Ok(found.into_iter().map(|(_, user)| user).collect())
    }
}

impl BatchedProfiles {
    /// Batches `follows` and `followed_by`.
    pub fn new(api: Arc<dyn ProfilesApi>, counts: Arc<Counts>) -> Self {
        let joined = move |callers| counts.joined_by("profiles", callers);
        let inner = Arc::clone(&api);
        let look = move |pairs| {
            let api = Arc::clone(&inner);
            async move {
                let held = api.follows(pairs).await?;
                Ok(held.into_iter().map(|pair| (pair, ())).collect())
            }
        };
        let follows = Batch::counted(look, joined.clone());
        let inner = Arc::clone(&api);
        let look = move |viewers| first_pages(Arc::clone(&inner), viewers);
        let followed = Batch::counted(look, joined);
        Self {
            api,
            follows,
            followed,
        }
    }
}

async fn first_pages(
    api: Arc<dyn ProfilesApi>,
    viewers: Vec<AccountId>,
) -> Result<Vec<(AccountId, FirstPage)>, CallError> {
    if let [viewer] = *viewers {
        let page = api.followed_page(viewer, None, PAGE).await?;
        return Ok(vec![(viewer, (page, PAGE))]);
    }
    let count = u32::try_from(viewers.len()).unwrap_or(u32::MAX).max(1);
    let limit = (FIRST_FOLLOWED / count).clamp(1, PAGE);
    let each = api.followed_by_each(viewers, limit).await?;
    Ok(each
        .into_iter()
        .map(|(viewer, page)| (viewer, (page, limit)))
        .collect())
}

#[async_trait]
impl ProfilesApi for BatchedProfiles {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        if let Some(_turn) = self.follows.turn() {
            return self.api.follows(pairs).await;
        }
        let held = self.follows.join(pairs).await?;
        Ok(held.into_iter().map(|(pair, ())| pair).collect())
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        let (first, limit) = if let Some(_turn) = self.followed.turn() {
            (self.api.followed_page(viewer, None, PAGE).await?, PAGE)
        } else {
            let found = self.followed.join(vec![viewer]).await?;
            let own = found.into_iter().next();
            own.map_or_else(|| (Vec::new(), PAGE), |(_, first)| first)
        };
        // Nobody waits for the other pages of the few who follow more.
        followed_from(&*self.api, viewer, first, limit).await
    }

    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        self.api.followed_page(viewer, after, limit).await
    }

    async fn followed_by_each(
        &self,
        viewers: Vec<AccountId>,
        limit: u32,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>, CallError> {
        self.api.followed_by_each(viewers, limit).await
    }
}

impl BatchedArticles {
    /// Batches `ids_by_slugs`.
    pub fn new(api: Arc<dyn ArticlesApi>, counts: Arc<Counts>) -> Self {
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
impl ArticlesApi for BatchedArticles {
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
