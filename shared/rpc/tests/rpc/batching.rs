//! What natural batching promises (performance page, rule 6), with look-ups that the test lets go one by one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use conduit_rpc::batch::Found;
use conduit_rpc::limits::KEYS;
use conduit_rpc::{Batch, CallError, deadline};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::in_time;

/// A look-up whose every call waits to be let go. It answers a key with the world's version at that moment.
struct Gate {
    batch: Arc<Batch<u32, u64>>,
    world: Arc<World>,
    sent: mpsc::UnboundedReceiver<Vec<u32>>,
}

struct World {
    version: Mutex<u64>,
    go: Semaphore,
    error: fn(&[u32]) -> Option<CallError>,
}

fn gate(error: fn(&[u32]) -> Option<CallError>) -> Gate {
    let world = Arc::new(World {
        version: Mutex::new(1),
        go: Semaphore::new(0),
        error,
    });
    let (note, sent) = mpsc::unbounded_channel();
    let looking = Arc::clone(&world);
    let batch = Batch::new(move |mut keys: Vec<u32>| {
        let world = Arc::clone(&looking);
        let version = *world.version.lock().unwrap();
        keys.sort_unstable();
        note.send(keys.clone()).unwrap();
        async move {
            world.go.acquire().await.unwrap().forget();
            assert!(!keys.contains(&PANIC), "a key that breaks the look-up");
            match (world.error)(&keys) {
                Some(error) => Err(error),
                None => Ok(keys
                    .into_iter()
                    .filter(|key| *key != MISSING)
                    .map(|key| (key, version))
                    .collect()),
            }
        }
    });
    Gate {
        batch: Arc::new(batch),
        world,
        sent,
    }
}

const MISSING: u32 = 404;
const BAD: u32 = 666;
const PANIC: u32 = 999;

fn no_error(_: &[u32]) -> Option<CallError> {
    None
}

impl Gate {
    /// A caller in a task of its own that has come as far as it can.
    async fn caller(&self, keys: &[u32]) -> JoinHandle<Found<u32, u64>> {
        let (batch, keys) = (Arc::clone(&self.batch), keys.to_vec());
        let caller = tokio::spawn(async move { batch.find(keys).await });
        tokio::task::yield_now().await;
        caller
    }

    async fn sent(&mut self) -> Vec<u32> {
        in_time(self.sent.recv()).await.unwrap()
    }

    fn let_go(&self, calls: usize) {
        self.world.go.add_permits(calls);
    }
}

async fn found(caller: JoinHandle<Found<u32, u64>>) -> Vec<(u32, u64)> {
    let mut found = in_time(caller).await.unwrap().unwrap();
    found.sort_unstable();
    found
}

#[tokio::test]
async fn those_who_queue_leave_as_one_with_each_key_once() {
    let mut gate = gate(no_error);
    let first = gate.caller(&[1]).await;
    let (second, third, fourth) = (
        gate.caller(&[2, 3]).await,
        gate.caller(&[3, 4, 4]).await,
        gate.caller(&[MISSING]).await,
    );
    assert_eq!(gate.sent().await, [1]);
    gate.let_go(2);
    assert_eq!(gate.sent().await, [2, 3, 4, MISSING]);
    assert_eq!(found(first).await, [(1, 1)]);
    assert_eq!(found(second).await, [(2, 1), (3, 1)]);
    assert_eq!(found(third).await, [(3, 1), (4, 1)]);
    assert_eq!(found(fourth).await, []);
    assert!(gate.sent.try_recv().is_err(), "a call too many");
}

#[tokio::test]
async fn nobody_joins_a_look_up_that_was_sent_before() {
    let mut gate = gate(no_error);
    let before = gate.caller(&[1]).await;
    assert_eq!(gate.sent().await, [1]);
    *gate.world.version.lock().unwrap() = 2;
    let after = gate.caller(&[1]).await;
    gate.let_go(1);
    assert_eq!(gate.sent().await, [1]);
    *gate.world.version.lock().unwrap() = 3;
    let later = gate.caller(&[1]).await;
    gate.let_go(2);
    assert_eq!(found(before).await, [(1, 1)]);
    assert_eq!(found(after).await, [(1, 2)]);
    assert_eq!(found(later).await, [(1, 3)]);
}

