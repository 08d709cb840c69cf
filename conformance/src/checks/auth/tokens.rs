//! Tokens on required, optional and open routes.

use serde_json::json;

use super::super::{Account, Check, Ctx, Failure, Outcome, article_path, holds, profile_path, same};
use super::{INVALID, address};
use crate::call::Call;
use crate::forge::{changed_payload, changed_signature};

const MISSING: &str = "is missing";
const EXPIRED: &str = "has expired";

pub(super) fn checks() -> Vec<Check> {
    vec![
        Check::new(
            "auth-025",
            "each required route without Authorization",
            required_routes_want_a_token,
        ),
        Check::new(
            "auth-026",
            "GET user and list with headers that carry no token",
            a_header_without_a_token_is_none,
        ),
        Check::new(
            "auth-027",
            "GET /api/user with Bearer, token, TOKEN",
            the_scheme_may_be_spelt_otherwise,
        ),
        Check::new(
            "auth-028",
            "GET /api/user with bad tokens",
            bad_tokens_are_invalid,
        ),
        Check::new(
            "auth-029",
            "well-signed expired token on required routes",
            an_expired_token_is_told_so,
        ),
        Check::new(
            "auth-030",
            "bad and expired token on the optional routes",
            optional_routes_refuse_bad_tokens,
        ),
        Check::new(
            "auth-031",
            "bad token on GET /api/tags, register, log in",
            open_routes_do_not_look_at_the_token,
        ),
        Check::new(
            "auth-032",
            "well-signed token whose sub is no account",
            nobody_may_read_but_not_write,
        ),
        Check::new(
            "auth-033",
            "no token with malformed JSON, unknown slug, limit=x",
            the_missing_token_is_told_first,
        ),
    ]
}

async fn required_routes_want_a_token(ctx: Ctx) -> Outcome {
    let follow = format!("/api/profiles/{}/follow", ctx.x());
    let article = json!({"article": {"title": "t", "description": "d", "body": "b"}});
    let calls = [
        ctx.get("/api/user"),
        ctx.put("/api/user").json(&json!({"user": {"bio": "b"}})),
        ctx.post(&follow),
        ctx.delete(&follow),
        ctx.get("/api/articles/feed"),
        ctx.post("/api/articles").json(&article),
        ctx.put("/api/articles/some-slug").json(&article),
        ctx.delete("/api/articles/some-slug"),
        ctx.post("/api/articles/some-slug/comments")
            .json(&json!({"comment": {"body": "b"}})),
        ctx.delete("/api/articles/some-slug/comments/1"),
        ctx.post("/api/articles/some-slug/favorite"),
        ctx.delete("/api/articles/some-slug/favorite"),
    ];
    for call in calls {
        let answer = call.refused(401, "token", MISSING).await?;
        answer.has_header("WWW-Authenticate", "Token")?;
    }
    Ok(())
}

async fn a_header_without_a_token_is_none(ctx: Ctx) -> Outcome {
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ben, &[]).await?.slug;
    // What tells an anonymous viewer from Ann.
    ctx.favorite(&ann.token, &slug).await?;
    ctx.follow(&ann.token, &ben.username).await?;
    let list = format!("/api/articles?author={}", ben.username);
    for value in ["", "Token", "Token ", "Basic abc", &ann.token] {
        let call = ctx.get("/api/user").header("Authorization", value);
        call.refused(401, "token", MISSING).await?;
        let answer = ctx.get(&list).header("Authorization", value).expect(200).await?;
        let articles = answer.articles()?;
        answer.same("articlesCount", articles.count, 1)?;
        let article = answer.nth(&articles.articles, 0)?;
        answer
            .same("slug", &article.slug, &slug)?
            .same("favorited", article.favorited, false)?
            .same("following", article.author.following, false)?;
    }
    Ok(())
}

async fn the_scheme_may_be_spelt_otherwise(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let token = &ann.token;
    for value in [
        format!("Bearer {token}"),
        format!("token {token}"),
        format!("TOKEN   {token} "),
    ] {
        let answer = ctx
            .get("/api/user")
            .header("Authorization", &value)
            .expect(200)
            .await?;
        answer.same("username", answer.user()?.username, ann.username.clone())?;
    }
    Ok(())
}

async fn bad_tokens_are_invalid(ctx: Ctx) -> Outcome {
    let forge = ctx.forge()?;
    let real = ctx.register().await?.token;
    let tokens = [
        "abc".to_owned(),
        changed_payload(&real)?,
        changed_signature(&real)?,
        forge.other_secret(&real)?,
        forge.alg_none(&real)?,
        forge.hs512(&real)?,
        forge.without(&real, "sub")?,
        forge.without(&real, "exp")?,
        forge.other_secret_and_expired(&real)?,
    ];
    for token in tokens {
        let call = ctx.get("/api/user").token(&token);
        call.refused(401, "token", INVALID).await?;
    }
    Ok(())
}

/// One call of each kind that needs an account, all of which would succeed for Ann: they aim at Ben's article.
fn wanting_an_account(ctx: &Ctx, token: &str, ben: &str, slug: &str) -> [Call; 5] {
    let members = json!({"title": ctx.x(), "description": "d", "body": "b"});
    [
        ctx.get("/api/user").token(token),
        ctx.get("/api/articles/feed").token(token),
        ctx.creation(token, members),
        ctx.post(&format!("{}/follow", profile_path(ben))).token(token),
        ctx.commenting(token, slug, json!("b")),
    ]
}

