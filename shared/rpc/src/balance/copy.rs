//! One copy: its connections, its record, and a choice of it for one call.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::address::{Endpoint, Weighted};
use crate::balance::lock;
use crate::error::CallError;

pub(super) const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(8);

/// One copy of a peer.
pub(crate) struct Copy<C> {
    pub(super) endpoint: Endpoint,
    pub(super) weight: u32,
    /// Its connections.
    pub(crate) channel: Result<C, CallError>,
    /// One for each call that may be under way.
    pub(crate) permits: Semaphore,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures: u32,
    left_out_until: Option<Instant>,
}

impl<C> Copy<C> {
    /// A copy without a record.
    pub(super) fn new(
        Weighted { endpoint, weight }: &Weighted,
        calls: usize,
        channel: Result<C, CallError>,
    ) -> Self {
        let (endpoint, permits) = (endpoint.clone(), Semaphore::new(calls));
        Self {
            endpoint,
            weight: *weight,
            channel,
            permits,
            health: Mutex::default(),
        }
    }

    /// Whether the copy takes a call now. The one that tries a copy after its rest keeps the others away meanwhile.
    pub(super) fn takes_calls(&self, now: Instant) -> bool {
        let mut health = lock(&self.health);
        match health.left_out_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                health.left_out_until = Some(now + rest(health.failures));
                true
            }
        }
    }

    fn failures(&self) -> u32 {
        lock(&self.health).failures
    }

    /// What a call says that was made after so many failures. Once another has failed meanwhile, it says nothing: calls that one outage
    /// fails together are one failure, and an answer to a call of before is no sign of life.
    fn judged(&self, works: bool, failures: u32) {
        let mut health = lock(&self.health);
        if health.failures != failures {
            return;
        }
        if works {
            *health = Health::default();
            if failures > 0 {
                tracing::info!(peer = %self.endpoint, "a copy answers again");
            }
            return;
        }
        health.failures = health.failures.saturating_add(1);
        health.left_out_until = Some(Instant::now() + rest(health.failures));
        if health.failures == 1 {
            tracing::warn!(peer = %self.endpoint, "a copy fails and is left out for a while");
        }
    }
}

/// A copy chosen for one call. Dropped without a verdict (the caller gave up or ran out of time), it speaks against the copy if that
/// was silent for long.
pub(crate) struct Pick<C> {
    pub(crate) copy: Arc<Copy<C>>,
    since: Option<Instant>,
    patience: Duration,
    /// Of the copy, when it was chosen.
    failures: u32,
    judged: bool,
}

impl<C> Pick<C> {
    /// Silence of this length will speak against the copy.
    pub(super) fn new(copy: Arc<Copy<C>>, patience: Duration) -> Self {
        Self {
            failures: copy.failures(),
            copy,
            since: None,
            patience,
            judged: false,
        }
    }

    /// From now on the copy is being waited for (not for a permit).
    pub(crate) fn starts(&mut self) {
        self.since = Some(Instant::now());
    }

    /// The copy works.
    pub(crate) fn succeeded(mut self) {
        self.judged = true;
        self.copy.judged(true, self.failures);
    }

    /// The copy does not.
    pub(crate) fn failed(mut self) {
        self.judged = true;
        self.copy.judged(false, self.failures);
    }

    /// The call says nothing about the copy.
    pub(crate) fn says_nothing(mut self) {
        self.judged = true;
    }
}

impl<C> Drop for Pick<C> {
    fn drop(&mut self) {
        let silent = self.since.is_some_and(|since| since.elapsed() >= self.patience);
        if silent && !self.judged {
            self.copy.judged(false, self.failures);
        }
    }
}

fn rest(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(8);
    (FIRST_REST * 2_u32.pow(doublings)).min(LONGEST_REST)
}
