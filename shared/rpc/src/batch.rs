//! Natural batching: while one look-up is under way, later ones queue; when it returns, all that queued leave as one.
//!
//! There is no timer and no waiting window, and a look-up never joins one that was sent before it came, so every caller reads
//! what was true after it asked. A look-up that finds nothing under way is made at once, by its caller, as it is; batches run
//! in a task of their own, so a caller that goes away strands nobody. When what is under way hangs (a frozen copy of a peer), those
//! who queue go without it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};
use tracing::{Instrument, Span};

use crate::deadline;
use crate::error::CallError;
use crate::limits::KEYS;
use crate::trace;

/// A look-up that takes this long no longer holds up the others.
const STUCK_AFTER: Duration = Duration::from_millis(250);

/// What was found, each with its key; what is missing is absent.
pub type Found<K, V> = Result<Vec<(K, V)>, CallError>;

type Look<K, V> = Box<dyn Fn(Vec<K>) -> BoxFuture<'static, Found<K, V>> + Send + Sync>;
type Joined = Box<dyn Fn(u64) + Send + Sync>;

/// Look-ups by key that may leave together, over a peer or over a store.
pub struct Batch<K, V>(Arc<Shared<K, V>>);

struct Shared<K, V> {
    look: Look<K, V>,
    joined: Joined,
    state: Mutex<State<K, V>>,
}

struct State<K, V> {
    under_way: bool,
    queue: VecDeque<Waiting<K, V>>,
    /// How many have queued since the start.
    queued: u64,
}

struct Waiting<K, V> {
    place: u64,
    keys: Vec<K>,
    deadline: Option<Instant>,
    span: Span,
    answer: oneshot::Sender<Found<K, V>>,
}

impl<K, V> fmt::Debug for Batch<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").finish_non_exhaustive()
    }
}

impl<K, V> Batch<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Batches this look-up. It gets distinct keys where several callers joined, and one caller's keys as they are where only one
    /// came (so a single key can take the cheaper statement); at most [`KEYS`], unless one caller alone has more.
    pub fn new<L, F>(look: L) -> Self
    where
        L: Fn(Vec<K>) -> F + Send + Sync + 'static,
        F: Future<Output = Found<K, V>> + Send + 'static,
    {
        Self::counted(look, |_| {})
    }

    /// As [`Self::new`]; `joined` is told how many callers left together, whenever it is more than one.
    pub fn counted<L, F>(look: L, joined: impl Fn(u64) + Send + Sync + 'static) -> Self
    where
        L: Fn(Vec<K>) -> F + Send + Sync + 'static,
        F: Future<Output = Found<K, V>> + Send + 'static,
    {
        let state = State {
            under_way: false,
            queue: VecDeque::new(),
            queued: 0,
        };
        Self(Arc::new(Shared {
            look: Box::new(move |keys| Box::pin(look(keys))),
            joined: Box::new(joined),
            state: Mutex::new(state),
        }))
    }

    /// What there is under these keys, and nothing under others.
    ///
    /// # Errors
    /// What the look-up says of these keys; [`CallError::TimedOut`] when the caller's [`deadline`] passes first.
    pub async fn find(&self, keys: Vec<K>) -> Found<K, V> {
        match self.turn() {
            Some(_turn) => Ok(own(keys.clone(), &by_key((self.0.look)(keys).await?))),
            None => self.join(keys).await,
        }
    }

    /// The right to make the only look-up under way, if there is none. Dropping it lets those go who queued meanwhile.
    pub(crate) fn turn(&self) -> Option<Turn<K, V>> {
        let mut state = self.0.state();
        if std::mem::replace(&mut state.under_way, true) {
            return None;
        }
        Some(Turn(Arc::clone(&self.0)))
    }

    /// Queues for the next batch.
    pub(crate) async fn join(&self, keys: Vec<K>) -> Found<K, V> {
        let deadline = deadline::current();
        let (place, mut answered) = self.0.queue(keys, deadline);
        // What was under way when the caller came may have returned since.
        drop(self.turn());
        let stuck_at = Instant::now() + STUCK_AFTER;
        let patient_until = deadline.map_or(stuck_at, |deadline| deadline.min(stuck_at));
        let answer = match timeout_at(patient_until, &mut answered).await {
            Ok(answer) => answer,
            Err(_) if deadline.is_some_and(|deadline| deadline <= stuck_at) => {
                return Err(CallError::TimedOut);
            }
            Err(_) => {
                Shared::overtake(&self.0, place);
                within(deadline, answered).await?
            }
        };
        answer.unwrap_or_else(|_| Err(CallError::failed("a batch ended without an answer")))
    }
}

async fn within<F: Future>(deadline: Option<Instant>, future: F) -> Result<F::Output, CallError> {
    match deadline {
        None => Ok(future.await),
        Some(at) => timeout_at(at, future).await.map_err(|_| CallError::TimedOut),
    }
}

/// Held by whoever looks something up.
pub(crate) struct Turn<K, V>(Arc<Shared<K, V>>)
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static;

impl<K, V> Drop for Turn<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn drop(&mut self) {
        let mut state = self.0.state();
        if !state.queue.is_empty()
            && let Ok(runtime) = Handle::try_current()
        {
            let shared = Arc::clone(&self.0);
            runtime.spawn(async move { Self(shared).answer_all().await });
            return;
        }
        // Without a runtime (the process ends) nobody is answered; dropping the queue tells them.
        state.queue.clear();
        state.under_way = false;
    }
}

