//! Articles with their tags and favorites, and what is counted about them.
//!
//! Whoever locks more than one thing locks in this order, and so never waits in a circle: the article's row, the slug's base,
//! the totals of tags by code point, the author's total, the total of all. The last is one row that every writer needs, so
//! nothing comes between it and the end of the transaction.

mod answers;
mod delete;
mod favorites;
mod insert;
mod reads;
pub mod selection;
mod slugs;
mod totals;
mod update;

use conduit_domain::{AccountId, Article, ArticleId, ArticleSummary, Profile, Result, Timestamp};

pub use self::answers::DeletionRecord;
pub use self::reads::{ArticleRow, RecordPage};
use crate::db::Db;

/// The tables of the articles schema.
#[derive(Clone)]
pub struct ArticleStore {
    db: Db,
}

/// An article as stored, with the one flag that is about somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleRecord {
    /// Permanent.
    pub id: ArticleId,
    /// Never changes.
    pub author: AccountId,
    /// Changes with the title (contract 3.1).
    pub slug: String,
    /// As typed, trimmed.
    pub title: String,
    /// As typed, trimmed.
    pub description: String,
    /// As typed.
    pub body: String,
    /// In ascending order of code points.
    pub tag_list: Vec<String>,
    /// Never changes.
    pub created_at: Timestamp,
    /// Grows with every change (contract 3.2).
    pub updated_at: Timestamp,
    /// Whether the account that the record was asked for has it as a favorite.
    pub favorited: bool,
    /// How many accounts have.
    pub favorites_count: i64,
}

impl ArticleRecord {
    /// The article as it is shown, with its author as the viewer sees them.
    pub fn by(self, author: Profile) -> Article {
        let summary = ArticleSummary {
            id: self.id,
            slug: self.slug,
            title: self.title,
            description: self.description,
            tag_list: self.tag_list,
            created_at: self.created_at,
            updated_at: self.updated_at,
            favorited: self.favorited,
            favorites_count: self.favorites_count,
            author,
        };
        Article {
            summary,
            body: self.body,
        }
    }
}

impl ArticleStore {
    /// The tables behind a pool.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// The article at that address, and who wrote it.
    ///
    /// # Errors
    /// Only those of the [`Db`].
    pub async fn owner(&self, slug: &str) -> Result<Option<(ArticleId, AccountId)>> {
        self.db
            .optional(|| {
                sqlx::query!(
                    "select id, author_id
                    from articles.articles
                    where slug = $1",
                    slug
                )
                .map(|row| (ArticleId(row.id), AccountId(row.author_id)))
            })
            .await
    }

    /// Every tag that an article carries, most used first, ties by code point (contract 3.4).
    ///
    /// # Errors
    /// Only those of the [`Db`].
    pub async fn tags(&self) -> Result<Vec<String>> {
        self.db
            .all(|| {
                sqlx::query!(
                    "select tag
                    from articles.tag_totals
                    order by articles desc, tag"
                )
                .map(|row| row.tag)
            })
            .await
    }
}
