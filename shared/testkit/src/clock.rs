//! Clocks that stand still, or go on by one step whenever they are asked.

use std::sync::atomic::{AtomicI64, Ordering};

use conduit_domain::{Clock, Timestamp};

/// 2026-01-02T03:04:05.678Z: no two parts are equal, so that swapped ones show.
const START: i64 = 1_767_323_045_678;

/// Always the same moment.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(Timestamp);

impl FixedClock {
    /// A clock that stands at this moment.
    pub fn at(moment: Timestamp) -> Self {
        Self(moment)
    }
}

impl Default for FixedClock {
    fn default() -> Self {
        Self(Timestamp::from_millis(START))
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A moment later every time.
#[derive(Debug)]
pub struct SteppingClock {
    next: AtomicI64,
    step: i64,
}

impl SteppingClock {
    /// A clock that shows `start` first and goes on by `step` milliseconds every time.
    pub fn new(start: Timestamp, step: i64) -> Self {
        Self {
            next: AtomicI64::new(start.millis()),
            step,
        }
    }
}

impl Default for SteppingClock {
    fn default() -> Self {
        Self::new(Timestamp::from_millis(START), 1)
    }
}

impl Clock for SteppingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.next.fetch_add(self.step, Ordering::Relaxed))
    }
}