#[tokio::test]
async fn a_caller_that_goes_away_strands_nobody() {
    let mut gate = gate(no_error);
    let leader = gate.caller(&[1]).await;
    let (gone, staying) = (gate.caller(&[2]).await, gate.caller(&[3]).await);
    assert_eq!(gate.sent().await, [1]);
    gone.abort();
    assert!(in_time(gone).await.unwrap_err().is_cancelled());
    leader.abort();
    assert!(in_time(leader).await.unwrap_err().is_cancelled());
    assert_eq!(gate.sent().await, [3], "only who is still there is asked for");
    let next = gate.caller(&[4]).await;
    gate.let_go(2);
    assert_eq!(found(staying).await, [(3, 1)]);
    assert_eq!(found(next).await, [(4, 1)]);
    // And nothing is left behind: the next caller goes at once.
    let last = gate.caller(&[5]).await;
    gate.let_go(1);
    assert_eq!(found(last).await, [(5, 1)]);
}

#[tokio::test]
async fn a_caller_of_a_batch_that_was_sent_may_go_away() {
    let mut gate = gate(no_error);
    let leader = gate.caller(&[1]).await;
    let (gone, staying) = (gate.caller(&[2]).await, gate.caller(&[3]).await);
    gate.let_go(1);
    assert_eq!(gate.sent().await, [1]);
    assert_eq!(gate.sent().await, [2, 3]);
    gone.abort();
    gate.let_go(1);
    assert_eq!(found(leader).await, [(1, 1)]);
    assert_eq!(found(staying).await, [(3, 1)]);
}

#[tokio::test]
async fn one_bad_key_fails_its_own_caller_only() {
    let mut gate = gate(|keys| keys.contains(&BAD).then(|| CallError::failed("bad key")));
    let leader = gate.caller(&[1]).await;
    let (good, bad, fine) = (
        gate.caller(&[2]).await,
        gate.caller(&[3, BAD]).await,
        gate.caller(&[4]).await,
    );
    gate.let_go(5);
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.push(gate.sent().await);
    }
    sent.sort();
    assert_eq!(
        sent,
        [vec![1], vec![2], vec![2, 3, 4, BAD], vec![3, BAD], vec![4]]
    );
    assert_eq!(found(leader).await, [(1, 1)]);
    assert_eq!(found(good).await, [(2, 1)]);
    assert!(matches!(in_time(bad).await.unwrap(), Err(CallError::Failed(_))));
    assert_eq!(found(fine).await, [(4, 1)]);
}

#[tokio::test]
async fn a_peer_that_is_down_is_not_asked_again_for_every_caller() {
    let mut gate = gate(|_| Some(CallError::unreachable("down")));
    let leader = gate.caller(&[1]).await;
    let others = [gate.caller(&[2]).await, gate.caller(&[3]).await];
    gate.let_go(2);
    assert!(matches!(
        in_time(leader).await.unwrap(),
        Err(CallError::Unreachable(_))
    ));
    for other in others {
        assert!(matches!(
            in_time(other).await.unwrap(),
            Err(CallError::Unreachable(_))
        ));
    }
    assert_eq!((gate.sent().await, gate.sent().await), (vec![1], vec![2, 3]));
    assert!(gate.sent.try_recv().is_err(), "a call too many");
}

#[tokio::test]
async fn a_look_up_that_panics_ends_with_an_error_and_the_next_goes_on() {
    let mut gate = gate(no_error);
    let leader = gate.caller(&[1]).await;
    let broken = gate.caller(&[PANIC]).await;
    gate.let_go(1);
    assert_eq!(found(leader).await, [(1, 1)]);
    assert_eq!((gate.sent().await, gate.sent().await), (vec![1], vec![PANIC]));
    let next = gate.caller(&[2]).await;
    gate.let_go(2);
    assert!(matches!(
        in_time(broken).await.unwrap(),
        Err(CallError::Failed(_))
    ));
    assert_eq!(found(next).await, [(2, 1)]);
}

