//! Who follows whom, in the schema `profiles`.

use conduit_domain::Result;
use conduit_domain::ids::AccountId;

use crate::db::Db;

/// The follows.
#[derive(Clone)]
pub struct ProfileStore {
    db: Db,
}

impl ProfileStore {
    /// The follows of this database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Follows; a second time changes nothing (contract 3.9). The two must differ.
    ///
    /// # Errors
    /// Where one database holds everything: [`CallerGone`](conduit_domain::Error::CallerGone) and
    /// [`NotFound`](conduit_domain::Error::NotFound) when the one or the other account does not exist. Otherwise
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn follow(&self, follower: AccountId, followee: AccountId) -> Result<()> {
        let query = sqlx::query!(
            "insert into profiles.follows (follower_id, followee_id)
             values ($1, $2)
             on conflict do nothing",
            follower.0,
            followee.0
        );
        self.db.execute(query).await.map(drop)
    }

    /// Stops following; where nobody followed, nothing changes (contract 3.9).
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn unfollow(&self, follower: AccountId, followee: AccountId) -> Result<()> {
        let query = sqlx::query!(
            "delete from profiles.follows
             where follower_id = $1
               and followee_id = $2",
            follower.0,
            followee.0
        );
        self.db.execute(query).await.map(drop)
    }
}
