//! What the other services ask of this one.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_domain::AccountId;
use conduit_rpc::{BatchedProfiles, CallError, CallSettings, Follow, ProfilesApi};
use conduit_store::ProfileStore;

/// The follows of this process's own store.
#[derive(Clone)]
pub struct Local {
    follows: ProfileStore,
}

impl Local {
    /// Answers from these follows.
    pub fn new(follows: ProfileStore) -> Self {
        Self { follows }
    }
}

/// What a worker offers to its peers: [`Local`], whose look-ups leave together if the settings say so (performance page, rule 6).
pub fn api(follows: ProfileStore, calls: &CallSettings) -> Arc<dyn ProfilesApi> {
    let local = Arc::new(Local::new(follows));
    if calls.batching {
        Arc::new(BatchedProfiles::new(local, Arc::clone(&calls.counts)))
    } else {
        local
    }
}

#[async_trait]
impl ProfilesApi for Local {
    async fn follows(&self, pairs: Vec<Follow>) -> Result<Vec<Follow>, CallError> {
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|pair| (pair.follower, pair.followee))
            .collect();
        let held = self.follows.follows(&pairs).await?;
        Ok(held
            .into_iter()
            .map(|(follower, followee)| Follow { follower, followee })
            .collect())
    }

    async fn followed_by(&self, viewer: AccountId) -> Result<Vec<AccountId>, CallError> {
        Ok(self.follows.followed_by(viewer, None, i64::MAX).await?)
    }

    async fn followed_page(
        &self,
        viewer: AccountId,
        after: Option<AccountId>,
        limit: u32,
    ) -> Result<Vec<AccountId>, CallError> {
        Ok(self.follows.followed_by(viewer, after, limit.into()).await?)
    }

    async fn followed_by_each(
        &self,
        viewers: Vec<AccountId>,
        limit: u32,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>, CallError> {
        Ok(self.follows.followed_by_each(&viewers, limit.into()).await?)
    }
}
