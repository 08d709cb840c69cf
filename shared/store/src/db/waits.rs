//! How often, and for how long, callers got no connection at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Callers that got no connection at once, since the pool was made; for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolWaits {
    /// How many: they waited for somebody else's connection, for a new one, or for an old one to answer a ping. Counted when the
    /// wait begins.
    pub count: u64,
    /// How long in all, whatever came of it. Counted when a wait ends.
    pub total: Duration,
}

/// The same, while it is counted.
#[derive(Debug, Default)]
pub(super) struct Waits {
    count: AtomicU64,
    nanos: AtomicU64,
}

impl Waits {
    pub(super) fn so_far(&self) -> PoolWaits {
        PoolWaits {
            count: self.count.load(Relaxed),
            total: Duration::from_nanos(self.nanos.load(Relaxed)),
        }
    }

    /// What is there at once costs one poll, and neither a clock nor a counter.
    pub(super) async fn watch<T>(&self, mut getting: Pin<&mut impl Future<Output = T>>) -> T {
        let at_once = poll_fn(|context| Poll::Ready(getting.as_mut().poll(context))).await;
        match at_once {
            Poll::Ready(got) => got,
            Poll::Pending => {
                let _waiting = self.begin();
                getting.await
            }
        }
    }

    fn begin(&self) -> Waiting<'_> {
        self.count.fetch_add(1, Relaxed);
        Waiting {
            waits: self,
            since: Instant::now(),
        }
    }
}

/// A caller that waits. Dropped, for whatever reason, it has waited.
struct Waiting<'a> {
    waits: &'a Waits,
    since: Instant,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let nanos = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.waits.nanos.fetch_add(nanos, Relaxed);
    }
}
