//! What is counted: articles by tag, by author, and all. Always last in a transaction, in the order of this file.

use conduit_domain::{AccountId, Result};

use crate::db::Transaction;

/// Counts tags that articles have gained and lost; no tag is in both.
pub(super) async fn count_tags(
    transaction: &mut Transaction,
    gained: &[String],
    lost: &[String],
) -> Result<()> {
    if gained.is_empty() && lost.is_empty() {
        return Ok(());
    }
    let changes = sqlx::query!(
        r#"
        insert into articles.tag_totals (tag, articles)
        select change.tag, change.articles
        from (
          select gained.tag, 1 as articles
          from unnest($1::text[]) as gained (tag)
          union all
          select lost.tag, -1
          from unnest($2::text[]) as lost (tag)
        ) change
        order by change.tag collate "C"
        on conflict (tag) do update set articles = tag_totals.articles + excluded.articles
        "#,
        gained,
        lost,
    );
    transaction.execute(changes).await?;
    forget_unused_tags(transaction, lost).await
}

async fn forget_unused_tags(transaction: &mut Transaction, lost: &[String]) -> Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    let unused = sqlx::query!(
        "delete from articles.tag_totals
        where tag = any($1)
          and articles = 0",
        lost
    );
    transaction.execute(unused).await.map(drop)
}

/// Counts articles that an author has gained (or lost: below zero), and with them all articles.
pub(super) async fn count_articles(
    transaction: &mut Transaction,
    author: AccountId,
    gained: i64,
) -> Result<()> {
    let of_author = sqlx::query!(
        "insert into articles.author_totals (author_id, articles)
        values ($1, $2)
        on conflict (author_id) do update set articles = author_totals.articles + excluded.articles",
        author.0,
        gained,
    );
    transaction.execute(of_author).await?;
    let of_all = sqlx::query!(
        "update articles.article_total set articles = articles + $1",
        gained
    );
    transaction.execute(of_all).await.map(drop)
}