#[tokio::test]
async fn a_batch_has_at_most_as_many_keys_as_a_call() {
    let mut gate = gate(no_error);
    let leader = gate.caller(&[0]).await;
    let keys = |from: u32| (from..from + KEYS as u32 / 2).collect::<Vec<_>>();
    let callers = [
        gate.caller(&keys(1_000)).await,
        gate.caller(&keys(2_000)).await,
        gate.caller(&keys(3_000)).await,
        gate.caller(&(4_000..4_000 + 2 * KEYS as u32).collect::<Vec<_>>())
            .await,
    ];
    gate.let_go(4);
    let mut sizes = Vec::new();
    for _ in 0..4 {
        sizes.push(gate.sent().await.len());
    }
    assert_eq!(sizes, [1, KEYS, KEYS / 2, 2 * KEYS]);
    assert_eq!(found(leader).await, [(0, 1)]);
    for (caller, size) in callers.into_iter().zip([KEYS / 2, KEYS / 2, KEYS / 2, 2 * KEYS]) {
        assert_eq!(found(caller).await.len(), size);
    }
}

/// Answers with the deadline that the look-up was under.
fn deadlines() -> (Arc<Batch<u32, Option<Instant>>>, Arc<Semaphore>) {
    let go = Arc::new(Semaphore::new(0));
    let looking = Arc::clone(&go);
    let batch = Batch::new(move |keys: Vec<u32>| {
        let go = Arc::clone(&looking);
        async move {
            let deadline = deadline::current();
            go.acquire().await.unwrap().forget();
            Ok(keys.into_iter().map(|key| (key, deadline)).collect())
        }
    });
    (Arc::new(batch), go)
}

#[tokio::test(start_paused = true)]
async fn a_batch_lives_as_long_as_the_most_patient_of_its_callers() {
    let now = Instant::now();
    let at = |seconds| now + Duration::from_secs(seconds);
    for (callers, expected) in [
        (vec![Some(at(1)), Some(at(3)), Some(at(2))], Some(at(3))),
        (vec![Some(at(1)), None], None),
        (vec![Some(at(1))], Some(at(1))),
    ] {
        let (batch, go) = deadlines();
        let leading = Arc::clone(&batch);
        let leader = tokio::spawn(async move { leading.find(vec![0]).await });
        tokio::task::yield_now().await;
        let callers = callers.into_iter().map(|deadline| {
            let batch = Arc::clone(&batch);
            async move {
                match deadline {
                    Some(at) => deadline::scope(at, batch.find(vec![1])).await,
                    None => batch.find(vec![1]).await,
                }
            }
        });
        let callers = tokio::spawn(futures_util::future::join_all(callers));
        tokio::task::yield_now().await;
        go.add_permits(2);
        assert_eq!(leader.await.unwrap().unwrap(), [(0, None)]);
        for answer in callers.await.unwrap() {
            assert_eq!(answer.unwrap(), [(1, expected)]);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_impatient_caller_does_not_wait_for_the_others() {
    let (batch, go) = deadlines();
    let leading = Arc::clone(&batch);
    let leader = tokio::spawn(async move { leading.find(vec![0]).await });
    tokio::task::yield_now().await;
    let soon = Instant::now() + Duration::from_secs(1);
    let impatient = deadline::scope(soon, batch.find(vec![1])).await;
    assert!(matches!(impatient, Err(CallError::TimedOut)));
    assert_eq!(Instant::now(), soon);
    go.add_permits(1);
    assert!(leader.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_hangs_does_not_hold_up_those_who_queue() {
    let mut gate = gate(no_error);
    let hanging = gate.caller(&[1]).await;
    let (second, third) = (gate.caller(&[2]).await, gate.caller(&[3]).await);
    assert_eq!(gate.sent().await, [1]);
    // Time passes on its own here: both leave together beside the first, and hang, too.
    assert_eq!(gate.sent().await, [2, 3]);
    let fourth = gate.caller(&[4]).await;
    assert_eq!(gate.sent().await, [4]);
    gate.let_go(3);
    assert_eq!(found(hanging).await, [(1, 1)]);
    assert_eq!(found(second).await, [(2, 1)]);
    assert_eq!(found(third).await, [(3, 1)]);
    assert_eq!(found(fourth).await, [(4, 1)]);
    assert!(gate.sent.try_recv().is_err(), "a call too many");
}
