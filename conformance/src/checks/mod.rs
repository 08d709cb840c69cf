//! The 197 checks of the contract's section 5, one file per area, in the order of the catalogue.
//!
//! # How a check is written
//!
//! A check is an async function that takes a [`Ctx`], named by a sentence, and one line in its file's `checks()` with the
//! catalogue's id and the catalogue's requests in short:
//!
//! ```
//! use conformance::checks::{Check, Ctx, Outcome, enc};
//! use serde_json::json;
//!
//! fn checks() -> Vec<Check> {
//!     vec![Check::new("prof-003", "follow; GET", following_shows_on_the_profile)]
//! }
//!
//! async fn following_shows_on_the_profile(ctx: Ctx) -> Outcome {
//!     let (ann, ben) = (ctx.register().await?, ctx.register().await?);
//!     let path = format!("/api/profiles/{}", enc(&ben.username));
//!     let answer = ctx.post(&format!("{path}/follow")).token(&ann.token).expect(200).await?;
//!     let profile = answer.profile()?;
//!     answer.same("following", profile.following, true)?.same("bio", profile.bio, None::<String>)?;
//!     ctx.get("/api/profiles/no-such-name").refused(404, "profile", "not found").await?;
//!     Ok(())
//! }
//! ```
//!
//! - Requests: `ctx.get(path)`, `post`, `put`, `delete`, `head`, `options`, `call(method, path)`; then `.token(…)`,
//!   `.header(…)`, `.json(&json!(…))` or `.body(bytes)`; then one of `.send()`, `.expect(status)`,
//!   `.refused(status, key, message)`, `.refused_all(status, &[…])`. Paths go out exactly as given: encode with [`enc`].
//! - Demands are methods of the [`Answer`](crate::answer::Answer), so that a failure shows the request as a curl line
//!   and the first differing byte: `status`, `exact`, `error`, `errors`, `has_header`, `same(what, came, expected)`,
//!   `holds(what, statement)`, `nth(&list, place)`, and the shapes `user()`, `profile()`, `article()`, `articles()`,
//!   `comment()`, `comments()`, `tags()`, which demand exact members, order and types. What has no answer at hand uses
//!   [`same`] and [`holds`]; the runner adds the last exchange.
//! - What the contract asserts on every answer is asserted by `send` itself; do not repeat it.
//! - Arrangement: `ctx.register()`, `register_as(name)`, `publish(&account, &["tag"])`, `publish_titled`, `comment`,
//!   `follow`, `favorite`, `rename(&mut account, name)`, `update_user`, and for reading `article(slug, token)`,
//!   `list(query, token)`, `feed(token, query)`, `profile`, `comments`. Calls that are about to be judged come unsent:
//!   `registration`, `login`, `creation`, `edit`, `commenting`.
//! - Texts: `ctx.x()` is the catalogue's `<x>`. Two deployments that run with one seed get the same texts, so draw them
//!   in an order that does not depend on answers, and never use another source of chance.
//! - Together: `ctx.simultaneously(vec![…])`; `ctx.racing(vec![…])` if even the statuses depend on who is first. A later
//!   answer whose values depend on who won is marked with `.raced()` on its call.
//! - Tokens: `let forge = ctx.forge()?;` skips the check if the secret is unknown, so ask for it first.
//! - A check never relies on an empty store or on others. One that would be disturbed by others that run at the same
//!   time (it compares the list of all tags twice) ends its line with `.alone()`.
//! - No panics: `nth` instead of indexing.

use std::fmt;
use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;

mod art;
mod auth;
mod cmt;
mod fav;
mod feed;
mod http;
mod list;
mod prof;
mod split;
mod tag;
mod user;

pub use crate::arrange::{Account, article_path, enc, profile_path};
pub use crate::ctx::Ctx;
pub use crate::failure::{Failure, Outcome};

/// One check of the catalogue.
#[derive(Clone)]
pub struct Check {
    /// The catalogue's id.
    pub id: &'static str,
    /// The catalogue's requests, in short.
    pub title: &'static str,
    /// Whether no other check may run at the same time.
    pub alone: bool,
    run: Arc<dyn Fn(Ctx) -> BoxFuture<'static, Outcome> + Send + Sync>,
}

impl Check {
    /// The check that this function makes.
    pub fn new<F, R>(id: &'static str, title: &'static str, run: F) -> Self
    where
        F: Fn(Ctx) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        Self {
            id,
            title,
            alone: false,
            run: Arc::new(move |ctx| Box::pin(run(ctx))),
        }
    }

    /// The same check, which no other may accompany.
    #[must_use]
    pub fn alone(self) -> Self {
        Self { alone: true, ..self }
    }

    /// The area: what stands before the hyphen of the id.
    pub fn area(&self) -> &'static str {
        self.id.split('-').next().unwrap_or(self.id)
    }

    /// Makes the check. A failure that names no exchange gets the last one.
    ///
    /// # Errors
    /// The check did not pass, or could not be made.
    pub async fn run(&self, ctx: Ctx) -> Outcome {
        let outcome = (self.run)(ctx.clone()).await;
        outcome.map_err(|failure| match ctx.log().last() {
            Some(exchange) => failure.about(&exchange),
            None => failure,
        })
    }
}

impl Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.id, self.title)
    }
}

/// All checks, in the order of the catalogue.
pub fn all() -> Vec<Check> {
    let areas = [
        http::checks(),
        auth::checks(),
        user::checks(),
        prof::checks(),
        art::checks(),
        list::checks(),
        feed::checks(),
        fav::checks(),
        cmt::checks(),
        tag::checks(),
        split::checks(),
    ];
    areas.into_iter().flatten().collect()
}

/// The two values are equal; `what` names them.
///
/// # Errors
/// They are not.
#[allow(clippy::needless_pass_by_value)]
pub fn same<A: PartialEq<B> + Debug, B: Debug>(what: &str, came: A, expected: B) -> Outcome {
    match came == expected {
        true => Ok(()),
        false => Err(Failure::differs(
            what,
            format!("{expected:?}"),
            format!("{came:?}"),
        )),
    }
}

/// The statement holds; `what` says it as it should be.
///
/// # Errors
/// It does not.
pub fn holds(what: &str, statement: bool) -> Outcome {
    match statement {
        true => Ok(()),
        false => Err(Failure::told(format!("does not hold: {what}"))),
    }
}
