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

    /// Whether the one follows the other.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn following(&self, follower: AccountId, followee: AccountId) -> Result<bool> {
        let query = || {
            sqlx::query!(
                "select follower_id
                 from profiles.follows
                 where follower_id = $1
                   and followee_id = $2",
                follower.0,
                followee.0
            )
            .map(|row| row.follower_id)
        };
        Ok(self.db.optional(query).await?.is_some())
    }

    /// Those of the pairs (who follows, whom) that hold, in no order. One pair alone takes the plain statement (performance page,
    /// rule 6).
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn follows(&self, pairs: &[(AccountId, AccountId)]) -> Result<Vec<(AccountId, AccountId)>> {
        match pairs {
            [] => Ok(Vec::new()),
            [pair] => {
                let holds = self.following(pair.0, pair.1).await?;
                Ok(holds.then_some(*pair).into_iter().collect())
            }
            pairs => self.follows_of_many(pairs).await,
        }
    }

    /// The limit keeps the look-up of each pair what it is: a plan made without knowing the pairs could read the whole table.
    async fn follows_of_many(&self, pairs: &[(AccountId, AccountId)]) -> Result<Vec<(AccountId, AccountId)>> {
        let (followers, followees): (Vec<i64>, Vec<i64>) = pairs
            .iter()
            .map(|(follower, followee)| (follower.0, followee.0))
            .unzip();
        let query = || {
            sqlx::query!(
                r#"select
                     held.follower_id as "follower_id!",
                     held.followee_id as "followee_id!"
                   from unnest($1::bigint[], $2::bigint[]) asked (follower_id, followee_id)
                   cross join lateral (
                     select
                       follower_id,
                       followee_id
                     from profiles.follows
                     where follower_id = asked.follower_id
                       and followee_id = asked.followee_id
                     limit 1
                   ) held"#,
                &followers,
                &followees
            )
            .map(|row| (AccountId(row.follower_id), AccountId(row.followee_id)))
        };
        self.db.all(query).await
    }

    /// Whom an account follows, ascending by id: those above `after`, at most `limit`.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn followed_by(
        &self,
        follower: AccountId,
        after: Option<AccountId>,
        limit: i64,
    ) -> Result<Vec<AccountId>> {
        let query = || {
            sqlx::query!(
                "select followee_id
                 from profiles.follows
                 where follower_id = $1
                   and followee_id > $2
                 order by followee_id
                 limit $3",
                follower.0,
                after.map_or(i64::MIN, |id| id.0),
                limit
            )
            .map(|row| AccountId(row.followee_id))
        };
        self.db.all(query).await
    }

    /// Whom each of these accounts follows, ascending by id, at most `limit` each; who follows nobody is absent.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn followed_by_each(
        &self,
        followers: &[AccountId],
        limit: i64,
    ) -> Result<Vec<(AccountId, Vec<AccountId>)>> {
        let followers: Vec<i64> = followers.iter().map(|id| id.0).collect();
        let query = || {
            sqlx::query!(
                r#"select
                     asked.follower_id as "follower_id!",
                     held.followee_id as "followee_id!"
                   from (select distinct unnest($1::bigint[])) asked (follower_id)
                   cross join lateral (
                     select followee_id
                     from profiles.follows
                     where follower_id = asked.follower_id
                     order by followee_id
                     limit $2
                   ) held
                   order by 1, 2"#,
                &followers,
                limit
            )
            .map(|row| (AccountId(row.follower_id), AccountId(row.followee_id)))
        };
        let rows = self.db.all(query).await?;
        Ok(rows
            .chunk_by(|(one, _), (next, _)| one == next)
            .filter_map(|rows| {
                let (follower, _) = rows.first()?;
                Some((*follower, rows.iter().map(|(_, followee)| *followee).collect()))
            })
            .collect())
    }
}
