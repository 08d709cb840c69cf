//! A running program: its accounts, articles and comments on every deployment, and the comparison after each step.

use std::sync::Arc;

use futures_util::future::join_all;

use super::op::{ACCOUNTS, Op, Spelling, Viewer};
use super::plan::Plan;
use super::words::object;
use crate::compare::Comparer;
use crate::ctx::Run;
use crate::http::Request;
use crate::json::{self, Json};
use crate::log::{Certainty, Exchange};
use crate::mask::Cover;
use crate::rules;
use crate::session::Session;
use crate::shape;

/// An account, with one token per deployment.
#[derive(Clone, Debug)]
pub(super) struct Actor {
    pub(super) name: String,
    pub(super) email: String,
    /// As raw JSON.
    pub(super) password: String,
    tokens: Vec<String>,
}

/// A comment.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    /// The slug it was added under.
    pub(super) slug: String,
    /// Whose it is.
    pub(super) author: usize,
    /// Its id on every deployment.
    pub(super) ids: Vec<u64>,
}

/// What a running program knows.
#[derive(Debug)]
pub(super) struct World {
    sessions: Vec<Session>,
    comparers: Vec<Comparer>,
    /// The program's own text: part of every valid name, title and tag.
    pub(super) p: String,
    actors: Vec<Option<Actor>>,
    /// Slugs that exist or existed, and whose they are.
    pub(super) slugs: Vec<(String, usize)>,
    pub(super) comments: Vec<Remark>,
    asked: Vec<Arc<Exchange>>,
    answers: usize,
}

impl World {
    pub(super) fn new(runs: &[Run], p: String) -> Self {
        Self {
            sessions: runs
                .iter()
                .map(|run| Session::new(run.target.clone(), run.patience))
                .collect(),
            comparers: runs
                .iter()
                .skip(1)
                .map(|_| Comparer::new(Cover::Volatile))
                .collect(),
            p,
            actors: (0..ACCOUNTS).map(|_| None).collect(),
            slugs: Vec::new(),
            comments: Vec::new(),
            asked: Vec::new(),
            answers: 0,
        }
    }

    /// How many answers were compared.
    pub(super) fn answers(&self) -> usize {
        self.answers
    }

    /// What the first deployment was asked.
    pub(super) fn asked(&self) -> Vec<Arc<Exchange>> {
        self.asked.clone()
    }

    /// Plays one step everywhere. The error says what differs, or which rule for every answer is broken.
    pub(super) async fn step(&mut self, op: &Op) -> Result<(), String> {
        for who in needed(op) {
            self.ensure(who).await?;
        }
        let plan = self.plan(op);
        let exchanges = self.ask(&plan).await?;
        self.learn(op, &exchanges);
        Ok(())
    }

