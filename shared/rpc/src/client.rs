//! What both clients do alike: hold the deadline, choose a copy, try once more where that is safe, count and log.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tracing::Instrument;

use crate::address::{Endpoint, PeerAddress};
use crate::balance::{Balance, Failed, Pick};
use crate::deadline;
use crate::error::CallError;
use crate::methods::Method;
use crate::serve::Chain;
use crate::settings::CallSettings;
use crate::trace;

/// A transport: how one call is made to one copy.
pub(crate) trait Wire: Send + Sync + 'static {
    /// The connections to one copy.
    type Channel: Clone + Send + Sync + 'static;

    /// Prepares connections; makes none yet.
    fn open(settings: &CallSettings, endpoint: &Endpoint) -> Result<Self::Channel, CallError>;

    /// One attempt.
    fn send<M: Method>(
        channel: &Self::Channel,
        request: M::Request,
        terms: Terms,
    ) -> impl Future<Output = Result<M::Response, Failure>> + Send;
}

/// What an attempt is made under.
pub(crate) struct Terms {
    /// The time that the caller has left.
    pub(crate) left: Duration,
    /// Use a connection that nobody used before, where the transport has several.
    pub(crate) fresh: bool,
    /// What makes the peer's span a child of ours.
    pub(crate) trace: Option<String>,
}

/// An attempt without a good answer.
pub(crate) struct Failure {
    pub(crate) error: CallError,
    pub(crate) blame: Blame,
}

/// What a failed attempt says of the copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blame {
    /// There was no connection: another attempt is safe, and the copy is left out.
    NoConnection,
    /// The connection closed before the first byte of an answer: another attempt is safe. It may just have been idle for too long.
    ClosedUnanswered,
    /// What answers there is not the peer, or not in its right mind.
    Copy,
    /// The copy is well; the answer is an error.
    None,
}

impl Failure {
    pub(crate) fn new(blame: Blame, error: CallError) -> Self {
        Self { error, blame }
    }

    fn is_safe_to_repeat(&self) -> bool {
        matches!(self.blame, Blame::NoConnection | Blame::ClosedUnanswered)
    }
}

/// Makes the calls of one worker to one peer.
pub(crate) struct Caller<W: Wire> {
    balance: Arc<Balance<W::Channel>>,
    settings: CallSettings,
}

impl<W: Wire> Caller<W> {
    pub(crate) fn new(address: &PeerAddress, settings: &CallSettings) -> Self {
        let opening = settings.clone();
        let open = move |endpoint: &Endpoint| W::open(&opening, endpoint);
        let balance = Balance::new(address, settings.max_connections, settings.connect_timeout, open);
        Self {
            balance: Arc::new(balance),
            settings: settings.clone(),
        }
    }

    /// One call within the deadline.
    pub(crate) async fn call<M: Method>(&self, request: M::Request) -> Result<M::Response, CallError> {
        let until = Instant::now() + deadline::left(self.settings.call_timeout);
        let span = trace::calling::<M>();
        let attempts = self.attempts::<M>(request, until).instrument(span.clone());
        let answer = timeout_at(until, attempts).await;
        let answer = answer.unwrap_or(Err(CallError::TimedOut));
        trace::judge(&span, &answer);
        self.settings.counts.call_made::<M>(&answer);
        match &answer {
            Ok(_) => {}
            // The others show as 503 in the log of the request that they fail; this one nobody would look for.
            Err(error @ (CallError::Nonsense(_) | CallError::Refused)) => {
                tracing::warn!(peer = M::PEER, method = M::NAME, error = %Chain(error), "a call failed");
            }
            Err(error) => {
                tracing::debug!(peer = M::PEER, method = M::NAME, error = %Chain(error), "a call failed");
            }
        }
        answer
    }

    async fn attempts<M: Method>(
        &self,
        request: M::Request,
        until: Instant,
    ) -> Result<M::Response, CallError> {
        if until <= Instant::now() {
            return Err(CallError::TimedOut);
        }
        let mut failed: Vec<Failed<W::Channel>> = Vec::new();
        loop {
            let pick = self.balance.pick(&failed).await?;
            let copy = Arc::clone(&pick.copy);
            let again = !failed.is_empty();
            let answer = attempt::<W, M>(pick, request.clone(), until, again).await;
            let failure = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            failed.push(Failed {
                copy,
                no_connection: failure.blame == Blame::NoConnection,
            });
            if !self.goes_on(&failed, &failure) {
                return Err(failure.error);
            }
            self.settings.counts.call_retried::<M>();
        }
    }

    /// A call is repeated once. That it finds no connection is no call, so it may find none at each copy; where there is one copy, at
    /// that one twice.
    fn goes_on(&self, failed: &[Failed<W::Channel>], failure: &Failure) -> bool {
        let closed = failed.iter().filter(|failed| !failed.no_connection).count();
        let copies = self.balance.copies();
        self.settings.retry && failure.is_safe_to_repeat() && closed < 2 && failed.len() <= copies
    }
}

async fn attempt<W: Wire, M: Method>(
    mut pick: Pick<W::Channel>,
    request: M::Request,
    until: Instant,
    fresh: bool,
) -> Result<M::Response, Failure> {
    let copy = Arc::clone(&pick.copy);
    let channel = copy
        .channel
        .as_ref()
        .map_err(|error| Failure::new(Blame::None, error.clone()))?;
    // Nobody closes the semaphore.
    let _permit = copy.permits.acquire().await.ok();
    pick.starts();
    let left = until.saturating_duration_since(Instant::now());
    let terms = Terms {
        left,
        fresh,
        trace: trace::context(),
    };
    let answer = W::send::<M>(channel, request, terms).await;
    judge(pick, answer.as_ref().err(), fresh);
    answer
}

fn judge<C>(pick: Pick<C>, failure: Option<&Failure>, fresh: bool) {
    match failure.map(|failure| (failure.blame, &failure.error)) {
        // Silence that ends in a time-out is judged by its length.
        Some((_, CallError::TimedOut)) => drop(pick),
        None | Some((Blame::None, _)) => pick.succeeded(),
        Some((Blame::ClosedUnanswered, _)) if !fresh => pick.says_nothing(),
        Some((Blame::NoConnection | Blame::ClosedUnanswered | Blame::Copy, _)) => pick.failed(),
    }
}
