//! Slugs (art-011 to art-015).

use std::collections::BTreeSet;

use serde_json::json;

use super::create::{padded, titled, with};
use super::is_slug;
use crate::checks::{Check, Ctx, Failure, Outcome, article_path, holds, same};
use crate::shape::Article;

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "art-011",
            "create one title twice; GET both; delete both; create again",
            equal_titles_get_slugs_of_their_own,
        ),
        Check::new(
            "art-012",
            "create with accents, punctuation, blanks in the title",
            slugs_are_plain_words,
        ),
        Check::new(
            "art-013",
            "create with titles of other scripts, of nothing sayable, of full length; GET",
            every_title_has_a_slug,
        ),
        Check::new(
            "art-014",
            "create title Feed; GET; feed with and without token",
            no_article_hides_behind_the_feed,
        ),
        Check::new(
            "art-015",
            "10 simultaneous creations with one title",
            simultaneous_titles_are_numbered,
        ),
    ]
}

async fn equal_titles_get_slugs_of_their_own(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let title = format!("Equal {}", ctx.x());
    let first = titled(&ctx, &ann.token, &title).await?.slug;
    let second = titled(&ctx, &ann.token, &title).await?.slug;
    same("the second slug", &second, &format!("{first}-2"))?;
    for slug in [&first, &second] {
        let answer = ctx.get(&article_path(slug)).expect(200).await?;
        answer.same("slug", &answer.article()?.slug, slug)?;
    }
    for slug in [&first, &second] {
        ctx.remove(&ann.token, slug).await?;
    }
    let again = titled(&ctx, &ann.token, &title).await?.slug;
    same("the slug after both were deleted", again, first)
}

async fn slugs_are_plain_words(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let x = ctx.x();
    let title = format!("  Crème Brûlée:  How-To ({x})! ");
    let article = titled(&ctx, &ann.token, &title).await?;
    same("title", article.title, title.trim())?;
    same("slug", article.slug, format!("creme-brulee-how-to-{x}"))
}

async fn every_title_has_a_slug(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    // The fresh text in Chinese characters, so that all 255 are Chinese.
    let fresh = ctx.x();
    let chinese = |c: char| char::from_u32(0x4E00 + u32::from(c)).unwrap_or('中');
    let long: String = fresh
        .chars()
        .map(chinese)
        .chain(std::iter::repeat('字'))
        .take(255)
        .collect();
    let titles = [
        format!("Привет мир {}", ctx.x()),
        format!("日本語 {}", ctx.x()),
        "🦀".to_owned(),
        padded(&ctx, 'q', 255),
        long,
    ];
    for title in titles {
        sluggish(&ctx, &ann.token, &title).await?;
    }
    let nothing = sluggish(&ctx, &ann.token, "!!!").await?;
    let numbered = number(&nothing.slug, "untitled").is_some_and(|n| n >= 2);
    holds(
        "the slug of `!!!` is `untitled` or `untitled-<n>`",
        nothing.slug == "untitled" || numbered,
    )
}

/// Creates an article of this title; its slug has the right form and leads to it.
async fn sluggish(ctx: &Ctx, token: &str, title: &str) -> Result<Article, Failure> {
    let article = titled(ctx, token, title).await?;
    same("title", article.title.as_str(), title)?;
    holds("the slug has the form of contract 3.1", is_slug(&article.slug))?;
    holds("the slug has at most 140 characters", article.slug.len() <= 140)?;
    let answer = ctx.get(&article_path(&article.slug)).expect(200).await?;
    answer.same("title on GET", answer.article()?.title.as_str(), title)?;
    Ok(article)
}

/// The number behind this base, written without zeros in front.
fn number(slug: &str, base: &str) -> Option<u64> {
    let digits = slug.strip_prefix(base)?.strip_prefix('-')?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

async fn no_article_hides_behind_the_feed(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let article = titled(&ctx, &ann.token, "Feed").await?;
    holds(
        "the slug is `feed-<n>` with n from 2",
        number(&article.slug, "feed").is_some_and(|n| n >= 2),
    )?;
    let read = ctx.article(&article.slug, None).await?;
    same("the article on GET", read, article)?;
    let feed = ctx
        .get("/api/articles/feed")
        .token(&ann.token)
        .expect(200)
        .await?;
    feed.articles()?;
    ctx.get("/api/articles/feed")
        .refused(401, "token", "is missing")
        .await?;
    Ok(())
}

async fn simultaneous_titles_are_numbered(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let title = format!("Crowd {}", ctx.x());
    let calls = (0..10).map(|_| ctx.creation(&ann.token, with(&ctx, "title", json!(title))));
    let answers = ctx.simultaneously(calls.collect()).await?;
    let mut slugs = BTreeSet::new();
    for answer in &answers {
        slugs.insert(answer.status(201)?.article()?.slug);
    }
    let base = title.to_lowercase().replace(' ', "-");
    let numbered = (2..=10).map(|n| format!("{base}-{n}"));
    let expected: BTreeSet<String> = numbered.chain([base.clone()]).collect();
    same("the slugs", &slugs, &expected)?;
    // Their order is chance and would make the stores of two deployments unequal for what runs on them next.
    for slug in &slugs {
        ctx.remove(&ann.token, slug).await?;
    }
    Ok(())
}