impl<K, V> Turn<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    async fn answer_all(self) {
        loop {
            let batch = self.0.next();
            if batch.is_empty() {
                return;
            }
            self.0.answer(batch).await;
        }
    }
}

impl<K, V> Shared<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    fn queue(&self, keys: Vec<K>, deadline: Option<Instant>) -> (u64, oneshot::Receiver<Found<K, V>>) {
        let (answer, answered) = oneshot::channel();
        let mut state = self.state();
        state.queued += 1;
        let place = state.queued;
        state.queue.push_back(Waiting {
            place,
            keys,
            deadline,
            span: trace::current(),
            answer,
        });
        (place, answered)
    }

    /// What is under way is stuck. If the one at this place is still in the queue, the queue leaves beside it.
    fn overtake(shared: &Arc<Self>, place: u64) {
        if shared
            .state()
            .queue
            .front()
            .is_none_or(|first| first.place > place)
        {
            return;
        }
        // Taken at once, so that the next in the queue finds it gone.
        let batch = shared.next();
        if !batch.is_empty() {
            let shared = Arc::clone(shared);
            tokio::spawn(async move { shared.answer(batch).await });
        }
    }

    /// Those who leave now: from the front of the queue as many as fit, without those who have gone away.
    fn next(&self) -> Vec<Waiting<K, V>> {
        let mut state = self.state();
        let (mut batch, mut keys) = (Vec::new(), 0);
        while let Some(waiting) = state.queue.pop_front() {
            if waiting.answer.is_closed() {
                continue;
            }
            keys += waiting.keys.len();
            if keys > KEYS && !batch.is_empty() {
                state.queue.push_front(waiting);
                break;
            }
            batch.push(waiting);
        }
        batch
    }

    async fn answer(&self, batch: Vec<Waiting<K, V>>) {
        let batch = match <[_; 1]>::try_from(batch) {
            Ok([alone]) => return self.answer_alone(alone).await,
            Err(several) => several,
        };
        (self.joined)(batch.len() as u64);
        match self.look_for_all(&batch).await {
            Ok(found) => hand_out(batch, found),
            Err(error) if may_be_a_key(&error) => {
                join_all(batch.into_iter().map(|waiting| self.answer_alone(waiting))).await;
            }
            Err(error) => batch
                .into_iter()
                .for_each(|waiting| tell(waiting.answer, Err(error.clone()))),
        }
    }

    async fn look_for_all(&self, batch: &[Waiting<K, V>]) -> Found<K, V> {
        let distinct: HashSet<&K> = batch.iter().flat_map(|waiting| &waiting.keys).collect();
        let keys = distinct.into_iter().cloned().collect();
        // One caller without a deadline leaves the whole batch without.
        let deadlines: Option<Vec<Instant>> = batch.iter().map(|waiting| waiting.deadline).collect();
        let latest = deadlines.and_then(|deadlines| deadlines.into_iter().max());
        // One call can be part of one trace only: that of who queued first.
        let span = batch.first().map_or_else(Span::none, |first| first.span.clone());
        self.look_within(latest, keys).instrument(span).await
    }

    async fn answer_alone(&self, waiting: Waiting<K, V>) {
        let found = self
            .look_within(waiting.deadline, waiting.keys.clone())
            .instrument(waiting.span);
        let found = found.await;
        tell(
            waiting.answer,
            found.map(|found| own(waiting.keys, &by_key(found))),
        );
    }

    async fn look_within(&self, deadline: Option<Instant>, keys: Vec<K>) -> Found<K, V> {
        let look = (self.look)(keys);
        match deadline {
            Some(deadline) => deadline::scope(deadline, look).await,
            None => look.await,
        }
    }
}

impl<K, V> Shared<K, V> {
    fn state(&self) -> MutexGuard<'_, State<K, V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the fault may lie with one caller's key; then the others are asked for again without it. A peer that is down, slow or does
/// not know us would only be asked in vain once per caller.
fn may_be_a_key(error: &CallError) -> bool {
    match error {
        CallError::Nonsense(_) | CallError::Failed(_) => true,
        CallError::Unreachable(_) | CallError::TimedOut | CallError::Refused => false,
    }
}

fn hand_out<K: Clone + Eq + Hash, V: Clone>(batch: Vec<Waiting<K, V>>, found: Vec<(K, V)>) {
    let found = by_key(found);
    batch
        .into_iter()
        .for_each(|waiting| tell(waiting.answer, Ok(own(waiting.keys, &found))));
}

fn by_key<K: Eq + Hash, V>(found: Vec<(K, V)>) -> HashMap<K, V> {
    found.into_iter().collect()
}

/// What was found under these keys, each once.
fn own<K: Clone + Eq + Hash, V: Clone>(keys: Vec<K>, found: &HashMap<K, V>) -> Vec<(K, V)> {
    let distinct: HashSet<K> = keys.into_iter().collect();
    let found = distinct
        .into_iter()
        .filter_map(|key| found.get(&key).cloned().map(|value| (key, value)));
    found.collect()
}

fn tell<K, V>(waiting: oneshot::Sender<Found<K, V>>, answer: Found<K, V>) {
    // Whoever has gone away does not need it.
    let _gone = waiting.send(answer);
}