    /// Registers an account that a step needs, if it is not there yet.
    async fn ensure(&mut self, who: usize) -> Result<(), String> {
        if self.actor(who).is_some() {
            return Ok(());
        }
        let (p, password) = (&self.p, format!(r#""password {who}""#));
        let (name, email) = (format!("{p}{who}"), format!("{p}{who}@explore.test"));
        let members = [
            ("username", format!(r#""{name}""#)),
            ("email", format!(r#""{email}""#)),
            ("password", password.clone()),
        ];
        let plan = self.same(
            "POST",
            "/api/users",
            Viewer::Anonymous,
            Some(object("user", &members)),
        );
        let exchanges = self.ask(&plan).await?;
        let users = users(&exchanges).unwrap_or_default();
        // The name or e-mail may be gone to another account of the program: then the account stays without a token.
        let tokens = users.into_iter().map(|user| user.token).collect();
        self.put(
            who,
            Actor {
                name,
                email,
                password,
                tokens,
            },
        );
        Ok(())
    }

    async fn ask(&mut self, plan: &Plan) -> Result<Vec<Arc<Exchange>>, String> {
        let asking = self
            .sessions
            .iter()
            .enumerate()
            .map(|(place, session)| session.exchange(self.request(plan, place), Certainty::Certain));
        let exchanges: Vec<Arc<Exchange>> = join_all(asking).await.into_iter().map(Arc::new).collect();
        self.answers += exchanges.len();
        self.judge(plan, &exchanges)?;
        Ok(exchanges)
    }

    fn judge(&mut self, plan: &Plan, exchanges: &[Arc<Exchange>]) -> Result<(), String> {
        let Some((first, others)) = exchanges.split_first() else {
            return Ok(());
        };
        self.asked.push(Arc::clone(first));
        let p = self.p.clone();
        let scope = move |body| if plan.shared { own(body, &p) } else { body };
        for (comparer, other) in self.comparers.iter_mut().zip(others) {
            if let Some(difference) = comparer.pair_within(first, other, &scope) {
                return Err(difference.to_string());
            }
        }
        let response = first.outcome.as_ref().map_err(ToString::to_string)?;
        rules::every_answer(&first.request, response).map_err(|failure| failure.about(first).to_string())
    }

    fn request(&self, plan: &Plan, place: usize) -> Request {
        let token = match plan.viewer {
            Viewer::Anonymous => None,
            Viewer::Forger => Some("forged.token.here".to_owned()),
            // Nothing is there yet that anybody could have written.
            Viewer::Author => None,
            Viewer::Account(who) => self.actor(who).and_then(|actor| actor.tokens.get(place).cloned()),
        };
        let headers = token.map(|token| ("Authorization".to_owned(), format!("Token {token}")));
        // One target for all, or one for each.
        let target = plan
            .target
            .get(place)
            .or(plan.target.first())
            .cloned()
            .unwrap_or_default();
        Request {
            method: plan.method.to_owned(),
            target,
            headers: headers.into_iter().collect(),
            body: plan.body.as_ref().map(|body| body.clone().into_bytes()),
        }
    }

    /// An account, if it is registered.
    pub(super) fn actor(&self, who: usize) -> Option<&Actor> {
        self.actors.get(who).and_then(Option::as_ref)
    }

    fn put(&mut self, who: usize, actor: Actor) {
        if let Some(place) = self.actors.get_mut(who) {
            *place = Some(actor);
        }
    }

    /// Keeps what later steps may speak of.
    fn learn(&mut self, op: &Op, exchanges: &[Arc<Exchange>]) {
        match op {
            Op::UpdateUser {
                viewer: Viewer::Account(who),
                ..
            }
            | Op::Login { who, .. } => {
                self.learn_user(*who, exchanges);
            }
            Op::Publish {
                viewer: Viewer::Account(who),
                ..
            } => self.learn_slug(*who, exchanges),
            Op::Edit { article, .. } => {
                let author = self
                    .slugs
                    .get(article % self.slugs.len().max(1))
                    .map(|(_, who)| *who);
                author.into_iter().for_each(|who| self.learn_slug(who, exchanges));
            }
            Op::Comment {
                viewer: Viewer::Account(who),
                article,
                ..
            } => {
                let ids: Vec<u64> = exchanges
                    .iter()
                    .filter_map(|e| read(e, shape::comment))
                    .map(|c| c.id)
                    .collect();
                let slug = self
                    .slugs
                    .get(article % self.slugs.len().max(1))
                    .map(|(slug, _)| slug.clone());
                if let Some(slug) = slug.filter(|_| ids.len() == exchanges.len()) {
                    self.comments.push(Remark {
                        slug,
                        author: *who,
                        ids,
                    });
                }
            }
            _ => {}
        }
    }

    fn learn_slug(&mut self, author: usize, exchanges: &[Arc<Exchange>]) {
        let slug = exchanges
            .first()
            .and_then(|e| read(e, shape::article))
            .map(|article| article.slug);
        let fresh = slug.filter(|slug| !self.slugs.iter().any(|(known, _)| known == slug));
        self.slugs.extend(fresh.map(|slug| (slug, author)));
    }

    fn learn_user(&mut self, who: usize, exchanges: &[Arc<Exchange>]) {
        let Some(users) = users(exchanges) else { return };
        let sent = exchanges
            .first()
            .and_then(|e| e.request.body.clone())
            .unwrap_or_default();
        let password = json::parse(&sent).ok().and_then(|document| {
            Some(
                document
                    .value
                    .member("user")?
                    .member("password")?
                    .text()?
                    .to_owned(),
            )
        });
        let Some(actor) = self.actors.get_mut(who).and_then(Option::as_mut) else {
            return;
        };
        if let Some(first) = users.first() {
            actor.name.clone_from(&first.username);
            actor.email.clone_from(&first.email);
        }
        // serde_json writes the text back as JSON.
        actor.password = password.map_or(actor.password.clone(), |text| {
            serde_json::Value::from(text).to_string()
        });
        actor.tokens = users.into_iter().map(|user| user.token).collect();
    }
}

/// The accounts that a step speaks of.
fn needed(op: &Op) -> Vec<usize> {
    let viewer = |viewer: &Viewer| match viewer {
        Viewer::Account(who) => Some(*who),
        Viewer::Author | Viewer::Anonymous | Viewer::Forger => None,
    };
    let named = |who: &Option<(usize, Spelling)>| who.map(|(who, _)| who);
    match op {
        Op::Register { .. } | Op::Tags => Vec::new(),
        Op::Login { who, .. } => vec![*who],
        Op::ReadProfile { viewer: v, whom, .. }
        | Op::Follow { viewer: v, whom, .. }
        | Op::Unfollow { viewer: v, whom, .. } => viewer(v).into_iter().chain([*whom]).collect(),
        Op::List { viewer: v, query } => [viewer(v), named(&query.author), named(&query.favorited)]
            .into_iter()
            .flatten()
            .collect(),
        Op::ReadUser { viewer: v }
        | Op::UpdateUser { viewer: v, .. }
        | Op::Publish { viewer: v, .. }
        | Op::Edit { viewer: v, .. }
        | Op::ReadArticle { viewer: v, .. }
        | Op::DeleteArticle { viewer: v, .. }
        | Op::Favorite { viewer: v, .. }
        | Op::Unfavorite { viewer: v, .. }
        | Op::Comment { viewer: v, .. }
        | Op::ReadComments { viewer: v, .. }
        | Op::DeleteComment { viewer: v, .. }
        | Op::Feed { viewer: v, .. }
        | Op::Malformed { viewer: v, .. } => viewer(v).into_iter().collect(),
    }
}

fn read<T>(exchange: &Exchange, shape: fn(&Json) -> Result<T, shape::Misfit>) -> Option<T> {
    let response = exchange.outcome.as_ref().ok()?;
    shape(&json::parse(&response.body).ok()?.value).ok()
}

/// The User in every answer, if every answer has one.
fn users(exchanges: &[Arc<Exchange>]) -> Option<Vec<shape::User>> {
    exchanges
        .iter()
        .map(|exchange| read(exchange, shape::user))
        .collect()
}

/// The program's own tags and articles in an answer about everything.
fn own(body: Vec<u8>, p: &str) -> Vec<u8> {
    let Ok(document) = json::parse(&body) else {
        return body;
    };
    let items = ["tags", "articles"]
        .iter()
        .find_map(|name| document.value.member(name)?.list());
    let Some(items) = items else { return body };
    let ours = |item: &&Json| {
        let author = item.member("author").and_then(|author| author.member("username"));
        let name = author.or(Some(item)).and_then(Json::text).unwrap_or_default();
        name.to_lowercase().contains(p)
    };
    format!("{:?}", items.iter().filter(ours).collect::<Vec<_>>()).into_bytes()
}
