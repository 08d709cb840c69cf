//! Services that are paused, killed, or not yet there: whoever needs them says so in the contract's words, all others go on, and
//! nobody has to be restarted but they. (Peers that are slow or somebody else: the tests of `conformance`.)

use conduit_testkit::TestDatabase;
use stack::{DatabaseChoice, Layout, Options, ProxyChoice, Stack};
use tempfile::TempDir;

use crate::needs::{UNAVAILABLE, without};
use crate::support::{folder, get, has_nginx, options, run, up};
use crate::table;
use crate::world::World;

/// The services that others ask.
const ASKED: [&str; 3] = ["users", "profiles", "articles"];

/// Without a proxy, whose own words for a service that is gone are tested elsewhere.
fn on(database: &TestDatabase, folder: &TempDir) -> Options {
    let mut options = options(folder);
    options.proxy = ProxyChoice::Without;
    options.database = DatabaseChoice::Given(database.admin_url().clone());
    options
}

#[tokio::test]
async fn over_http_a_paused_or_killed_service_stops_only_whoever_needs_it() {
    paused_and_killed(Layout::SplitHttp).await;
}

#[tokio::test]
async fn over_grpc_a_paused_or_killed_service_stops_only_whoever_needs_it() {
    paused_and_killed(Layout::SplitGrpc).await;
}

async fn paused_and_killed(layout: Layout) {
    let (folder, rows) = (folder(), table::rows());
    let database = TestDatabase::without_shared_keys().await;
    let mut stack = up(layout, &on(&database, &folder)).await;
    let mut world = World::make(&run(&stack)).await;
    for name in ASKED {
        stack.pause(name).unwrap();
        let refused = without(name, &database, &mut world, &rows).await;
        stack.resume(name).unwrap();
        for asked in &refused {
            asked.recovers(&world).await;
        }
        stack.kill_service(name).unwrap();
        let refused = without(name, &database, &mut world, &rows).await;
        stack.start_service(name).await.unwrap();
        for asked in &refused {
            asked.recovers(&world).await;
        }
    }
    assert!(stack.ended().is_empty());
    stack.down().await.unwrap();
}

#[tokio::test]
async fn services_over_http_may_start_before_those_that_they_ask() {
    in_reverse_order(Layout::SplitHttp).await;
}

#[tokio::test]
async fn services_over_grpc_may_start_before_those_that_they_ask() {
    in_reverse_order(Layout::SplitGrpc).await;
}

/// The proxy first and the users last, as reported fault B118 has it.
async fn in_reverse_order(layout: Layout) {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let mut stack = up(layout, &options(&folder)).await;
    for name in ["users", "profiles", "articles", "comments"] {
        stack.stop_service(name).await.unwrap();
    }
    let address = stack.address().to_owned();
    let unavailable = (503, UNAVAILABLE.to_owned());
    for path in [
        "/readyz",
        "/api/tags",
        "/api/articles/x/comments",
        "/api/profiles/x",
    ] {
        assert_eq!(get(&format!("{address}{path}")), unavailable, "{path}");
    }
    stack.start_service("comments").await.unwrap();
    let first = pid(&stack, "comments");
    let comments = public(&stack, "comments");
    for name in ["articles", "profiles", "users"] {
        // More often than a copy of a peer is forgiven at once.
        for _ in 0..5 {
            let (status, body) = get(&format!("{address}/readyz"));
            assert_eq!((status, body.as_str()), (503, r#"{"status":"unavailable"}"#));
            assert_eq!(get(&format!("{comments}/healthz")).0, 200);
        }
        if name == "articles" {
            assert_eq!(get(&format!("{address}/api/articles/x/comments")), unavailable);
        }
        stack.start_service(name).await.unwrap();
    }
    while get(&format!("{address}/readyz")).0 != 200 {}
    assert_eq!(get(&format!("{address}/api/articles/x/comments")).0, 404);
    assert_eq!(pid(&stack, "comments"), first);
    assert!(stack.ended().is_empty());
    stack.down().await.unwrap();
}

fn pid(stack: &Stack, name: &str) -> Option<u32> {
    let mut services = stack.services().into_iter();
    services.find(|service| service.name == name).unwrap().pid
}

fn public(stack: &Stack, name: &str) -> String {
    let mut services = stack.services().into_iter();
    services.find(|service| service.name == name).unwrap().public
}
