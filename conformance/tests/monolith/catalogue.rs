//! The 197 checks.

use conformance::checks::{self, Check};
use conformance::ctx::Run;
use conformance::report::{self, Tally};
use conformance::runner;

use super::deployment::{Deployment, run};

const JOBS: usize = 4;

pub(crate) fn area(name: &str) -> Vec<Check> {
    checks::all()
        .into_iter()
        .filter(|check| check.area() == name)
        .collect()
}

async fn passes_everything(run: &Run) {
    let checks = checks::all();
    let planned = checks.len();
    let verdicts = runner::run_all(run, checks, JOBS, |_| {}).await;
    let tally = Tally::of(&verdicts, planned);
    assert_eq!(
        tally,
        Tally {
            passed: 197,
            ..Tally::default()
        },
        "{}",
        report::failures(&verdicts)
    );
}

#[tokio::test]
async fn all_pass_on_an_empty_store_and_again_on_a_full_one() {
    let deployment = Deployment::start().await;
    passes_everything(&run(&deployment.address, 1)).await;
    passes_everything(&run(&deployment.address, 2)).await;
}

#[tokio::test]
async fn without_the_secret_forging_is_skipped_and_told() {
    let deployment = Deployment::start().await;
    let run = Run {
        secret: None,
        ..run(&deployment.address, 1)
    };
    let checks = area("auth");
    let planned = checks.len();
    let verdicts = runner::run_all(&run, checks, JOBS, |_| {}).await;
    let tally = Tally::of(&verdicts, planned);
    assert_eq!(
        (tally.failed, tally.skipped),
        (0, 4),
        "{}",
        report::failures(&verdicts)
    );
    assert!(!tally.is_good(false) && tally.is_good(true));
    assert!(report::failures(&verdicts).contains("skipped auth-028, auth-029, auth-030, auth-032"));
}
