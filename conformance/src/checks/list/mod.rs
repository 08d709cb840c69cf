//! Lists, filters, paging (contract 5.6).

mod everything;
mod filters;
mod pages;

use super::{Account, Check, Ctx, Failure, Outcome};
use crate::answer::Answer;
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    let mut checks = [everything::checks(), pages::checks(), filters::checks()].concat();
    checks.sort_by_key(|check| check.id);
    checks
}

/// An answer without any articles, byte for byte.
pub(super) const NO_ARTICLES: &str = r#"{"articles":[],"articlesCount":0}"#;

/// The article as an element of a list.
pub(super) fn entry(article: &Article) -> Article {
    Article {
        body: None,
        ..article.clone()
    }
}

/// Articles as elements of a list, the last created first.
pub(super) fn newest_first<'a>(created: impl DoubleEndedIterator<Item = &'a Article>) -> Vec<Article> {
    created.rev().map(entry).collect()
}

/// Creates so many articles, one after the other, and returns them in that order.
async fn publish_many(ctx: &Ctx, author: &Account, count: usize) -> Result<Vec<Article>, Failure> {
    let mut created = Vec::with_capacity(count);
    for _ in 0..count {
        created.push(ctx.publish(author, &[]).await?);
    }
    Ok(created)
}

/// The answer to a list with this query, which is the caller's or, without a token, anybody's.
pub(super) async fn asked(ctx: &Ctx, query: &str, token: Option<&str>) -> Result<Answer, Failure> {
    let call = ctx.get(&format!("/api/articles?{query}"));
    match token {
        Some(token) => call.token(token).expect(200).await,
        None => call.expect(200).await,
    }
}

/// The query finds exactly these articles, in this order, and counts so many.
pub(super) async fn finds(ctx: &Ctx, query: &str, expected: &[Article], count: usize) -> Outcome {
    let answer = asked(ctx, query, None).await?;
    let list = answer.articles()?;
    answer
        .same("the articles", list.articles.as_slice(), expected)?
        .same("articlesCount", usize::try_from(list.count).ok(), Some(count))?;
    Ok(())
}

/// The query finds nothing.
pub(super) async fn finds_nothing(ctx: &Ctx, query: &str) -> Outcome {
    asked(ctx, query, None).await?.exact(NO_ARTICLES)?;
    Ok(())
}
