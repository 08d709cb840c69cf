//! Deployments that share one database: every read over what is there, as several viewers, equal to the byte.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::join_all;

use crate::arrange::{Account, article_path, enc, profile_path};
use crate::compare::{Comparer, Difference};
use crate::ctx::{Ctx, Run};
use crate::failure::Failure;
use crate::http::Request;
use crate::log::{Certainty, Exchange};
use crate::mask::Cover;
use crate::session::Session;
use crate::shape::Article;

/// What was compared.
#[derive(Debug, Default)]
pub struct Reads {
    /// How many answers of each deployment were compared.
    pub answers: usize,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// Everything that can be asked about the store.
#[derive(Debug, Default)]
struct Contents {
    slugs: BTreeSet<String>,
    usernames: BTreeSet<String>,
    tags: BTreeSet<String>,
}

/// Reads everything, at most `most` articles, as an anonymous viewer and as three accounts: one that follows and likes
/// nobody, one that follows every other author, one that likes every other article. The accounts are made through the
/// first deployment and log in at each.
///
/// # Errors
/// A deployment does not answer, or does not see what another one wrote: they share no database.
pub async fn compare(runs: &[Run], most: usize, mut done: impl FnMut(&Reads)) -> Result<Reads> {
    let first = runs.first().context("no deployment")?;
    let ctx = Ctx::new(first, "reads");
    let contents = contents(&ctx, most).await?;
    let viewers = viewers(&ctx, &contents).await?;
    let mut reads = Reads::default();
    let sessions: Vec<Session> = runs
        .iter()
        .map(|run| Session::new(run.target.clone(), run.patience))
        .collect();
    for viewer in std::iter::once(None).chain(viewers.iter().map(Some)) {
        let tokens = tokens(runs, viewer).await?;
        for path in paths(&contents, viewer) {
            one(&sessions, &tokens, &path, &mut reads).await;
            done(&reads);
        }
    }
    Ok(reads)
}

/// Asks all deployments the same and holds each answer against the first.
async fn one(sessions: &[Session], tokens: &[Option<String>], path: &str, reads: &mut Reads) {
    let asking = sessions.iter().zip(tokens).map(|(session, token)| {
        let headers = token
            .iter()
            .map(|t| ("Authorization".to_owned(), format!("Token {t}")))
            .collect();
        let request = Request {
            method: "GET".into(),
            target: path.to_owned(),
            headers,
            body: None,
        };
        session.exchange(request, Certainty::Certain)
    });
    let exchanges: Vec<Arc<Exchange>> = join_all(asking).await.into_iter().map(Arc::new).collect();
    reads.answers += exchanges.len();
    if let Some((left, others)) = exchanges.split_first() {
        let found = others
            .iter()
            .filter_map(|right| Comparer::new(Cover::Token).pair(left, right));
        reads.differences.extend(found);
    }
}

async fn contents(ctx: &Ctx, most: usize) -> Result<Contents, Failure> {
    let mut found = Contents::default();
    found.tags.extend(ctx.get("/api/tags").expect(200).await?.tags()?);
    while found.slugs.len() < most {
        let page = ctx
            .list(&format!("limit=100&offset={}", found.slugs.len()), None)
            .await?;
        let before = found.slugs.len();
        page.articles.iter().for_each(|article| note(&mut found, article));
        if found.slugs.len() == before {
            break;
        }
    }
    for slug in found.slugs.clone() {
        let comments = ctx.comments(&slug, None).await?;
        found
            .usernames
            .extend(comments.into_iter().map(|comment| comment.author.username));
    }
    Ok(found)
}

fn note(found: &mut Contents, article: &Article) {
    found.slugs.insert(article.slug.clone());
    found.usernames.insert(article.author.username.clone());
    found.tags.extend(article.tag_list.iter().cloned());
}

async fn viewers(ctx: &Ctx, contents: &Contents) -> Result<Vec<Account>, Failure> {
    let (stranger, follower, fan) = (
        ctx.register().await?,
        ctx.register().await?,
        ctx.register().await?,
    );
    for name in contents.usernames.iter().step_by(2) {
        ctx.follow(&follower.token, name).await?;
    }
    for slug in contents.slugs.iter().step_by(2) {
        ctx.favorite(&fan.token, slug).await?;
    }
    Ok(vec![stranger, follower, fan])
}

async fn tokens(runs: &[Run], viewer: Option<&Account>) -> Result<Vec<Option<String>>> {
    let Some(viewer) = viewer else {
        return Ok(runs.iter().map(|_| None).collect());
    };
    let mut tokens = Vec::new();
    for run in runs {
        let answer = Ctx::new(run, "reads-login")
            .login(&viewer.email, &viewer.password)
            .send()
            .await;
        let answer = answer?;
        ensure!(
            answer.code() == 200,
            "{} does not know an account made at {}: they share no database",
            run.target,
            runs.first()
                .map(|first| first.target.to_string())
                .unwrap_or_default()
        );
        tokens.push(Some(answer.user()?.token));
    }
    Ok(tokens)
}

fn paths(contents: &Contents, viewer: Option<&Account>) -> Vec<String> {
    let mut paths: Vec<String> = [
        "/healthz",
        "/readyz",
        "/api/tags",
        "/api/user",
        "/api/articles/feed",
        "/openapi.json",
        "/docs",
    ]
    .map(str::to_owned)
    .to_vec();
    paths
        .extend((0..contents.slugs.len() / 20 + 2).map(|page| format!("/api/articles?offset={}", page * 20)));
    paths.extend((0..4).map(|page| format!("/api/articles/feed?limit=7&offset={}", page * 7)));
    paths.push("/api/articles?limit=1000".to_owned());
    for slug in &contents.slugs {
        paths.push(article_path(slug));
        paths.push(format!("{}/comments", article_path(slug)));
        paths.push(format!("{}/comments?limit=2&offset=1", article_path(slug)));
    }
    let viewer = viewer.map(|viewer| &viewer.username);
    for name in contents.usernames.iter().chain(viewer) {
        paths.push(profile_path(name));
        paths.push(format!("/api/articles?author={}", enc(name)));
        paths.push(format!("/api/articles?favorited={}", enc(name)));
    }
    paths.extend(
        contents
            .tags
            .iter()
            .map(|tag| format!("/api/articles?tag={}", enc(tag))),
    );
    let pairs = contents.tags.iter().zip(contents.usernames.iter().cycle());
    paths.extend(pairs.map(|(tag, name)| format!("/api/articles?tag={}&author={}", enc(tag), enc(name))));
    paths
}
