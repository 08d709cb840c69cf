//! What there is to ask for, found out by asking: the same for our own databases and for deployments elsewhere.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use conformance::target::{RouteTable, Target};
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::client::Client;
use super::request::{Answer, Request};
use crate::seed::{PASSWORD, account_name, email_of};

/// Articles that are asked for by address, at most.
const ARTICLES: u64 = 2000;

/// The longest page there is (contract 3.6).
const PAGE: u64 = 100;

/// A start on a loaded machine, a hash in its turn.
const PATIENCE: Duration = Duration::from_secs(20);

/// What there is to ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// Articles all over the list, the newest first.
    pub slugs: Vec<String>,
    /// Their authors.
    pub authors: Vec<String>,
    /// Who signs in.
    pub viewers: Vec<Viewer>,
    /// How many articles there are.
    pub articles: u64,
}

/// Somebody who is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    /// The name.
    pub username: String,
    /// For log-ins.
    pub email: String,
    /// The token.
    pub token: String,
}

impl World {
    /// Looks around in a deployment that `bench seed` has filled, and signs in `viewers` accounts: the one with many favorites and
    /// follows, and others from all over.
    ///
    /// # Errors
    /// What was asked and answered otherwise than by a seeded deployment, with what to do.
    pub async fn discover(target: &str, viewers: u64) -> Result<Self> {
        let target = Rc::new(Target::parse(target, &RouteTable::built_in()?)?);
        let mut client = Client::new(target, PATIENCE);
        let first = asked(&mut client, &Request::get("list", "/api/articles?limit=1")).await?;
        let articles = first.get("articlesCount").and_then(Value::as_u64).unwrap_or(0);
        ensure!(
            articles > 0,
            "the deployment holds no articles: fill its database with `bench seed DATABASE_URL --scale 10000`"
        );
        let (slugs, authors) = listed(&mut client, articles).await?;
        Ok(Self {
            slugs,
            authors,
            viewers: signed_in(&mut client, viewers, articles).await?,
            articles,
        })
    }
}

/// Pages at even distances over the whole list.
async fn listed(client: &mut Client, articles: u64) -> Result<(Vec<String>, Vec<String>)> {
    let pages = (ARTICLES / PAGE).min(articles.div_ceil(PAGE));
    let distance = (articles / pages.max(1)).max(PAGE);
    let (mut slugs, mut authors) = (Vec::new(), BTreeSet::new());
    for page in 0..pages {
        let target = format!("/api/articles?limit={PAGE}&offset={}", page * distance);
        let list = asked(client, &Request::get("list", target)).await?;
        for article in list
            .get("articles")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            slugs.extend(text(article, "/slug"));
            authors.extend(text(article, "/author/username"));
        }
    }
    ensure!(!slugs.is_empty(), "the list of articles is empty");
    Ok((slugs, authors.into_iter().collect()))
}

async fn signed_in(client: &mut Client, viewers: u64, articles: u64) -> Result<Vec<Viewer>> {
    let accounts = crate::seed::accounts_for(articles);
    let viewers = viewers.clamp(1, accounts);
    let mut found = Vec::new();
    for number in 0..viewers {
        // The first account is the heavy reader (performance page, rule 10).
        let username = account_name(number * (accounts / viewers));
        let email = email_of(&username);
        let session = asked(client, &Request::log_in(&email, PASSWORD))
            .await
            .context("signing in as accounts that `bench seed` makes")?;
        let token = text(&session, "/user/token").context("a log-in without a token")?;
        found.push(Viewer {
            username,
            email,
            token,
        });
    }
    Ok(found)
}

async fn asked(client: &mut Client, request: &Request) -> Result<Value> {
    let answer = client.ask(request).await;
    if let Some(value) = answer.value() {
        return Ok(value);
    }
    let asked = format!("{} {}", request.method, request.target);
    match answer {
        Answer::Status(status, body) => {
            bail!("{asked} is answered {status} {}", String::from_utf8_lossy(&body))
        }
        Answer::TimedOut => bail!("{asked} is not answered within {} s", PATIENCE.as_secs()),
        Answer::Unsent => bail!("{asked}: this process may open no more files (ulimit -n)"),
        Answer::Broken => bail!("{asked}: nobody listens there, or the connection breaks"),
    }
}

fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

impl Viewer {
    /// The header of what they ask.
    pub(super) fn header(&self) -> Result<HeaderValue> {
        HeaderValue::from_str(&format!("Token {}", self.token)).context("a token")
    }
}
