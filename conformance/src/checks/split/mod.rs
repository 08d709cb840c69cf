//! Across the areas of the API: what must hold without delay, however many processes serve it (contract 5.11).

mod articles;
mod names;
mod people;
mod whole;

use super::{Account, Check, Ctx, Failure, Outcome, same};
use crate::shape::Profile;

pub(super) fn checks() -> Vec<Check> {
    let mut checks = [
        names::checks(),
        people::checks(),
        articles::checks(),
        whole::checks(),
    ]
    .concat();
    checks.sort_by_key(|check| check.id);
    checks
}

/// How a viewer sees an account, wherever it is shown: on its article, in the list of its articles, beside its comment
/// on that article, as a profile, and, if the viewer follows it, in the feed.
async fn appears(
    ctx: &Ctx,
    author: &Account,
    slug: &str,
    viewer: Option<&Account>,
    expected: &Profile,
) -> Outcome {
    let token = viewer.map(|account| account.token.as_str());
    let article = ctx.article(slug, token).await?;
    same("the author of the article", &article.author, expected)?;
    let query = format!("author={}", super::enc(&author.username));
    let list = ctx.list(&query, token).await?;
    same(
        "the author in the list",
        list.find(slug).map(|entry| &entry.author),
        Some(expected),
    )?;
    let comments = ctx.comments(slug, token).await?;
    let own: Vec<&Profile> = comments.iter().map(|comment| &comment.author).collect();
    same("the authors of the comments", own, vec![expected])?;
    let profile = ctx.profile(&author.username, token).await?;
    same("the profile", &profile, expected)?;
    let Some(token) = token.filter(|_| expected.following) else {
        return Ok(());
    };
    let feed = ctx.feed(token, "").await?;
    same(
        "the author in the feed",
        feed.find(slug).map(|entry| &entry.author),
        Some(expected),
    )
}

/// An account with one article that carries a comment of its own; the article's slug.
async fn writer(ctx: &Ctx) -> Result<(Account, String), Failure> {
    let account = ctx.register().await?;
    let slug = ctx.publish(&account, &[]).await?.slug;
    ctx.comment(&account.token, &slug, &ctx.x()).await?;
    Ok((account, slug))
}

/// The same account in the eyes of a follower.
fn followed(profile: Profile) -> Profile {
    Profile {
        following: true,
        ..profile
    }
}
