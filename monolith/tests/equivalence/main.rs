//! The proof that the two builds read alike: every read port, once by joins and once composed of what four services know, over the
//! same random rows in one database, must give equal values to every viewer.
//!
//! The services stand side by side in this process, each with its own role and its own tables; their peers are called directly.
//! What transports do to a call is tested where they are.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod builds;
mod questions;
mod world;

use conduit_rpc::CallSettings;
use futures_util::stream::{self, StreamExt};

use crate::builds::{Answer, Build};
use crate::questions::Question;
use crate::world::World;

/// As many requests at the same time as it takes for their look-ups to queue.
const CROWD: usize = 16;

/// Two of every kind.
const CHANGES: usize = 20;

/// How many answers had something in them.
async fn assert_equal(joined: &Build, composed: &Build, questions: Vec<Question>, at_once: usize) -> usize {
    stream::iter(questions)
        .map(|question| async move {
            let (expected, answer) = (joined.answer(&question).await, composed.answer(&question).await);
            assert_eq!(answer, expected, "{question:?}");
            usize::from(!expected.is_empty())
        })
        .buffer_unordered(at_once)
        .fold(0, async |sum, one| sum + one)
        .await
}

fn calls(batching: bool) -> CallSettings {
    CallSettings {
        batching,
        ..CallSettings::new("not sent anywhere".into())
    }
}

/// Compares a world, changes it, and compares it again. Whoever has answered is asked again, so that nothing may be remembered.
async fn compare(seed: u64, accounts: usize, articles: usize, batching: bool) -> usize {
    let mut world = World::random(seed, accounts, articles).await;
    let calls = calls(batching);
    let (joined, composed) = (
        Build::joined(&world.database),
        Build::composed(&world.database, &calls),
    );
    let at_once = if batching { CROWD } else { 1 };
    let before = assert_equal(&joined, &composed, world.questions(), at_once).await;
    for _ in 0..CHANGES {
        world.change().await;
    }
    let after = assert_equal(&joined, &composed, world.questions(), at_once).await;
    for peer in ["users", "profiles", "articles"] {
        assert_eq!(calls.counts.joined(peer) > 0, batching, "{peer}");
    }
    before.min(after)
}

#[tokio::test]
async fn both_builds_read_a_small_world_alike() {
    let answers = compare(1, 5, 12, false).await;
    assert!(answers > 250, "{answers}");
}

#[tokio::test]
async fn both_builds_read_a_larger_world_alike() {
    let answers = compare(2, 9, 60, false).await;
    assert!(answers > 500, "{answers}");
}

#[tokio::test]
async fn both_builds_read_alike_for_a_crowd_whose_look_ups_leave_together() {
    let answers = compare(3, 8, 40, true).await;
    assert!(answers > 400, "{answers}");
}

#[tokio::test]
async fn both_builds_read_nearly_nothing_alike() {
    compare(4, 1, 2, false).await;
    compare(5, 3, 0, false).await;
}

#[tokio::test]
async fn a_difference_would_be_seen() {
    let mut world = World::random(6, 5, 12).await;
    let other = World::random(7, 5, 12).await;
    let (here, there) = (
        Build::joined(&world.database),
        Build::composed(&other.database, &calls(false)),
    );
    let mut differing = 0;
    for question in world.questions() {
        differing += usize::from(here.answer(&question).await != there.answer(&question).await);
    }
    assert!(differing > 300, "{differing}");
    assert!(matches!(
        here.answer(&Question::Author(world::NOBODY)).await,
        Answer::CallerGone
    ));
}
