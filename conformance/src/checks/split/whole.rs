//! Every area in one breath (split-018 to split-020).

use serde_json::json;

use crate::answer::Answer;
use crate::call::Call;
use crate::checks::art::stranger;
use crate::checks::list::{entry, finds, finds_nothing};
use crate::checks::{Account, Check, Ctx, Failure, Outcome, article_path, profile_path, same};
use crate::forge;
use crate::shape::{Article, Comment};

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "split-018",
            "20 rounds of writes and reads without pause",
            every_read_shows_the_write_before,
        ),
        Check::new(
            "split-019",
            "good, missing, forged, expired token, unknown slug by area",
            all_areas_answer_alike,
        ),
        Check::new(
            "split-020",
            "20 simultaneous comments, favourites, GETs during DELETE",
            a_deletion_breaks_nobody,
        ),
    ]
}

async fn every_read_shows_the_write_before(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    for _ in 0..20 {
        round(&ctx, &ann, &fan).await?;
    }
    finds_nothing(&ctx, &format!("author={}", ann.username)).await?;
    finds_nothing(&ctx, &format!("favorited={}", fan.username)).await
}

/// One life of an article. That the articles of the rounds before are gone is seen in the lists, which hold just one.
async fn round(ctx: &Ctx, ann: &Account, fan: &Account) -> Outcome {
    let tag = ctx.x();
    let created = ctx.publish(ann, &[&tag]).await?;
    let slug = &created.slug;
    same("the article on GET", &ctx.article(slug, None).await?, &created)?;
    let by = format!("author={}", ann.username);
    finds(ctx, &by, &[entry(&created)], 1).await?;
    // Others' tags come and go meanwhile.
    let answer = ctx.get("/api/tags").raced().expect(200).await?;
    answer.holds("the new tag is listed", answer.tags()?.contains(&tag))?;

    let comment = ctx.comment(&fan.token, slug, &ctx.x()).await?;
    let expected: [&Comment; 1] = [&comment];
    let comments = ctx.comments(slug, None).await?;
    same(
        "the comments",
        comments.iter().collect::<Vec<_>>().as_slice(),
        expected.as_slice(),
    )?;
    let liked = ctx.favorite(&fan.token, slug).await?;
    let expected = Article {
        favorites_count: 1,
        ..created.clone()
    };
    same(
        "the favourite",
        liked,
        Article {
            favorited: true,
            ..expected.clone()
        },
    )?;
    let of_fan = format!("favorited={}", fan.username);
    finds(ctx, &of_fan, &[entry(&expected)], 1).await?;
    ctx.remove(&ann.token, slug).await?;
    Ok(())
}

/// One route of each area that requires a token, in the order users, profiles, articles, comments.
fn routes(ctx: &Ctx, followed: &Account, slug: &str, text: &str) -> [Call; 4] {
    let comment = json!({"comment": {"body": text}});
    [
        ctx.get("/api/user"),
        ctx.post(&format!("{}/follow", profile_path(&followed.username))),
        ctx.get("/api/articles/feed"),
        ctx.post(&format!("{}/comments", article_path(slug)))
            .json(&comment),
    ]
}

async fn all_areas_answer_alike(ctx: Ctx) -> Outcome {
    let forge = ctx.forge()?;
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ben, &[]).await?.slug;
    let text = ctx.x();

    let [user, follow, feed, comment] = routes(&ctx, &ben, &slug, &text).map(|call| call.token(&ann.token));
    let answer = user.expect(200).await?;
    answer.same("username", answer.user()?.username, ann.username.as_str())?;
    let answer = follow.expect(200).await?;
    answer.same("following", answer.profile()?.following, true)?;
    let answer = feed.expect(200).await?;
    answer.same("the feed", answer.articles()?.slugs(), vec![slug.as_str()])?;
    let answer = comment.expect(201).await?;
    answer.same("the author", answer.comment()?.author, stranger(&ann))?;

    let expired = forge.expired(&ann.token)?;
    let tokens = [
        (None, "is missing"),
        (Some(forge.other_secret(&ann.token)?), "is invalid"),
        (Some(forge::changed_signature(&ann.token)?), "is invalid"),
        (Some(expired), "has expired"),
    ];
    for (token, message) in tokens {
        let calls = routes(&ctx, &ben, &slug, &text).map(|call| match &token {
            Some(token) => call.token(token),
            None => call,
        });
        refused_alike(calls.into(), 401, "token", message).await?;
    }
    let unknown = article_path(&format!("no-such-{}", ctx.x()));
    let calls = vec![
        ctx.get(&unknown),
        ctx.get(&format!("{unknown}/comments")),
        ctx.post(&format!("{unknown}/favorite")).token(&ann.token),
    ];
    refused_alike(calls, 404, "article", "not found").await
}

/// All calls are refused with the same bytes and the same headers, volatile ones aside.
async fn refused_alike(calls: Vec<Call>, status: u16, key: &str, message: &str) -> Outcome {
    let mut first: Option<Answer> = None;
    for call in calls {
        let answer = call.refused(status, key, message).await?;
        let model = first.get_or_insert_with(|| answer.clone());
        answer
            .same("the headers", answer.steady_headers(), model.steady_headers())?
            .exact(model.bytes())?;
    }
    Ok(())
}

async fn a_deletion_breaks_nobody(ctx: Ctx) -> Outcome {
    let (ann, fan) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ann, &[&ctx.x()]).await?.slug;
    let mut calls = Vec::new();
    for _ in 0..20 {
        calls.extend(readers_and_writers(&ctx, &fan, &slug));
    }
    let middle = calls.len() / 2;
    calls.insert(middle, ctx.delete(&article_path(&slug)).token(&ann.token));
    let answers = ctx.racing(calls).await?;
    for (place, answer) in answers.iter().enumerate() {
        match (answer.code(), place == middle) {
            (204, true) | (200 | 201, false) => {}
            _ => is_gone(answer)?,
        }
    }
    let deleted = answers.get(middle).map(Answer::code);
    same("the status of DELETE", deleted, Some(204))?;
    let path = article_path(&slug);
    let others = [
        ctx.get(&format!("{path}/comments")),
        ctx.delete(&format!("{path}/favorite")).token(&fan.token),
        ctx.delete(&path).token(&ann.token),
    ];
    for call in readers_and_writers(&ctx, &fan, &slug).into_iter().chain(others) {
        is_gone(&call.send().await?)?;
    }
    finds_nothing(&ctx, &format!("favorited={}", fan.username)).await?;
    finds_nothing(&ctx, &format!("author={}", ann.username)).await
}

fn is_gone(answer: &Answer) -> Result<(), Failure> {
    answer.status(404)?.error("article", "not found")?;
    Ok(())
}

/// A comment, a favourite, a GET.
fn readers_and_writers(ctx: &Ctx, fan: &Account, slug: &str) -> [Call; 3] {
    let path = article_path(slug);
    [
        ctx.commenting(&fan.token, slug, json!(ctx.x())),
        ctx.post(&format!("{path}/favorite")).token(&fan.token),
        ctx.get(&path),
    ]
}
