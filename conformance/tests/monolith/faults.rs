//! A sound monolith behind a proxy with one fault does not pass, and the failure says what is wrong.

use conformance::report::{self, Tally};
use conformance::{parity, runner};

use super::catalogue::area;
use super::deployment::{Deployment, run};
use super::proxy::{self, Fault};

async fn told(areas: &[&str], fault: Fault) -> (Tally, String) {
    let deployment = Deployment::start().await;
    let address = proxy::start(&deployment.address, fault).await;
    let checks: Vec<_> = areas.iter().flat_map(|name| area(name)).collect();
    let planned = checks.len();
    let verdicts = runner::run_all(&run(&address, 1), checks, 4, |_| {}).await;
    (Tally::of(&verdicts, planned), report::failures(&verdicts))
}

#[tokio::test]
async fn the_proxy_alone_breaks_nothing() {
    let (tally, failures) = told(&["prof", "cmt", "feed", "list"], Fault::None).await;
    assert_eq!((tally.failed, tally.untried), (0, 0), "{failures}");
}

#[tokio::test]
async fn a_dropped_header_fails_every_check() {
    let (tally, failures) = told(&["tag"], Fault::DropsHeader).await;
    assert_eq!(tally.passed, 0);
    assert!(
        failures.contains("the header `Access-Control-Allow-Origin: *` is missing"),
        "{failures}"
    );
    assert!(failures.contains("curl -i --path-as-is -X POST"), "{failures}");
}

#[tokio::test]
async fn swapped_members_are_seen() {
    let (tally, failures) = told(&["prof"], Fault::SwapsMembers).await;
    assert!(tally.failed > 5, "{failures}");
    let order = r#"["username", "image", "bio", "following"], not ["username", "bio", "image", "following"]"#;
    assert!(failures.contains(order), "{failures}");
}

#[tokio::test]
async fn a_list_that_is_off_by_one_is_seen() {
    let (tally, failures) = told(&["list"], Fault::OffByOne).await;
    assert!(tally.failed > 3, "{failures}");
    assert!(failures.contains("FAILED list-007"), "{failures}");
}

#[tokio::test]
async fn a_stale_name_is_seen() {
    let (_, failures) = told(&["split"], Fault::StaleName).await;
    assert!(failures.contains("FAILED split-002"), "{failures}");
    assert!(failures.contains("first difference at byte"), "{failures}");
}

#[tokio::test]
async fn parity_names_the_check_and_the_byte() {
    let (left, right) = (Deployment::start().await, Deployment::start().await);
    let spoiled = proxy::start(&right.address, Fault::SwapsMembers).await;
    let runs = [run(&left.address, 3), run(&spoiled, 3)];
    let (parity, _) = parity::live(&runs, area("prof"), |_, _| {}).await.unwrap();
    let text = parity.to_string();
    assert!(
        text.contains("DIFFERS prof-001") && text.contains("first difference at byte"),
        "{text}"
    );
}
