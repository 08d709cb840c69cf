//! The system's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use conduit_domain::{Clock, Timestamp};

/// The system's clock, cut to milliseconds: what is stored is what was answered (contract 1.6).
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the clock that all others take the time from"
    )]
    fn now(&self) -> Timestamp {
        // A clock before 1970 is answered with 1970, the first moment there is.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
