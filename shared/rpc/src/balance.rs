//! Which copy of a peer takes the next call: the one rule for both transports.
//!
//! Copies take turns by weight. A copy that fails is left out for a second, doubling up to eight; when that time is over, one call
//! tries it and the others go on without it until the call has succeeded. When every copy is left out, none is.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::address::{Endpoint, PeerAddress, Source, Weighted};
use crate::error::CallError;

const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(8);
/// How long the addresses behind a name are good for.
const RESOLVED_FOR: Duration = Duration::from_secs(5);

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

/// One copy of a peer.
pub(crate) struct Copy<C> {
    endpoint: Endpoint,
    weight: u32,
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

    /// The copy whose turn it is.
    ///
    /// # Errors
    /// [`CallError::Unreachable`] when a name has never resolved.
    pub(crate) async fn pick(self: &Arc<Self>) -> Result<Pick<C>, CallError> {
        self.refresh().await?;
        let (copies, order) = {
            let known = lock(&self.known);
            (Arc::clone(&known.copies), Arc::clone(&known.order))
        };
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let in_turn = || (0..order.len()).filter_map(|step| order.get((turn + step) % order.len()));
        let mut candidates = in_turn().filter_map(|index| copies.get(*index));
        let now = Instant::now();
        let copy = candidates
            .clone()
            .find(|copy| copy.takes_calls(now))
            .or_else(|| candidates.next());
        let copy = copy.ok_or_else(|| CallError::unreachable("the peer has no address"))?;
        Ok(Pick {
            copy: Arc::clone(copy),
            since: None,
            patience: self.patience,
            judged: false,
        })
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
        let copies = found
            .into_iter()
            .map(|address| Endpoint::Tcp(address.to_string()));
        self.replace(
            &copies
                .map(|endpoint| Weighted { endpoint, weight: 1 })
                .collect::<Vec<_>>(),
        );
        Ok(())
    }

    /// Copies that were there before keep their connections and their record.
    fn replace(&self, wanted: &[Weighted]) {
        let mut known = lock(&self.known);
        let before: HashMap<_, _> = known.copies.iter().map(|copy| (&copy.endpoint, copy)).collect();
        let copies: Vec<_> = wanted
            .iter()
            .map(|copy| {
                before
                    .get(&copy.endpoint)
                    .map_or_else(|| self.opened(copy), |copy| Arc::clone(copy))
            })
            .collect();
        let order = spread(&copies.iter().map(|copy| copy.weight).collect::<Vec<_>>());
        *known = Known {
            copies: Arc::new(copies),
            order: Arc::new(order),
            resolved_at: Some(Instant::now()),
        };
    }

    fn opened(&self, copy: &Weighted) -> Arc<Copy<C>> {
        Arc::new(Copy {
            endpoint: copy.endpoint.clone(),
            weight: copy.weight,
            channel: (self.open)(&copy.endpoint),
            permits: Semaphore::new(self.calls_per_copy),
            health: Mutex::default(),
        })
    }
}

