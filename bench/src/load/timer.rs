//! A timer that goes off to some ten microseconds. The runtime's own goes by milliseconds, which would add one to every latency
//! that is counted from when a request was due.

use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

struct Descriptor(TimerFd);

impl AsRawFd for Descriptor {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// A timer.
pub(super) struct Timer(AsyncFd<Descriptor>);

impl Timer {
    /// Call it inside the runtime.
    #[allow(
        deprecated,
        reason = "what replaces it is unsafe code; the descriptor is owned here and lives as long as this does"
    )]
    pub(super) fn new() -> Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).context("making a timer")?;
        let watched = AsyncFd::with_interest(Descriptor(timer), Interest::READABLE);
        Ok(Self(watched.context("watching a timer")?))
    }

    /// Waits until then; not at all if that has passed.
    pub(super) async fn until(&self, due: Instant) -> Result<()> {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        self.set(left)?;
        self.0
            .readable()
            .await
            .context("waiting for a timer")?
            .clear_ready();
        Ok(())
    }

    /// Setting it anew also takes back that it has gone off.
    fn set(&self, left: Duration) -> Result<()> {
        let alarm = Expiration::OneShot(TimeSpec::from_duration(left));
        let timer = &self.0.get_ref().0;
        timer
            .set(alarm, TimerSetTimeFlags::empty())
            .context("setting a timer")
    }
}
