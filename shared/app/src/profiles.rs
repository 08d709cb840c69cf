//! Accounts as others see them, and who follows whom (contract 2.5 to 2.7).

use std::sync::Arc;

use conduit_domain::error::{Field, Resource, Rule};
use conduit_domain::{AccountId, Error, NameKey, Profile, Result, Viewer};
use conduit_store::ProfileStore;

use crate::reads::ProfileReads;

/// The use cases.
#[derive(Clone)]
pub struct Profiles {
    reads: Arc<dyn ProfileReads>,
    store: ProfileStore,
}

impl Profiles {
    /// Puts the parts together.
    pub fn new(reads: Arc<dyn ProfileReads>, store: ProfileStore) -> Self {
        Self { reads, store }
    }

    /// One profile.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn show(&self, viewer: Viewer, name: &str) -> Result<Profile> {
        let not_found = Error::NotFound(Resource::Profile);
        let Some(name) = NameKey::of(name) else {
            return Err(not_found);
        };
        self.reads.by_username(viewer, &name).await?.ok_or(not_found)
    }

    /// Follows an account; repeatable.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Invalid`] for oneself, [`Error::CallerGone`], in that order.
    pub async fn follow(&self, caller: AccountId, name: &str) -> Result<Profile> {
        let profile = self.show(Viewer::Acting(caller), name).await?;
        if profile.id == caller {
            return Err(Error::invalid(Field::Profile, Rule::OwnProfile));
        }
        self.store.follow(caller, profile.id).await?;
        Ok(Profile {
            following: true,
            ..profile
        })
    }

    /// Stops following an account; repeatable, and harmless on oneself.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::CallerGone`], in that order.
    pub async fn unfollow(&self, caller: AccountId, name: &str) -> Result<Profile> {
        let profile = self.show(Viewer::Acting(caller), name).await?;
        self.store.unfollow(caller, profile.id).await?;
        Ok(Profile {
            following: false,
            ..profile
        })
    }
}
