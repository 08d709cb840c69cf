//! Which slug a title gets (contract 3.1).

use conduit_domain::{ArticleId, Error, Result, SlugBase};

use crate::db::Transaction;
use crate::error::slug_taken;

/// Only two bases that give one text ("Bread" a second time, "Bread 2" the first time) at one moment cost an attempt, and each
/// costs one of them at most one.
const ATTEMPTS: usize = 32;

/// A slug that no other article has.
pub(super) struct Slug {
    pub(super) text: String,
    pub(super) base: String,
    pub(super) number: i64,
}

/// Repeats what another base's article has foiled by taking the slug in the same moment.
pub(super) async fn attempt<T, F: Future<Output = Result<T>>>(write: impl Fn() -> F) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match write().await {
            Err(error) if slug_taken(&error) => {}
            outcome => return outcome,
        }
    }
    write().await.map_err(|error| {
        if slug_taken(&error) {
            Error::Unavailable(Box::new(error))
        } else {
            error
        }
    })
}

/// Finds the slug for a base; `article` is the one that will carry it, if it exists already. Articles of one base queue up
/// here until the transaction ends.
pub(super) async fn free(
    transaction: &mut Transaction,
    base: &SlugBase,
    article: Option<ArticleId>,
) -> Result<Slug> {
    lock(transaction, base).await?;
    let number = free_number(transaction, base, article).await?;
    Ok(Slug {
        text: base.numbered(number),
        base: base.as_str().to_owned(),
        number,
    })
}

/// A statement of its own: what follows must see what was written while this waited.
async fn lock(transaction: &mut Transaction, base: &SlugBase) -> Result<()> {
    // The second argument keeps our locks apart from others in the database.
    let lock = sqlx::query!(
        "select pg_advisory_xact_lock(hashtextextended($1, 7102394816520))",
        base.as_str()
    );
    transaction.execute(lock).await.map(drop)
}

async fn free_number(
    transaction: &mut Transaction,
    base: &SlugBase,
    article: Option<ArticleId>,
) -> Result<i64> {
    // In the select list generate_series counts only as far as the limit asks, in the from clause it would count to the end.
    // Sub-selects with a limit cannot become joins that read every article, and "the highest" as max() reads every number of
    // the base where the planner takes them to be few.
    let number = sqlx::query!(
        r#"
        select case
          when $2 and (
            select true
            from articles.articles a
            where a.slug = $1
              and a.id is distinct from $3
            limit 1
          ) is null then 1
          else (
            select candidate.number
            from (
              select generate_series(
                1 + coalesce(
                  (
                    select a.slug_number
                    from articles.articles a
                    where a.slug_base = $1
                    order by a.slug_number desc
                    limit 1
                  ),
                  1
                ),
                9223372036854775807
              ) as number
            ) candidate
            where (
              select true
              from articles.articles a
              where a.slug = $1 || '-' || candidate.number
                and a.id is distinct from $3
              limit 1
            ) is null
            limit 1
          )
        end as "number!"
        "#,
        base.as_str(),
        base.stands_alone(),
        article.map(|article| article.0),
    );
    transaction.one(number.map(|row| row.number)).await
}
