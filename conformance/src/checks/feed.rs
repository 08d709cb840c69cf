//! The feed (contract 5.7).

use super::art::stranger;
use super::list::{NO_ARTICLES, entry, newest_first};
use super::{Account, Check, Ctx, Failure, Outcome, same};
use crate::answer::Answer;
use crate::shape::{Article, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "feed-001",
            "feed of a new account",
            a_new_account_has_an_empty_feed,
        ),
        Check::new(
            "feed-002",
            "follow celeb, who writes two; feed",
            followed_articles_are_in_the_feed,
        ),
        Check::new("feed-003", "feed limit=1", the_first_page_holds_the_newer),
        Check::new(
            "feed-004",
            "feed limit=1&offset=1; offset=5",
            later_pages_hold_the_rest,
        ),
        Check::new(
            "feed-005",
            "caller, stranger and two followed authors write",
            only_followed_authors_are_in_the_feed,
        ),
        Check::new(
            "feed-006",
            "celeb deletes one; caller unfollows",
            what_goes_leaves_the_feed,
        ),
        Check::new(
            "feed-007",
            "feed with tag, author, favorited; limit=0",
            filters_do_not_touch_the_feed,
        ),
    ]
}

async fn asked(ctx: &Ctx, caller: &Account, query: &str) -> Result<Answer, Failure> {
    ctx.get(&format!("/api/articles/feed{query}"))
        .token(&caller.token)
        .expect(200)
        .await
}

/// The feed is exactly these articles, and counts so many.
async fn feeds(ctx: &Ctx, caller: &Account, query: &str, expected: &[Article], count: u64) -> Outcome {
    let answer = asked(ctx, caller, query).await?;
    let list = answer.articles()?;
    answer
        .same("the articles", list.articles.as_slice(), expected)?
        .same("articlesCount", list.count, count)?;
    Ok(())
}

/// As a list shows it to a follower of the author.
fn followed(article: &Article) -> Article {
    Article {
        author: Profile {
            following: true,
            ..article.author.clone()
        },
        ..entry(article)
    }
}

/// A caller, a celeb whom the caller follows, and the celeb's two articles, newest first, as the feed shows them.
async fn fame(ctx: &Ctx) -> Result<(Account, Account, [Article; 2]), Failure> {
    let (caller, celeb) = (ctx.register().await?, ctx.register().await?);
    ctx.follow(&caller.token, &celeb.username).await?;
    let older = ctx.publish(&celeb, &[]).await?;
    let newer = ctx.publish(&celeb, &[]).await?;
    Ok((caller, celeb, [followed(&newer), followed(&older)]))
}

async fn a_new_account_has_an_empty_feed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    asked(&ctx, &ann, "").await?.exact(NO_ARTICLES)?;
    Ok(())
}

async fn followed_articles_are_in_the_feed(ctx: Ctx) -> Outcome {
    let (caller, celeb, both) = fame(&ctx).await?;
    let expected = Profile {
        following: true,
        ..stranger(&celeb)
    };
    for article in &both {
        same("the author", &article.author, &expected)?;
    }
    feeds(&ctx, &caller, "", &both, 2).await
}

async fn the_first_page_holds_the_newer(ctx: Ctx) -> Outcome {
    let (caller, _, [newer, _]) = fame(&ctx).await?;
    feeds(&ctx, &caller, "?limit=1", &[newer], 2).await
}

async fn later_pages_hold_the_rest(ctx: Ctx) -> Outcome {
    let (caller, _, [_, older]) = fame(&ctx).await?;
    feeds(&ctx, &caller, "?limit=1&offset=1", &[older], 2).await?;
    feeds(&ctx, &caller, "?offset=5", &[], 2).await
}

async fn only_followed_authors_are_in_the_feed(ctx: Ctx) -> Outcome {
    let (caller, other) = (ctx.register().await?, ctx.register().await?);
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    for author in [&ann, &ben] {
        ctx.follow(&caller.token, &author.username).await?;
    }
    // Following is one-way: the caller's followers are of no account.
    ctx.follow(&other.token, &caller.username).await?;
    let mut written = Vec::new();
    for author in [&ann, &caller, &ben, &other, &ben, &ann, &other, &caller, &ben] {
        let article = ctx.publish(author, &[]).await?;
        if author == &ann || author == &ben {
            written.push(followed(&article));
        }
    }
    feeds(&ctx, &caller, "", &newest_first(written.iter()), 5).await
}

async fn what_goes_leaves_the_feed(ctx: Ctx) -> Outcome {
    let (caller, celeb, [newer, older]) = fame(&ctx).await?;
    ctx.remove(&celeb.token, &newer.slug).await?;
    feeds(&ctx, &caller, "", &[older], 1).await?;
    let profile = ctx.unfollow(&caller.token, &celeb.username).await?;
    same("the profile", profile, stranger(&celeb))?;
    asked(&ctx, &caller, "").await?.exact(NO_ARTICLES)?;
    Ok(())
}

async fn filters_do_not_touch_the_feed(ctx: Ctx) -> Outcome {
    let (caller, _, both) = fame(&ctx).await?;
    let name = &caller.username;
    let queries = [
        format!("?tag={}", ctx.x()),
        format!("?author={name}"),
        format!("?favorited={name}"),
        format!("?tag={}&author={name}&favorited={name}", ctx.x()),
    ];
    for query in queries {
        feeds(&ctx, &caller, &query, &both, 2).await?;
    }
    ctx.get("/api/articles/feed?limit=0")
        .token(&caller.token)
        .refused(422, "limit", "must be greater than or equal to 1")
        .await?;
    Ok(())
}
