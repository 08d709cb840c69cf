//! The split is the monolith: every check, every answer, random programs, every read of one shared database.

use std::sync::Arc;

use conformance::checks;
use conformance::ctx::Run;
use conformance::report::{self, Tally};
use conformance::{explore, parity, reads, runner};
use tokio::runtime::Runtime;

use super::deployment::{Deployment, run};
use super::split::{Split, Transports};

/// A short budget: the random programs are played at length by hand.
const SEEDS: u64 = 2;
const STEPS: usize = 60;

#[test]
fn all_checks_pass_everywhere_with_equal_answers_and_random_programs_find_no_difference() {
    let runtime = Runtime::new().unwrap();
    let (monolith, http, grpc, mixed) = runtime.block_on(async {
        (
            Deployment::start().await,
            Split::start(Transports::Http).await,
            Split::start(Transports::Grpc).await,
            Split::start(Transports::Mixed).await,
        )
    });
    let runs = [run(&monolith.address, 7), http.run(7), grpc.run(7), mixed.run(7)];
    runtime.block_on(every_check(&runs));
    random_programs(&runtime, &runs);
}

async fn every_check(runs: &[Run]) {
    let (parity, verdicts) = parity::live(runs, checks::all(), |_, _| {}).await.unwrap();
    for (run, verdicts) in runs.iter().zip(&verdicts) {
        let tally = Tally::of(verdicts, 197);
        assert_eq!(
            tally.passed,
            197,
            "{}: {}",
            run.target,
            report::failures(verdicts)
        );
    }
    assert!(parity.differences.is_empty(), "{parity}");
    assert!(parity.answers > 4500, "{} answers", parity.answers);
}

/// On the full stores that the checks have left.
fn random_programs(runtime: &Runtime, runs: &[Run]) {
    for seed in 1..=SEEDS {
        let explored = explore::seed(runtime, runs, seed, STEPS, seed).unwrap();
        assert!(
            explored.difference.is_none(),
            "seed {seed}: {}",
            explored.difference.unwrap()
        );
        assert!(explored.answers > STEPS, "{} answers", explored.answers);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_database_reads_the_same_through_all() {
    let monolith = Deployment::start().await;
    let http = Split::on(Arc::clone(&monolith.database), Transports::Http);
    let grpc = Split::on(Arc::clone(&monolith.database), Transports::Grpc);
    let runs = [run(&monolith.address, 1), http.run(2), grpc.run(3)];
    for (run, areas) in runs
        .iter()
        .zip([["cmt", "feed"], ["fav", "list"], ["prof", "split"]])
    {
        let checks = checks::all()
            .into_iter()
            .filter(|check| areas.contains(&check.area()));
        let verdicts = runner::run_all(run, checks.collect(), 2, |_| {}).await;
        assert!(
            verdicts.iter().all(|verdict| verdict.outcome.is_ok()),
            "{}",
            report::failures(&verdicts)
        );
    }
    let reads = reads::compare(&runs, 150, |_| {}).await.unwrap();
    assert!(reads.differences.is_empty(), "{}", reads.differences[0]);
    assert!(reads.answers > 2000, "{} answers", reads.answers);
}
