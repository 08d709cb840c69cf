//! Everything that is not a 2xx is told by its kind, and nothing is left out.

use bench::load::{Offered, Profile};
use bench::results::Counts;

use crate::target::{Manner, Target};
use crate::{run, spec};

const CLOSED: Offered = Offered::Closed { connections: 3 };

#[tokio::test]
async fn answers_are_counted_by_route_and_take_their_time() {
    let target = Target::start(Manner::Good).await;
    let outcome = run(1, &spec(&target.address, Profile::Read, CLOSED)).await;
    assert_eq!(outcome.counts.faults(), 0, "{:?}", outcome.counts);
    let recorded = outcome.latency.histogram().unwrap();
    assert_eq!(recorded.len(), outcome.counts.completed);
    let of_routes: u64 = outcome.routes.values().map(|route| route.counts.completed).sum();
    assert_eq!(of_routes, outcome.counts.completed);
    assert_eq!(target.all_asked(), outcome.counts.completed);
}

#[tokio::test]
async fn a_status_that_is_no_2xx_is_a_fault() {
    let target = Target::start(Manner::Unavailable).await;
    let outcome = run(1, &spec(&target.address, Profile::Tags, CLOSED)).await;
    assert_eq!(outcome.counts.completed, 0);
    assert!(outcome.counts.statuses[&503] > 0);
    assert_eq!(outcome.counts.faults(), outcome.counts.statuses[&503]);
    assert_eq!(outcome.latency.histogram().unwrap().len(), 0);
}

#[tokio::test]
async fn broken_connections_are_faults() {
    let target = Target::start(Manner::Rude).await;
    let outcome = run(1, &spec(&target.address, Profile::Tags, CLOSED)).await;
    let broken = Counts {
        broken: outcome.counts.broken,
        ..Counts::default()
    };
    assert!(broken.broken > 0);
    assert_eq!(outcome.counts, broken);
}

#[tokio::test]
async fn silence_is_a_time_out() {
    let target = Target::start(Manner::Silent).await;
    let mut spec = spec(&target.address, Profile::Tags, CLOSED);
    spec.timeout = 0.2;
    let outcome = run(1, &spec).await;
    assert!(outcome.counts.timeouts > 0);
    assert_eq!(outcome.counts.faults(), outcome.counts.timeouts);
    assert_eq!(outcome.counts.completed, 0);
}

/// All arrivals come, although nobody is answered: two are under way, two wait, the others are dropped.
#[tokio::test]
async fn arrivals_do_not_wait_for_answers() {
    let target = Target::start(Manner::Silent).await;
    let rate = Offered::Rate {
        per_second: 400.0,
        connections: 2,
    };
    let mut spec = spec(&target.address, Profile::Tags, rate);
    spec.timeout = 2.0;
    let outcome = run(1, &spec).await;
    // One more or less at the edges.
    assert!(
        outcome.counts.arrivals().abs_diff(200) <= 1,
        "{:?}",
        outcome.counts
    );
    assert_eq!(outcome.counts.completed, 0);
    assert!(outcome.counts.dropped > 0);
    assert_eq!(
        outcome.counts.dropped + outcome.counts.timeouts,
        outcome.counts.arrivals()
    );
}

#[tokio::test]
async fn what_was_written_is_taken_back() {
    let target = Target::start(Manner::Good).await;
    let outcome = run(1, &spec(&target.address, Profile::Write, CLOSED)).await;
    assert_eq!(outcome.counts.faults(), 0, "{:?}", outcome.counts);
    let asked = target.asked();
    let of = |method: &str, end: &str| -> u64 {
        let fits = |(asked, _): &(&String, &u64)| asked.starts_with(method) && asked.ends_with(end);
        asked.iter().filter(fits).map(|(_, count)| count).sum()
    };
    assert!(of("POST", "") > 0, "{asked:?}");
    for (write, back) in [
        (("POST", "/favorite"), ("DELETE", "/favorite")),
        (("POST", "/follow"), ("DELETE", "/follow")),
        (("POST", "/comments"), ("DELETE", "/comments/7")),
        (("POST", "/api/articles"), ("DELETE", "/api/articles/made")),
    ] {
        assert_eq!(of(write.0, write.1), of(back.0, back.1), "{write:?}");
    }
}

#[tokio::test]
async fn readers_browse() {
    let target = Target::start(Manner::Good).await;
    let readers = Offered::Users {
        users: 20,
        think: 0.02,
    };
    let outcome = run(1, &spec(&target.address, Profile::Browse, readers)).await;
    assert_eq!(outcome.counts.faults(), 0, "{:?}", outcome.counts);
    let asked = target.asked();
    let of = |path: &str| asked.get(&format!("GET {path}")).copied().unwrap_or(0);
    // Each opens what the one before has shown.
    let visits = [
        "/api/articles/feed",
        "/api/articles/fed",
        "/api/articles/fed/comments",
        "/api/profiles/cleo",
    ]
    .map(of);
    assert!(visits[0] > 0 && visits.is_sorted_by(|a, b| a >= b), "{asked:?}");
}