async fn an_expired_token_is_told_so(ctx: Ctx) -> Outcome {
    let forge = ctx.forge()?;
    let (ann, ben) = (ctx.register().await?, ctx.register().await?);
    let slug = ctx.publish(&ben, &[]).await?.slug;
    let expired = forge.expired(&ann.token)?;
    for call in wanting_an_account(&ctx, &expired, &ben.username, &slug) {
        call.refused(401, "token", EXPIRED).await?;
    }
    Ok(())
}

async fn optional_routes_refuse_bad_tokens(ctx: Ctx) -> Outcome {
    let forge = ctx.forge()?;
    let ann = ctx.register().await?;
    let (known, unknown) = (ctx.publish(&ann, &[]).await?.slug, ctx.x());
    let paths = [
        profile_path(&ann.username),
        profile_path(&unknown),
        "/api/articles".to_owned(),
        format!("/api/articles?author={unknown}"),
        article_path(&known),
        article_path(&unknown),
        format!("{}/comments", article_path(&known)),
        format!("{}/comments", article_path(&unknown)),
    ];
    let (bad, expired) = (changed_signature(&ann.token)?, forge.expired(&ann.token)?);
    for (token, message) in [(bad, INVALID), (expired, EXPIRED)] {
        for path in &paths {
            let call = ctx.get(path).token(&token);
            call.refused(401, "token", message).await?;
        }
    }
    Ok(())
}

async fn open_routes_do_not_look_at_the_token(ctx: Ctx) -> Outcome {
    let ann = ctx.register().await?;
    let bad = changed_signature(&ann.token)?;
    ctx.get("/api/tags").token(&bad).expect(200).await?.tags()?;
    let name = ctx.x();
    let call = ctx.registration(&name, &address(&ctx), "password").token(&bad);
    let answer = call.expect(201).await?;
    answer.same("username", answer.user()?.username, name)?;
    let answer = ctx
        .login(&ann.email, &ann.password)
        .token(&bad)
        .expect(200)
        .await?;
    answer.same("username", answer.user()?.username, ann.username)?;
    Ok(())
}

async fn nobody_may_read_but_not_write(ctx: Ctx) -> Outcome {
    let forge = ctx.forge()?;
    let ann = ctx.register().await?;
    let slug = ctx.publish(&ann, &[]).await?.slug;
    ctx.favorite(&ann.token, &slug).await?;
    let nobody = forge.of_nobody(&ann.token)?;
    let (tag, name) = (ctx.x(), ctx.x());
    let article = json!({"title": ctx.x(), "description": "d", "body": "b", "tagList": [tag]});
    let rename = json!({"user": {"username": name}});
    let favorite = format!("{}/favorite", article_path(&slug));
    let follow = format!("{}/follow", profile_path(&ann.username));
    let calls = [
        ctx.get("/api/user").token(&nobody),
        ctx.put("/api/user").token(&nobody).json(&rename),
        ctx.get("/api/articles/feed").token(&nobody),
        ctx.creation(&nobody, article),
        ctx.post(&favorite).token(&nobody),
        ctx.post(&follow).token(&nobody),
        ctx.commenting(&nobody, &slug, json!("b")),
        // The catalogue's row ends above; contract 1.2 names these two as well.
        ctx.delete(&favorite).token(&nobody),
        ctx.delete(&follow).token(&nobody),
    ];
    for call in calls {
        call.refused(401, "token", INVALID).await?;
    }
    nothing_was_written(&ctx, &slug, &tag, &name).await?;
    nobody_is_a_viewer(&ctx, &nobody, &ann, &slug).await
}

async fn nobody_is_a_viewer(ctx: &Ctx, nobody: &str, ann: &Account, slug: &str) -> Result<(), Failure> {
    let listed = ctx
        .list(&format!("author={}", ann.username), Some(nobody))
        .await?;
    let shown = ctx.article(slug, Some(nobody)).await?;
    same("articlesCount", listed.count, 1)?;
    same("the number of articles", listed.articles.len(), 1)?;
    for article in listed.articles.iter().chain([&shown]) {
        same("favorited", article.favorited, false)?;
        same("following", article.author.following, false)?;
    }
    Ok(())
}

async fn nothing_was_written(ctx: &Ctx, slug: &str, tag: &str, name: &str) -> Result<(), Failure> {
    let list = ctx.list(&format!("tag={tag}"), None).await?;
    holds("no article of nobody is there", list.articles.is_empty())?;
    ctx.get(&profile_path(name))
        .refused(404, "profile", "not found")
        .await?;
    let article = ctx.article(slug, None).await?;
    same("favoritesCount, Ann's own alone", article.favorites_count, 1)?;
    let comments = ctx.comments(slug, None).await?;
    holds("no comment of nobody is there", comments.is_empty())
}

async fn the_missing_token_is_told_first(ctx: Ctx) -> Outcome {
    let calls = [
        ctx.post("/api/articles").body(r#"{"article":"#),
        ctx.put(&article_path(&ctx.x()))
            .json(&json!({"article": {"title": "t"}})),
        ctx.get("/api/articles/feed?limit=x"),
    ];
    for call in calls {
        call.refused(401, "token", MISSING).await?;
    }
    Ok(())
}
