//! What a check has at hand: requests to the deployment, fresh texts, forged tokens.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::{Failure, Report};
use crate::forge::{Forge, Secret};
use crate::log::{Certainty, Exchange, Log, Step};
use crate::rules;
use crate::session::Session;
use crate::target::Target;
use crate::texts::Texts;

/// What all checks of a run share.
#[derive(Clone, Debug)]
pub struct Run {
    /// The deployment.
    pub target: Target,
    /// Sets all random texts.
    pub seed: u64,
    /// The deployment's token secret, if it is known.
    pub secret: Option<Secret>,
    /// How long one exchange may take.
    pub patience: Duration,
}

/// The surroundings of one check. Clones share everything.
#[derive(Clone, Debug)]
pub struct Ctx(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    session: Session,
    texts: Texts,
    secret: Option<Secret>,
    log: Log,
}

impl Ctx {
    /// The surroundings of the check of this id.
    pub fn new(run: &Run, id: &str) -> Self {
        Self(Arc::new(Inner {
            session: Session::new(run.target.clone(), run.patience),
            texts: Texts::new(run.seed, id),
            secret: run.secret.clone(),
            log: Log::default(),
        }))
    }

    /// A fresh text of lower-case letters and digits, a letter first: the `<x>` of the catalogue.
    pub fn x(&self) -> String {
        self.0.texts.draw()
    }

    /// What was asked and answered so far.
    pub fn log(&self) -> &Log {
        &self.0.log
    }

    /// The means to forge tokens.
    ///
    /// # Errors
    /// The token secret is not known: the check is skipped.
    pub fn forge(&self) -> Result<Forge, Failure> {
        let unknown =
            || Failure::Skipped("the token secret is not known (see --token-secret-file)".to_owned());
        self.0.secret.clone().map(Forge::new).ok_or_else(unknown)
    }

    /// A request of any method; the target (path and query) is sent exactly as given.
    pub fn call(&self, method: &str, target: &str) -> Call {
        Call::new(self.clone(), method, target)
    }

    /// `GET`
    pub fn get(&self, target: &str) -> Call {
        self.call("GET", target)
    }

    /// `POST`
    pub fn post(&self, target: &str) -> Call {
        self.call("POST", target)
    }

    /// `PUT`
    pub fn put(&self, target: &str) -> Call {
        self.call("PUT", target)
    }

    /// `DELETE`
    pub fn delete(&self, target: &str) -> Call {
        self.call("DELETE", target)
    }

    /// `HEAD`
    pub fn head(&self, target: &str) -> Call {
        self.call("HEAD", target)
    }

    /// `OPTIONS`
    pub fn options(&self, target: &str) -> Call {
        self.call("OPTIONS", target)
    }

    /// Sends all calls at once, each on a connection of its own. The answers come in the order of the calls and have
    /// passed the rules for every answer. When deployments are compared, the group is compared as a set: what varies
    /// within it (which call won, numbers that depend on it) is left out, statuses are not.
    ///
    /// # Errors
    /// One of the calls got no whole answer, or one that breaks a rule.
    pub async fn simultaneously(&self, calls: Vec<Call>) -> Result<Vec<Answer>, Failure> {
        self.together(calls, Certainty::Raced).await
    }

    /// [`Ctx::simultaneously`] for calls where even the statuses depend on who comes first (comments on an article that
    /// is being deleted): nothing of the group is compared between deployments.
    ///
    /// # Errors
    /// As for [`Ctx::simultaneously`].
    pub async fn racing(&self, calls: Vec<Call>) -> Result<Vec<Answer>, Failure> {
        self.together(calls, Certainty::Open).await
    }

    fn together(
        &self,
        calls: Vec<Call>,
        certainty: Certainty,
    ) -> BoxFuture<'_, Result<Vec<Answer>, Failure>> {
        Box::pin(async move {
            let requests = calls.into_iter().map(|call| call.request).collect();
            let exchanges = self.0.session.together(requests, certainty).await;
            let exchanges: Vec<Arc<Exchange>> = exchanges.into_iter().map(Arc::new).collect();
            self.0.log.push(Step::Together(exchanges.clone()));
            exchanges.into_iter().map(judge).collect()
        })
    }

    pub(crate) async fn perform(&self, call: Call) -> Result<Answer, Failure> {
        let exchange = Arc::new(self.0.session.exchange(call.request, call.certainty).await);
        self.0.log.push(Step::One(Arc::clone(&exchange)));
        judge(exchange)
    }
}

fn judge(exchange: Arc<Exchange>) -> Result<Answer, Failure> {
    let response = match &exchange.outcome {
        Ok(response) => response.clone(),
        Err(trouble) => {
            let report = Report {
                what: trouble.to_string(),
                ..Report::default()
            };
            return Err(Failure::Unanswered(Box::new(report)).about(&exchange));
        }
    };
    rules::every_answer(&exchange.request, &response).map_err(|failure| failure.about(&exchange))?;
    Ok(Answer::new(exchange, response))
}
