//! What the other services ask of this one.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_rpc::{BatchedUsers, CallError, CallSettings, FindUsers, User, UsersApi};
use conduit_store::{UserRecord, UserStore};

/// The accounts of this process's own store.
#[derive(Clone)]
pub struct Local {
    accounts: UserStore,
}

impl Local {
    /// Answers from these accounts.
    pub fn new(accounts: UserStore) -> Self {
        Self { accounts }
    }
}

/// What a worker offers to its peers: [`Local`], whose look-ups leave together if the settings say so (performance page, rule 6).
pub fn api(accounts: UserStore, calls: &CallSettings) -> Arc<dyn UsersApi> {
    let local = Arc::new(Local::new(accounts));
    if calls.batching {
        Arc::new(BatchedUsers::new(local, Arc::clone(&calls.counts)))
    } else {
        local
    }
}

#[async_trait]
impl UsersApi for Local {
    async fn find(&self, wanted: FindUsers) -> Result<Vec<User>, CallError> {
        let found = self.accounts.find(&wanted.ids, &wanted.names).await?;
        Ok(found.into_iter().map(user).collect())
    }
}

fn user(record: UserRecord) -> User {
    User {
        id: record.id,
        username: record.username,
        bio: record.bio,
        image: record.image,
    }
}
