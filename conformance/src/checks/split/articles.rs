//! What hangs on an article when it goes or moves (split-013 to split-016).

use serde_json::json;

use crate::checks::list::{entry, finds, finds_nothing};
use crate::checks::{Account, Check, Ctx, Failure, Outcome, article_path, holds, same};
use crate::shape::{Article, Profile};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "split-013",
            "delete an article with comments, favourites, tag, follower",
            a_deleted_article_leaves_nothing,
        ),
        Check::new(
            "split-014",
            "delete an article; create the same title",
            a_slug_passes_on_nothing,
        ),
        Check::new(
            "split-015",
            "comment; change the title; comments at new and old slug",
            comments_follow_to_the_new_slug,
        ),
        Check::new(
            "split-016",
            "favourite; change the title; GET; ?favorited=; unfavourite",
            favourites_follow_to_the_new_slug,
        ),
    ]
}

fn comments_path(slug: &str) -> String {
    format!("{}/comments", article_path(slug))
}

/// Everybody's tags. Others create and delete articles meanwhile, so that the answer is not set by this check.
async fn tags(ctx: &Ctx) -> Result<Vec<String>, Failure> {
    ctx.get("/api/tags").raced().expect(200).await?.tags()
}

async fn a_deleted_article_leaves_nothing(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let tag = ctx.x();
    let kept = ctx.publish(&ann, &[]).await?;
    let gone = ctx.publish(&ann, &[&tag]).await?;
    ctx.follow(&fan.token, &ann.username).await?;
    for article in [&kept, &gone] {
        ctx.comment(&fan.token, &article.slug, &ctx.x()).await?;
        ctx.favorite(&fan.token, &article.slug).await?;
    }
    holds("the tag is listed", tags(&ctx).await?.contains(&tag))?;
    let [kept, gone] = [kept, gone].map(|article| Article {
        favorites_count: 1,
        ..entry(&article)
    });
    is_listed(&ctx, &ann, &fan, &[gone.clone(), kept.clone()]).await?;
    ctx.remove(&ann.token, &gone.slug).await?;

    ctx.get(&comments_path(&gone.slug))
        .refused(404, "article", "not found")
        .await?;
    finds_nothing(&ctx, &format!("tag={tag}")).await?;
    holds("the tag is gone", !tags(&ctx).await?.contains(&tag))?;
    is_listed(&ctx, &ann, &fan, &[kept]).await
}

/// These are the author's articles, the fan's favourites and the fan's feed, and they are so many.
async fn is_listed(ctx: &Ctx, author: &Account, fan: &Account, expected: &[Article]) -> Outcome {
    let (by, liked) = (
        format!("author={}", author.username),
        format!("favorited={}", fan.username),
    );
    finds(ctx, &by, expected, expected.len()).await?;
    finds(ctx, &liked, expected, expected.len()).await?;
    let feed = ctx.feed(&fan.token, "").await?;
    let as_fan = |article: &Article| Article {
        favorited: true,
        author: Profile {
            following: true,
            ..article.author.clone()
        },
        ..article.clone()
    };
    let fed: Vec<Article> = expected.iter().map(as_fan).collect();
    same("the feed", feed.articles, fed)?;
    same(
        "articlesCount of the feed",
        usize::try_from(feed.count).ok(),
        Some(expected.len()),
    )
}

async fn a_slug_passes_on_nothing(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let title = format!("Again {}", ctx.x());
    let first = ctx.publish_titled(&ann, &title, &[]).await?;
    ctx.comment(&fan.token, &first.slug, &ctx.x()).await?;
    ctx.favorite(&fan.token, &first.slug).await?;
    ctx.remove(&ann.token, &first.slug).await?;

    let second = ctx.publish_titled(&ann, &title, &[]).await?;
    same("the slug", &second.slug, &first.slug)?;
    let answer = ctx.get(&comments_path(&second.slug)).expect(200).await?;
    answer.exact(r#"{"comments":[]}"#)?;
    let read = ctx.article(&second.slug, Some(&fan.token)).await?;
    same("favoritesCount", read.favorites_count, 0)?;
    same("favorited", read.favorited, false)?;
    same("the article for the former fan", read, second)?;
    finds_nothing(&ctx, &format!("favorited={}", fan.username)).await
}

async fn retitled(ctx: &Ctx, author: &Account, slug: &str) -> Result<Article, Failure> {
    let title = format!("Moved {}", ctx.x());
    let members = json!({"title": title});
    let moved = ctx
        .edit(&author.token, slug, members)
        .expect(200)
        .await?
        .article()?;
    holds("the slug changed", moved.slug != slug)?;
    Ok(moved)
}

async fn comments_follow_to_the_new_slug(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let old = ctx.publish(&ann, &[]).await?.slug;
    let comment = ctx.comment(&ben.token, &old, &ctx.x()).await?;
    let new = retitled(&ctx, &ann, &old).await?.slug;

    same(
        "the comments at the new slug",
        ctx.comments(&new, None).await?,
        vec![comment.clone()],
    )?;
    ctx.get(&comments_path(&old))
        .refused(404, "article", "not found")
        .await?;
    let later = ctx.comment(&ben.token, &new, &ctx.x()).await?;
    ctx.commenting(&ben.token, &old, json!(ctx.x()))
        .refused(404, "article", "not found")
        .await?;
    ctx.delete(&format!("{}/{}", comments_path(&new), comment.id))
        .token(&ben.token)
        .expect(204)
        .await?;
    same("the comments left", ctx.comments(&new, None).await?, vec![later])
}

async fn favourites_follow_to_the_new_slug(ctx: Ctx) -> Outcome {
    let (ann, fan, other) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    let old = ctx.publish(&ann, &[]).await?.slug;
    ctx.favorite(&fan.token, &old).await?;
    let moved = retitled(&ctx, &ann, &old).await?;
    same("favoritesCount in the answer", moved.favorites_count, 1)?;

    let read = ctx.article(&moved.slug, Some(&fan.token)).await?;
    same("favorited", read.favorited, true)?;
    same("favoritesCount", read.favorites_count, 1)?;
    let query = format!("favorited={}", fan.username);
    finds(&ctx, &query, &[entry(&moved)], 1).await?;
    let read = ctx.article(&moved.slug, Some(&other.token)).await?;
    same("favorited for another", read.favorited, false)?;
    let after = ctx.unfavorite(&fan.token, &moved.slug).await?;
    same("favorited after taking back", after.favorited, false)?;
    same("favoritesCount after taking back", after.favorites_count, 0)?;
    finds_nothing(&ctx, &query).await
}
