//! Random programs: no difference between two monoliths, and a short program for every fault.

use std::sync::atomic::{AtomicU64, Ordering};

use conformance::ctx::Run;
use conformance::explore::{self, Explored};
use tokio::runtime::Runtime;

use super::deployment::{Deployment, run};
use super::proxy::{self, Fault};

/// Numbers that no exploration on the same stores had before.
static NONCE: AtomicU64 = AtomicU64::new(1);

fn explored(runtime: &Runtime, runs: &[Run], seed: u64) -> Explored {
    explore::seed(runtime, runs, seed, 300, NONCE.fetch_add(1, Ordering::Relaxed)).unwrap()
}

#[test]
fn two_monoliths_answer_random_programs_alike() {
    let runtime = Runtime::new().unwrap();
    let (left, right) = runtime.block_on(async { (Deployment::start().await, Deployment::start().await) });
    let runs = [run(&left.address, 1), run(&right.address, 1)];
    for seed in 1..=4 {
        let explored = explored(&runtime, &runs, seed);
        assert!(
            explored.difference.is_none(),
            "seed {seed}: {}",
            explored.difference.unwrap()
        );
        assert!(explored.answers > 600, "{} answers", explored.answers);
    }
}

#[test]
fn every_fault_is_found_and_shrunk_to_fewer_than_ten_steps() {
    let runtime = Runtime::new().unwrap();
    let (left, right) = runtime.block_on(async { (Deployment::start().await, Deployment::start().await) });
    for fault in [
        Fault::DropsHeader,
        Fault::SwapsMembers,
        Fault::OffByOne,
        Fault::StaleName,
    ] {
        let spoiled = runtime.block_on(proxy::start(&right.address, fault));
        let runs = [run(&left.address, 1), run(&spoiled, 1)];
        let found = (1..=8).find_map(|seed| explored(&runtime, &runs, seed).difference);
        let shrunk = found.unwrap_or_else(|| panic!("{fault:?} was not found"));
        assert!(shrunk.steps < 10, "{fault:?}: {shrunk}");
        assert!(shrunk.to_string().contains("curl -i"), "{shrunk}");
        assert!(shrunk.what.contains("first difference at byte"), "{shrunk}");
    }
}
