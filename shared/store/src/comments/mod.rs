//! Comments, in the schema `comments`.

mod deletions;

use conduit_domain::ids::{AccountId, ArticleId, CommentId};
use conduit_domain::{NewComment, Page, Result, Timestamp};

pub use self::deletions::DeletionsRead;
use crate::db::Db;
use crate::time::{from_column, to_column};

/// The comments.
#[derive(Clone)]
pub struct CommentStore {
    db: Db,
}

/// What decides who may delete a comment, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommentRecord {
    /// Shown.
    pub id: CommentId,
    /// The article that it hangs on.
    pub article: ArticleId,
    /// Who wrote it.
    pub author: AccountId,
}

/// A comment as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentRow {
    /// Shown.
    pub id: CommentId,
    /// Who wrote it.
    pub author: AccountId,
    /// When it was made.
    pub created_at: Timestamp,
    /// As typed.
    pub body: String,
}

impl CommentStore {
    /// The comments of this database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Stores a new comment and returns its identifier, which is greater than every one before (contract 3.10).
    ///
    /// # Errors
    /// Where one database holds everything: [`NotFound`](conduit_domain::Error::NotFound) when the article does not exist any
    /// more, [`CallerGone`](conduit_domain::Error::CallerGone) when the account does not. Otherwise
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn insert(
        &self,
        article: ArticleId,
        author: AccountId,
        comment: &NewComment,
        now: Timestamp,
    ) -> Result<CommentId> {
        let query = sqlx::query!(
            "insert into comments.comments (article_id, author_id, body, created_at)
             values ($1, $2, $3, $4)
             returning id",
            article.0,
            author.0,
            comment.body,
            to_column(now)
        )
        .map(|row| CommentId(row.id));
        crate::error::row(self.db.write_optional(query).await?)
    }

    /// The comment with this identifier.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn by_id(&self, id: CommentId) -> Result<Option<CommentRecord>> {
        let query = || {
            sqlx::query!(
                "select
                   id,
                   article_id,
                   author_id
                 from comments.comments
                 where id = $1",
                id.0
            )
            .map(|row| CommentRecord {
                id: CommentId(row.id),
                article: ArticleId(row.article_id),
                author: AccountId(row.author_id),
            })
        };
        self.db.optional(query).await
    }

    /// One page of an article's comments, newest first (contract 3.10). Ids come from the index alone, so what a page leaves out
    /// costs index entries and no rows.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn list(&self, article: ArticleId, page: Page) -> Result<Vec<CommentRow>> {
        let query = || {
            sqlx::query!(
                "select
                   page.id,
                   page.created_at,
                   written.author_id,
                   written.body
                 from (
                   select
                     id,
                     created_at
                   from comments.comments
                   where article_id = $1
                   order by created_at desc, id desc
                   limit $2
                   offset $3
                 ) page
                 cross join lateral (
                   select
                     author_id,
                     body
                   from comments.comments
                   where id = page.id
                   limit 1
                 ) written
                 order by page.created_at desc, page.id desc",
                article.0,
                page.limit,
                page.offset
            )
            .map(|row| CommentRow {
                id: CommentId(row.id),
                author: AccountId(row.author_id),
                created_at: from_column(row.created_at),
                body: row.body,
            })
        };
        self.db.all(query).await
    }

    /// Deletes a comment; `false` if there was none.
    ///
    /// # Errors
    /// [`Unavailable`](conduit_domain::Error::Unavailable), [`Internal`](conduit_domain::Error::Internal).
    pub async fn delete(&self, id: CommentId) -> Result<bool> {
        let query = sqlx::query!(
            "delete from comments.comments
             where id = $1",
            id.0
        );
        Ok(self.db.execute(query).await? > 0)
    }
}
