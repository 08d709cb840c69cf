//! What is counted: articles by tag, by author, and all. Always last in a transaction, in the order of this file.
//!
//! These rows are the few that all authors share, and each of them is held until the transaction ends. So what publishing and
//! deleting count is one statement, the last one: nobody waits longer for a row than somebody else takes to commit. Its parts need
//! each other's rows, and so run in order; those that need nothing but the order ask how many rows there were.

use conduit_domain::{AccountId, Result};

use crate::db::Transaction;

/// Counts an article that an author has published.
pub(super) async fn count_published(
    transaction: &mut Transaction,
    author: AccountId,
    tag_list: &[String],
) -> Result<()> {
    let counts = sqlx::query!(
        r#"
        with of_tags as (
          insert into articles.tag_totals (tag, articles)
          select gained.tag, 1
          from unnest($2::text[]) as gained (tag)
          order by gained.tag collate "C"
          on conflict (tag) do update set articles = tag_totals.articles + 1
          returning tag
        ), of_author as (
          insert into articles.author_totals (author_id, articles)
          select $1, 1
          from (select count(*) from of_tags) counted
          on conflict (author_id) do update set articles = author_totals.articles + 1
          returning author_id
        )
        update articles.article_total
        set articles = articles + 1
        from (select count(*) from of_author) counted
        "#,
        author.0,
        tag_list,
    );
    transaction.execute(counts).await.map(drop)
}

/// Counts an article that an author has deleted. A tag that no other article carries is forgotten.
pub(super) async fn count_deleted(
    transaction: &mut Transaction,
    author: AccountId,
    tag_list: &[String],
) -> Result<()> {
    let counts = sqlx::query!(
        r#"
        with lost as (
          select t.tag, t.articles
          from articles.tag_totals t
          where t.tag = any($2)
          order by t.tag
          for update
        ), forgotten as (
          delete from articles.tag_totals t
          using lost
          where t.tag = lost.tag
            and lost.articles <= 1
          returning t.tag
        ), of_tags as (
          update articles.tag_totals t
          set articles = lost.articles - 1
          from lost
          where t.tag = lost.tag
            and lost.articles > 1
          returning t.tag
        ), of_author as (
          update articles.author_totals t
          set articles = t.articles - 1
          from
            (select count(*) from forgotten) forgotten,
            (select count(*) from of_tags) counted
          where t.author_id = $1
          returning t.author_id
        )
        update articles.article_total
        set articles = articles - 1
        from (select count(*) from of_author) counted
        "#,
        author.0,
        tag_list,
    );
    transaction.execute(counts).await.map(drop)
}

/// Counts tags that an article has gained and lost; no tag is in both. What is gained may have no row to lock yet, so the tags'
/// common order takes a statement that adds and subtracts, and forgetting another.
pub(super) async fn count_retagged(
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
