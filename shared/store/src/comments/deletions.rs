//! What happens to the comments of deleted articles where no foreign key removes them (the split).
//!
//! The owner of the articles keeps a list of deletions, which is read from a cursor kept here. Every deletion is worked off twice,
//! the second time when no comment can be under way any more. All of it may be repeated, and several copies of a process may do
//! it at the same time.

use conduit_domain::{ArticleId, Error, Result, Timestamp};

use super::CommentStore;
use crate::time::to_column;

/// How far the list of deletions has been worked off. The default is the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeletionsRead {
    /// The deleting transaction (PostgreSQL's 64-bit `xid8`).
    pub transaction: u64,
    /// The article, to order the deletions of one transaction.
    pub article: ArticleId,
}

impl Default for DeletionsRead {
    fn default() -> Self {
        Self {
            transaction: 0,
            article: ArticleId(0),
        }
    }
}

impl CommentStore {
    /// How far the deletions have been worked off.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`].
    pub async fn deletions_read(&self) -> Result<DeletionsRead> {
        let query = || {
            sqlx::query!(
                r#"select
                     transaction_id::text as "transaction_id!",
                     article_id
                   from comments.deletions_cursor"#
            )
        };
        let row = self.db.one(query).await?;
        Ok(DeletionsRead {
            transaction: row
                .transaction_id
                .parse()
                .map_err(|error| Error::Internal(Box::new(error)))?,
            article: ArticleId(row.article_id),
        })
    }

    /// Works off the deletions between two places of the list, in one transaction: removes the comments of those articles,
    /// remembers to do so again at `due_at`, and moves the cursor. `false`, and nothing is done, if the cursor is not at `from`
    /// any more: another copy has done it.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`]; then it has happened whole or not at all.
    pub async fn work_off_deletions(
        &self,
        from: DeletionsRead,
        to: DeletionsRead,
        articles: &[ArticleId],
        due_at: Timestamp,
    ) -> Result<bool> {
        let articles: Vec<i64> = articles.iter().map(|article| article.0).collect();
        let mut transaction = self.db.begin().await?;
        // First of all, so that copies queue here and only one goes on.
        let lock = sqlx::query!(
            "select article_id
             from comments.deletions_cursor
             where transaction_id = $1::text::xid8
               and article_id = $2
             for update",
            from.transaction.to_string(),
            from.article.0
        );
        if transaction
            .optional(lock.map(|row| row.article_id))
            .await?
            .is_none()
        {
            transaction.roll_back().await?;
            return Ok(false);
        }
        // Before the comments, as in `purge_due`.
        let remember = sqlx::query!(
            "insert into comments.purges (article_id, due_at)
             select
               article_id,
               $2
             from unnest($1::bigint[]) deleted (article_id)
             order by article_id
             on conflict (article_id) do update
             set due_at = excluded.due_at",
            &articles,
            to_column(due_at)
        );
        transaction.execute(remember).await?;
        let remove = sqlx::query!(
            "delete from comments.comments
             where article_id = any ($1)",
            &articles
        );
        transaction.execute(remove).await?;
        let go_on = sqlx::query!(
            "update comments.deletions_cursor
             set
               transaction_id = $1::text::xid8,
               article_id = $2",
            to.transaction.to_string(),
            to.article.0
        );
        transaction.execute(go_on).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Removes the comments of at most `limit` articles whose second time has come, and forgets those articles. Returns how many
    /// articles; what another copy is working on is left to it.
    ///
    /// # Errors
    /// [`Error::Unavailable`], [`Error::Internal`]; then it has happened whole or not at all.
    pub async fn purge_due(&self, now: Timestamp, limit: i64) -> Result<u64> {
        if !self.any_due(now).await? {
            return Ok(0);
        }
        let mut transaction = self.db.begin().await?;
        let forget = sqlx::query!(
            "delete from comments.purges
             where article_id = any (array(
               select article_id
               from comments.purges
               where due_at <= $1
               order by due_at
               limit $2
               for update skip locked
             ))
             returning article_id",
            to_column(now),
            limit
        );
        let articles = transaction.all(forget.map(|row| row.article_id)).await?;
        if articles.is_empty() {
            transaction.roll_back().await?;
            return Ok(0);
        }
        let remove = sqlx::query!(
            "delete from comments.comments
             where article_id = any ($1)",
            &articles
        );
        transaction.execute(remove).await?;
        transaction.commit().await?;
        Ok(articles.len() as u64)
    }

    /// Nearly always none is, and a transaction for nothing would cost three round trips a second.
    async fn any_due(&self, now: Timestamp) -> Result<bool> {
        let query = || {
            sqlx::query!(
                "select article_id
                 from comments.purges
                 where due_at <= $1
                 order by due_at
                 limit 1",
                to_column(now)
            )
            .map(|row| row.article_id)
        };
        Ok(self.db.optional(query).await?.is_some())
    }
}
