//! Which copy of a peer takes the next call: the one rule for both transports.
//!
//! Copies take turns by weight. A copy that fails is left out for a second, doubling up to eight; when that time is over, one call
//! tries it and the others go on without it until the call has succeeded. When every copy is left out, none is. A call that fails before
//! it was sent goes on to the copies that it has not tried, those left out among them.

mod copy;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use crate::address::{Endpoint, PeerAddress, Source, Weighted};
use crate::error::CallError;

pub(crate) use copy::{Copy, Pick};

/// How long the addresses behind a name are good for.
const RESOLVED_FOR: Duration = Duration::from_secs(5);

/// A copy that has failed a call that goes on.
pub(crate) struct Failed<C> {
    pub(crate) copy: Arc<Copy<C>>,
    /// There was no connection to it, as opposed to one that closed.
    pub(crate) no_connection: bool,
}

type Open<C> = Box<dyn Fn(&Endpoint) -> Result<C, CallError> + Send + Sync>;
pub(crate) type Resolve =
    Box<dyn Fn(String, u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// The copies of one peer, as one worker sees them.
pub(crate) struct Balance<C> {
    source: Source,
    open: Open<C>,
    resolve: Resolve,
    /// Held while a name is being resolved, so that it is once.
    resolving: tokio::sync::Mutex<()>,
    known: Mutex<Known<C>>,
    turn: AtomicUsize,
    calls_per_copy: usize,
    /// A call that was silent for this long speaks against its copy.
    patience: Duration,
}

struct Known<C> {
    copies: Arc<Vec<Arc<Copy<C>>>>,
    /// Indices into the copies; each as often as its weight, spread out.
    order: Arc<Vec<usize>>,
    resolved_at: Option<Instant>,
}

impl<C: Send + Sync + 'static> Balance<C> {
    pub(crate) fn new(
        address: &PeerAddress,
        calls_per_copy: usize,
        patience: Duration,
        open: impl Fn(&Endpoint) -> Result<C, CallError> + Send + Sync + 'static,
    ) -> Self {
        Self::with_resolver(address, calls_per_copy, patience, open, Box::new(resolve))
    }

    pub(crate) fn with_resolver(
        address: &PeerAddress,
        calls_per_copy: usize,
        patience: Duration,
        open: impl Fn(&Endpoint) -> Result<C, CallError> + Send + Sync + 'static,
        resolve: Resolve,
    ) -> Self {
        let known = Known {
            copies: Arc::default(),
            order: Arc::default(),
            resolved_at: None,
        };
        let balance = Self {
            source: address.0.clone(),
            open: Box::new(open),
            resolve,
            resolving: tokio::sync::Mutex::default(),
            known: Mutex::new(known),
            turn: AtomicUsize::new(0),
            calls_per_copy,
            patience,
        };
        if let Source::List(copies) = &address.0 {
            balance.replace(copies);
        }
        balance
    }

    /// The copy whose turn it is. Of those that have `failed` the same call only if the others are left out, and of those to which there
    /// was no connection only if there is no other.
    ///
    /// # Errors
    /// [`CallError::Unreachable`] when a name has never resolved.
    pub(crate) async fn pick(self: &Arc<Self>, failed: &[Failed<C>]) -> Result<Pick<C>, CallError> {
        self.refresh().await?;
        let (copies, order) = {
            let known = lock(&self.known);
            (Arc::clone(&known.copies), Arc::clone(&known.order))
        };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let in_turn = || {
            let indices = (0..order.len()).filter_map(|step| order.get((turn + step) % order.len()));
            indices.filter_map(|index| copies.get(*index))
        };
        let is = |copy: &Arc<Copy<C>>, failed: &Failed<C>| Arc::ptr_eq(&failed.copy, copy);
        let reachable = |copy: &Arc<Copy<C>>| {
            !failed
                .iter()
                .any(|failed| failed.no_connection && is(copy, failed))
        };
        let untried = |copy: &Arc<Copy<C>>| !failed.iter().any(|failed| is(copy, failed));
        let now = Instant::now();
        let copy = in_turn()
            .find(|copy| untried(copy) && copy.takes_calls(now))
            .or_else(|| in_turn().find(|copy| reachable(copy) && copy.takes_calls(now)))
            .or_else(|| in_turn().find(|copy| untried(copy)))
            .or_else(|| in_turn().find(|copy| reachable(copy)))
            .or_else(|| in_turn().next());
        let copy = copy.ok_or_else(|| CallError::unreachable("the peer has no address"))?;
        Ok(Pick::new(Arc::clone(copy), self.patience))
    }

    async fn refresh(self: &Arc<Self>) -> Result<(), CallError> {
        let Source::Name { .. } = &self.source else {
            return Ok(());
        };
        match lock(&self.known).resolved_at {
            Some(at) if at.elapsed() < RESOLVED_FOR => return Ok(()),
            Some(_) => {
                let balance = Arc::clone(self);
                // Calls go on with the addresses of last time.
                tokio::spawn(async move { balance.resolve_in_background().await });
                return Ok(());
            }
            None => {}
        }
        let _once = self.resolving.lock().await;
        if lock(&self.known).resolved_at.is_some() {
            return Ok(());
        }
        self.resolve_now().await.map_err(CallError::unreachable)
    }

    async fn resolve_in_background(&self) {
        let Ok(_once) = self.resolving.try_lock() else {
            return;
        };
        if let Err(error) = self.resolve_now().await {
            tracing::warn!(%error, "a peer's name does not resolve; its last addresses stay in use");
            lock(&self.known).resolved_at = Some(Instant::now());
        }
    }

    async fn resolve_now(&self) -> std::io::Result<()> {
        let Source::Name { host, port } = &self.source else {
            return Ok(());
        };
        let mut found = (self.resolve)(host.clone(), *port).await?;
        if found.is_empty() {
            return Err(std::io::Error::new(
                std::io::ErrorKind::NotFound,
                "the name has no address",
            ));
        }
        found.sort_unstable();
        found.dedup();
        let endpoints = found
            .into_iter()
            .map(|address| Endpoint::Tcp(address.to_string()));
        let copies: Vec<_> = endpoints
            .map(|endpoint| Weighted { endpoint, weight: 1 })
            .collect();
        self.replace(&copies);
        Ok(())
    }

    /// How many copies there are.
    pub(crate) fn copies(&self) -> usize {
        lock(&self.known).copies.len()
    }

    /// Copies that were there before keep their connections and their record.
    fn replace(&self, wanted: &[Weighted]) {
        let mut known = lock(&self.known);
        let before: HashMap<_, _> = known.copies.iter().map(|copy| (&copy.endpoint, copy)).collect();
        let opened = |copy: &Weighted| Copy::new(copy, self.calls_per_copy, (self.open)(&copy.endpoint));
        let known_or_new = |copy: &Weighted| {
            let known = before.get(&copy.endpoint);
            known.map_or_else(|| Arc::new(opened(copy)), |copy| Arc::clone(copy))
        };
        let copies: Vec<_> = wanted.iter().map(known_or_new).collect();
        let order = spread(&copies.iter().map(|copy| copy.weight).collect::<Vec<_>>());
        *known = Known {
            copies: Arc::new(copies),
            order: Arc::new(order),
            resolved_at: Some(Instant::now()),
        };
    }
}

/// Smooth weighted round robin, written down: with weights 3 and 1 the copies come as 0 0 1 0, not 0 0 0 1.
fn spread(weights: &[u32]) -> Vec<usize> {
    let total: i64 = weights.iter().copied().map(i64::from).sum();
    let mut credit = vec![0_i64; weights.len()];
    let next = |_| {
        credit
            .iter_mut()
            .zip(weights)
            .for_each(|(credit, weight)| *credit += i64::from(*weight));
        let (index, richest) = credit
            .iter_mut()
            .enumerate()
            .rev()
            .max_by_key(|(_, credit)| **credit)?;
        *richest -= total;
        Some(index)
    };
    (0..total).filter_map(next).collect()
}

fn resolve(host: String, port: u16) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> {
    Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
}

/// What is behind these locks is whole at every moment, also after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
