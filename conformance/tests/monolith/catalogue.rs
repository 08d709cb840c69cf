//! The 197 checks.

use conformance::checks::{self, Check};
use conformance::ctx::Run;
use conformance::report::{self, Tally};
use conformance::runner;
use conformance::target::{RouteTable, Target};

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

/// Four processes on one database stand for the four services: what matters here is that each request finds its address.
#[tokio::test]
async fn addresses_per_service_are_one_deployment() {
    let users = Deployment::start().await;
    let more =
        ["profiles", "articles", "comments"].map(|name| (name, Deployment::on(users.database.clone())));
    let mut target = format!("users=http://{}", users.address);
    for (name, deployment) in &more {
        target.push_str(&format!(",{name}=http://{}", deployment.address));
    }
    let target = Target::parse(&target, &RouteTable::built_in().unwrap()).unwrap();
    let run = Run {
        target,
        ..run(&users.address, 1)
    };
    runner::probe(&run).await.unwrap();
    let checks = [area("http"), area("split")].concat();
    let planned = checks.len();
    let verdicts = runner::run_all(&run, checks, JOBS, |_| {}).await;
    assert_eq!(
        Tally::of(&verdicts, planned).passed,
        planned,
        "{}",
        report::failures(&verdicts)
    );
    let exchanges = || {
        verdicts
            .iter()
            .flat_map(|v| &v.steps)
            .flat_map(conformance::log::Step::exchanges)
    };
    for (part, deployment) in [("/comments", &more[2].1), ("/api/profiles/", &more[0].1)] {
        let mut asked = exchanges().filter(|e| e.request.target.contains(part));
        assert!(asked.all(|e| e.address == deployment.address), "{part}");
    }
    assert!(exchanges().any(|e| e.address == users.address));
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
