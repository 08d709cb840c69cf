//! A slowed target is told apart from two equal ones, and these are not told apart from each other.

use bench::load::{Offered, Profile};
use bench::stats::{Comparison, Verdict};

use crate::target::{Manner, Target};
use crate::{run, spec};

/// Work for each answer, in three repetitions, each with chance of its own.
async fn costs(target: &Target) -> Vec<f64> {
    let mut costs = Vec::new();
    for seed in 1..=3 {
        let mut spec = spec(&target.address, Profile::List, Offered::Closed { connections: 4 });
        spec.seed = seed;
        let (work, asked) = (target.work(), target.all_asked());
        let outcome = run(1, &spec).await;
        assert_eq!(outcome.counts.faults(), 0, "{:?}", outcome.counts);
        costs.push((target.work() - work) as f64 / (target.all_asked() - asked) as f64);
    }
    costs
}

#[tokio::test]
async fn a_slowed_target_is_told_apart_and_equal_ones_are_a_tie() {
    let one = costs(&Target::start(Manner::Good).await).await;
    let same = costs(&Target::start(Manner::Good).await).await;
    let slowed = costs(&Target::slowed(Manner::Good, 2).await).await;
    let against = |first: &[f64], second: &[f64]| {
        let pairs: Vec<_> = first.iter().copied().zip(second.iter().copied()).collect();
        Comparison::of(&pairs).unwrap().verdict
    };
    assert_eq!(against(&one, &same), Verdict::Tie, "{one:?} {same:?}");
    assert_eq!(against(&slowed, &one), Verdict::More, "{slowed:?} {one:?}");
    assert_eq!(against(&one, &slowed), Verdict::Less);
}
