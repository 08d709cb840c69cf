//! Deleting.

use conduit_domain::{AccountId, ArticleId, Result, Timestamp};

use super::{ArticleStore, totals};
use crate::db::Transaction;
use crate::time::to_column;

/// How long it is remembered that an article was deleted, in milliseconds: far longer than a reader of the record may be away.
const REMEMBERED: i64 = 30 * 24 * 60 * 60 * 1000;

struct Deleted {
    author: AccountId,
    tag_list: Vec<String>,
}

impl ArticleStore {
    /// Deletes an article with its tags and favorites, and leaves word of it for those who keep something about articles
    /// elsewhere. False if there is none.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn delete(&self, article: ArticleId, now: Timestamp) -> Result<bool> {
        let mut transaction = self.db.begin().await?;
        let Some(deleted) = delete_article(&mut transaction, article, now).await? else {
            transaction.roll_back().await?;
            return Ok(false);
        };
        forget_old_deletions(&mut transaction, now).await?;
        totals::count_deleted(&mut transaction, deleted.author, &deleted.tag_list).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// Tags and favorites go by the cascade of their keys.
async fn delete_article(
    transaction: &mut Transaction,
    article: ArticleId,
    now: Timestamp,
) -> Result<Option<Deleted>> {
    let delete = sqlx::query!(
        "with article as (
          delete from articles.articles
          where id = $1
          returning id, author_id, tag_list
        ), record as (
          insert into articles.deletions (article_id, deleted_at)
          select article.id, $2
          from article
        )
        select author_id, tag_list
        from article",
        article.0,
        to_column(now),
    )
    .map(|row| Deleted {
        author: AccountId(row.author_id),
        tag_list: row.tag_list,
    });
    transaction.optional(delete).await
}

/// A few with every deletion, so that the record does not grow for ever; what somebody else is about to forget is left alone.
async fn forget_old_deletions(transaction: &mut Transaction, now: Timestamp) -> Result<()> {
    let oldest_kept = Timestamp::from_millis(now.millis() - REMEMBERED);
    let forget = sqlx::query!(
        "delete from articles.deletions
        where article_id = any (array(
          select d.article_id
          from articles.deletions d
          where d.deleted_at < $1
          order by d.deleted_at
          limit 100
          for update skip locked
        ))",
        to_column(oldest_kept),
    );
    transaction.execute(forget).await.map(drop)
}
