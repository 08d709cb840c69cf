//! What the owners of other tables ask about articles.

use conduit_domain::{ArticleId, Error, Result};

use super::ArticleStore;

/// A deleted article, and its place in the order of deletions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeletionRecord {
    /// The deleting transaction (PostgreSQL's 64-bit `xid8`).
    pub transaction: u64,
    /// The article; its id is never used again.
    pub article: ArticleId,
}

impl ArticleStore {
    /// The articles at these addresses, each once, in no order. One address alone takes the plain statement, which is cheaper
    /// (performance page, rule 6).
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn ids_by_slugs(&self, slugs: &[String]) -> Result<Vec<(String, ArticleId)>> {
        match slugs {
            [] => Ok(Vec::new()),
            [slug] => self.id_by_slug(slug).await,
            slugs => self.ids_by_many_slugs(slugs).await,
        }
    }

    async fn id_by_slug(&self, slug: &str) -> Result<Vec<(String, ArticleId)>> {
        self.db
            .all(|| {
                sqlx::query!(
                    "select slug, id
                    from articles.articles
                    where slug = $1",
                    slug
                )
                .map(|row| (row.slug, ArticleId(row.id)))
            })
            .await
    }

    async fn ids_by_many_slugs(&self, slugs: &[String]) -> Result<Vec<(String, ArticleId)>> {
        self.db
            .all(|| {
                sqlx::query!(
                    "select slug, id
                    from articles.articles
                    where slug = any ($1)",
                    slugs
                )
                .map(|row| (row.slug, ArticleId(row.id)))
            })
            .await
    }

    /// Deletions after a place in their order (transaction, then article), at most `limit` of them.
    ///
    /// Transactions commit out of order. So none is told of that is not older than every transaction still running: whatever
    /// commits later comes later in the order, and a reader who goes on from the last answer misses nothing.
    ///
    /// # Errors
    /// Only those of the [`Db`](crate::db::Db).
    pub async fn deleted_since(
        &self,
        transaction: u64,
        article: ArticleId,
        limit: i64,
    ) -> Result<Vec<DeletionRecord>> {
        let rows = self
            .db
            .all(|| {
                sqlx::query!(
                    r#"select d.transaction_id::text as "transaction_id!", d.article_id
                    from articles.deletions d
                    where (d.transaction_id, d.article_id) > ($1::text::xid8, $2)
                      and d.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
                    order by d.transaction_id, d.article_id
                    limit $3"#,
                    transaction.to_string(),
                    article.0,
                    limit,
                )
                .map(|row| (row.transaction_id, ArticleId(row.article_id)))
            })
            .await?;
        rows.into_iter().map(deletion).collect()
    }
}

fn deletion((transaction, article): (String, ArticleId)) -> Result<DeletionRecord> {
    let transaction = transaction
        .parse()
        .map_err(|error| Error::Internal(Box::new(error)))?;
    Ok(DeletionRecord { transaction, article })
}
