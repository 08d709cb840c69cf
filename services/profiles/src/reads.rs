//! Accounts as others see them, from two owners: users knows the account, this service who follows it.

use std::sync::Arc;

use async_trait::async_trait;
use conduit_app::reads::ProfileReads;
use conduit_domain::{AccountId, Error, NameKey, Profile, Result, Viewer};
use conduit_rpc::{FindUsers, UsersApi};
use conduit_service::profile;
use conduit_store::ProfileStore;

/// The read port over the users peer and the own follows.
#[derive(Clone)]
pub struct Composed {
    users: Arc<dyn UsersApi>,
    follows: ProfileStore,
}

impl Composed {
    /// Asks this peer, and reads these follows.
    pub fn new(users: Arc<dyn UsersApi>, follows: ProfileStore) -> Self {
        Self { users, follows }
    }

    /// Nobody follows oneself, and who is nobody follows nobody (contract 3.9): then nothing is asked.
    async fn follows(&self, viewer: Viewer, account: AccountId) -> Result<bool> {
        match viewer.id() {
            Some(viewer) if viewer != account => self.follows.following(viewer, account).await,
            _ => Ok(false),
        }
    }
}

#[async_trait]
impl ProfileReads for Composed {
    async fn by_username(&self, viewer: Viewer, name: &NameKey) -> Result<Option<Profile>> {
        let acting = match viewer {
            Viewer::Acting(caller) => Some(caller),
            Viewer::Anonymous | Viewer::SignedIn(_) => None,
        };
        let wanted = FindUsers {
            ids: acting.into_iter().collect(),
            names: vec![name.clone()],
        };
        let found = self.users.find(wanted).await?;
        let Some(user) = found
            .iter()
            .find(|user| NameKey::of_valid(&user.username) == *name)
            .cloned()
        else {
            return Ok(None);
        };
        if acting.is_some_and(|caller| found.iter().all(|user| user.id != caller)) {
            return Err(Error::CallerGone);
        }
        let following = self.follows(viewer, user.id).await?;
        Ok(Some(profile(user, following)))
    }
}
