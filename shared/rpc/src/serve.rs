//! What both servers do alike: let in whoever knows the secret, set the deadline, ask the process's own peer, count and log.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use crate::counts::Counts;
use crate::deadline;
use crate::error::CallError;
use crate::methods::Method;
use crate::peers::{ArticlesApi, ProfilesApi, UsersApi};
use crate::settings::Secrets;
use crate::trace;

/// The header or metadata that carries the internal secret.
pub(crate) const SECRET_HEADER: &str = "x-conduit-internal-secret";

/// Work for a caller who names no deadline, or a later one, ends here.
const LONGEST: Duration = Duration::from_secs(30);

/// What a caller sends beside its request.
pub(crate) struct Terms<'a> {
    /// The time that it has left.
    pub(crate) left: Option<Duration>,
    /// What makes our span a child of its own.
    pub(crate) trace: Option<&'a str>,
}

/// What a process offers to its peers, and to whom. Cheap to clone; one per worker.
#[derive(Clone)]
pub struct Served {
    /// Set in the users service.
    pub users: Option<Arc<dyn UsersApi>>,
    /// Set in the profiles service.
    pub profiles: Option<Arc<dyn ProfilesApi>>,
    /// Set in the articles service.
    pub articles: Option<Arc<dyn ArticlesApi>>,
    /// What callers have to know.
    pub secrets: Secrets,
    /// Where calls are counted.
    pub counts: Arc<Counts>,
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("users", &self.users.is_some())
            .field("profiles", &self.profiles.is_some())
            .field("articles", &self.articles.is_some())
            .finish_non_exhaustive()
    }
}

impl Served {
    /// Nothing yet; callers need one of the secrets.
    pub fn new(secrets: Secrets) -> Self {
        Self {
            users: None,
            profiles: None,
            articles: None,
            secrets,
            counts: Arc::default(),
        }
    }

    /// Whether a caller is let in. A stranger is counted and logged with the address, not with what was offered.
    pub(crate) fn admits(&self, offered: Option<&[u8]>, caller: &dyn fmt::Display) -> bool {
        if offered.is_some_and(|offered| self.secrets.accept(offered)) {
            return true;
        }
        self.counts.stranger();
        let problem = if offered.is_some() { "wrong" } else { "missing" };
        tracing::warn!(%caller, problem, "refused a call without the internal secret");
        false
    }

    /// The answer to a decoded request, within the time that the caller has left.
    pub(crate) async fn answer<M: Method>(
        &self,
        terms: Terms<'_>,
        request: M::Request,
    ) -> Result<M::Response, CallError> {
        let until = Instant::now() + terms.left.map_or(LONGEST, |left| left.min(LONGEST));
        let span = trace::answering::<M>(terms.trace);
        let answer = M::answer(self, request).instrument(span.clone());
        let answer = deadline::scope(until, timeout_at(until, answer)).await;
        let answer = answer.unwrap_or(Err(CallError::TimedOut));
        trace::judge(&span, &answer);
        self.judged::<M, _>(answer)
    }

    /// Counts and logs what came of a request; also of one that could not be read.
    pub(crate) fn judged<M: Method, T>(&self, result: Result<T, CallError>) -> Result<T, CallError> {
        self.counts.call_answered::<M, T>(&result);
        if let Err(error) = &result {
            tracing::warn!(peer = M::PEER, method = M::NAME, error = %Chain(error), "could not answer a call");
        }
        result
    }
}

/// An error with everything that caused it, on one line.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