impl<C> Copy<C> {
    /// Whether the copy takes a call now. The one that tries a copy after its rest keeps the others away meanwhile.
    fn takes_calls(&self, now: Instant) -> bool {
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

    fn succeeded(&self) {
        let recovered = std::mem::take(&mut *lock(&self.health));
        if recovered.failures > 0 {
            tracing::info!(peer = %self.endpoint, "a copy answers again");
        }
    }

    fn failed(&self) {
        let mut health = lock(&self.health);
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
    judged: bool,
}

impl<C> Pick<C> {
    /// From now on the copy is being waited for (not for a permit).
    pub(crate) fn starts(&mut self) {
        self.since = Some(Instant::now());
    }

    /// The copy works.
    pub(crate) fn succeeded(mut self) {
        self.judged = true;
        self.copy.succeeded();
    }

    /// The copy does not.
    pub(crate) fn failed(mut self) {
        self.judged = true;
        self.copy.failed();
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
            self.copy.failed();
        }
    }
}

fn rest(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(8);
    (FIRST_REST * 2_u32.pow(doublings)).min(LONGEST_REST)
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(500);

    fn balance(address: &str) -> Arc<Balance<String>> {
        let address = address.parse().unwrap();
        Arc::new(Balance::new(&address, 4, PATIENCE, |endpoint| {
            Ok(endpoint.to_string())
        }))
    }

    async fn pick(balance: &Arc<Balance<String>>) -> (Pick<String>, String) {
        let pick = balance.pick().await.unwrap();
        let name = pick.copy.channel.clone().unwrap().replace("http://", "");
        (pick, name)
    }

    async fn served_by(balance: &Arc<Balance<String>>, calls: usize) -> BTreeMap<String, usize> {
        let mut served = BTreeMap::new();
        for _ in 0..calls {
            let (pick, name) = pick(balance).await;
            pick.succeeded();
            *served.entry(name).or_default() += 1;
        }
        served
    }

    async fn fail(balance: &Arc<Balance<String>>, copy: &str) {
        loop {
            let (pick, name) = pick(balance).await;
            if name == copy {
                return pick.failed();
            }
            pick.says_nothing();
        }
    }

    #[test]
    fn weights_are_spread_out() {
        assert_eq!(spread(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(spread(&[3, 1]), [0, 0, 1, 0]);
        assert_eq!(spread(&[1]), [0]);
        assert!(spread(&[]).is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn copies_take_turns_by_weight() {
        let balance = balance("http://a:1*3,http://b:1");
        assert_eq!(
            served_by(&balance, 40).await,
            [("a:1".into(), 30), ("b:1".into(), 10)].into()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_failing_copy_is_left_out_longer_each_time_and_used_again() {
        let balance = balance("http://a:1,http://b:1");
        for seconds in [1, 2, 4, 8, 8] {
            fail(&balance, "a:1").await;
            assert_eq!(served_by(&balance, 10).await, [("b:1".into(), 10)].into());
            tokio::time::advance(Duration::from_secs(seconds) - Duration::from_millis(1)).await;
            assert_eq!(served_by(&balance, 10).await, [("b:1".into(), 10)].into());
            tokio::time::advance(Duration::from_millis(1)).await;
        }
        assert_eq!(served_by(&balance, 10).await.len(), 2);
        fail(&balance, "a:1").await;
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(
            served_by(&balance, 10).await,
            [("a:1".into(), 5), ("b:1".into(), 5)].into()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_tries_a_copy_after_its_rest() {
        let balance = balance("http://a:1,http://b:1");
        fail(&balance, "a:1").await;
        tokio::time::advance(Duration::from_secs(1)).await;
        let mut trial = None;
        for _ in 0..10 {
            let (pick, name) = pick(&balance).await;
            if name == "a:1" {
                assert!(
                    trial.replace(pick).is_none(),
                    "a second call went to the copy on trial"
                );
            } else {
                pick.succeeded();
            }
        }
        trial.expect("the copy was never tried").succeeded();
        assert_eq!(served_by(&balance, 10).await.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_copies_fail_none_is_left_out() {
        let balance = balance("http://a:1,http://b:1");
        fail(&balance, "a:1").await;
        fail(&balance, "b:1").await;
        let (mut names, mut picks) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let (pick, name) = pick(&balance).await;
            names.push(name);
            picks.push(pick);
        }
        names.sort();
        assert_eq!(names, ["a:1", "b:1"]);
        picks.into_iter().for_each(Pick::says_nothing);
    }

    #[tokio::test(start_paused = true)]
    async fn a_copy_that_keeps_callers_waiting_is_left_out() {
        let balance = balance("http://a:1,http://b:1");
        let (mut impatient, _) = pick(&balance).await;
        impatient.starts();
        drop(impatient);
        let (mut waiting, name) = pick(&balance).await;
        assert_eq!(name, "b:1");
        waiting.starts();
        tokio::time::advance(PATIENCE).await;
        drop(waiting);
        assert_eq!(served_by(&balance, 10).await, [("a:1".into(), 10)].into());
    }

    type Answers = Arc<Mutex<Vec<std::io::Result<Vec<SocketAddr>>>>>;

    /// A name whose answers are given, first one last.
    fn named(answers: &Answers) -> Arc<Balance<String>> {
        let answers = Arc::clone(answers);
        let resolve = move |_, _| -> BoxFuture<'static, _> {
            let answer = lock(&answers).pop().expect("resolved too often");
            Box::pin(async { answer })
        };
        let address = "dns:users:1".parse().unwrap();
        let open = |endpoint: &Endpoint| Ok(endpoint.to_string());
        Arc::new(Balance::with_resolver(
            &address,
            4,
            PATIENCE,
            open,
            Box::new(resolve),
        ))
    }

    fn failure() -> std::io::Result<Vec<SocketAddr>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn addresses(ports: &[u16]) -> std::io::Result<Vec<SocketAddr>> {
        Ok(ports
            .iter()
            .map(|port| SocketAddr::from(([127, 0, 0, 1], *port)))
            .collect())
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_is_resolved_again_and_keeps_its_last_addresses() {
        let answers = Answers::new(Mutex::new(vec![
            failure(),
            addresses(&[2, 3]),
            addresses(&[1, 2]),
            failure(),
        ]));
        let balance = named(&answers);
        assert!(matches!(balance.pick().await, Err(CallError::Unreachable(_))));
        assert_eq!(
            served_by(&balance, 4).await,
            [("127.0.0.1:1".into(), 2), ("127.0.0.1:2".into(), 2)].into()
        );
        for expected in [["127.0.0.1:2", "127.0.0.1:3"], ["127.0.0.1:2", "127.0.0.1:3"]] {
            tokio::time::advance(RESOLVED_FOR).await;
            served_by(&balance, 1).await;
            tokio::task::yield_now().await;
            let served = served_by(&balance, 4).await;
            assert_eq!(served.keys().map(String::as_str).collect::<Vec<_>>(), expected);
        }
        assert!(lock(&answers).is_empty());
    }
}
