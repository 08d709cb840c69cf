//! Favorites. The count on the article moves with the rows that were really added or removed (contract 3.5).
//!
//! Both are one statement whose parts need each other's rows, and so run in order: the article's row is locked first, and
//! everybody else's favorites of it wait there. The last part sees the count as the lock found it, not as it was when the
//! statement began.
//!
//! The lock is the strongest one, although no key changes: where comments refer to articles (the keys of one database), writing
//! one shares a lock on the article's key. PostgreSQL then notes several owners of the weaker lock, and the last part, which comes
//! to the row once more, queues behind who waits for the first: a deadlock.

use conduit_domain::{AccountId, ArticleId, Result};

use super::ArticleStore;

impl ArticleStore {
    /// Makes an article a favorite; repeatable. The number of its favorites afterwards, `None` if there is no such article.
    ///
    /// # Errors
    /// [`Error::CallerGone`](conduit_domain::Error::CallerGone) where the database knows the accounts and this is none.
    pub async fn favorite(&self, article: ArticleId, account: AccountId) -> Result<Option<i64>> {
        let add = sqlx::query!(
            r#"
            with article as (
              select a.id, a.author_id, a.created_at, a.favorites_count
              from articles.articles a
              where a.id = $1
              for update
            ), added as (
              insert into articles.favorites (account_id, article_id, author_id, created_at)
              select $2, article.id, article.author_id, article.created_at
              from article
              on conflict (account_id, article_id) do nothing
              returning article_id
            ), counted as (
              update articles.articles a
              set favorites_count = a.favorites_count + 1
              from added
              where a.id = added.article_id
              returning a.favorites_count
            )
            select coalesce(counted.favorites_count, article.favorites_count) as "favorites_count!"
            from article
            left join counted on true
            "#,
            article.0,
            account.0,
        );
        self.db.write_optional(add.map(|row| row.favorites_count)).await
    }

    /// Makes an article no favorite; repeatable. The number of its favorites afterwards, `None` if there is no such article.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn unfavorite(&self, article: ArticleId, account: AccountId) -> Result<Option<i64>> {
        let remove = sqlx::query!(
            r#"
            with article as (
              select a.id, a.favorites_count
              from articles.articles a
              where a.id = $1
              for update
            ), removed as (
              delete from articles.favorites f
              using article
              where f.account_id = $2
                and f.article_id = article.id
              returning f.article_id
            ), counted as (
              update articles.articles a
              set favorites_count = a.favorites_count - 1
              from removed
              where a.id = removed.article_id
              returning a.favorites_count
            )
            select coalesce(counted.favorites_count, article.favorites_count) as "favorites_count!"
            from article
            left join counted on true
            "#,
            article.0,
            account.0,
        );
        self.db
            .write_optional(remove.map(|row| row.favorites_count))
            .await
    }
}
