//! Every layout answers as the contract says, behind nginx and without.

use std::collections::BTreeSet;

use conduit_testkit::{TestDatabase, skip};
use conformance::arrange::article_path;
use conformance::checks;
use conformance::ctx::Ctx;
use conformance::report::{self, Tally};
use conformance::runner;
use stack::{DatabaseChoice, Layout, Network, ProxyChoice, Stack};

use crate::support::{folder, get, has_nginx, logged, options, run, up};

/// The checks of what a proxy could spoil, and of what the services must agree on.
async fn smoke(stack: &Stack) {
    let run = run(stack);
    runner::probe(&run).await.unwrap();
    let mut checks = checks::all();
    checks.retain(|check| matches!(check.area(), "http" | "split"));
    let planned = checks.len();
    let verdicts = runner::run_all(&run, checks, 2, |_| {}).await;
    let expected = Tally {
        passed: planned,
        ..Tally::default()
    };
    assert_eq!(
        Tally::of(&verdicts, planned),
        expected,
        "{}\n{}",
        report::failures(&verdicts),
        logged(stack)
    );
    assert!(planned >= 35, "{planned}");
}

#[tokio::test]
async fn split_http_behind_nginx() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let stack = up(Layout::SplitHttp, &options(&folder)).await;
    assert!(stack.address().starts_with("http://127.0.0.1:"));
    smoke(&stack).await;
    stack.down().await.unwrap();
}

#[tokio::test]
async fn split_http_without_a_proxy_and_without_batching() {
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    options.batching = false;
    let stack = up(Layout::SplitHttp, &options).await;
    assert!(stack.address().starts_with("users=http://127.0.0.1:"));
    smoke(&stack).await;
    stack.down().await.unwrap();
}

#[tokio::test]
async fn split_grpc_over_unix_sockets() {
    let folder = folder();
    let mut options = options(&folder);
    options.unix_sockets = true;
    let stack = up(Layout::SplitGrpc, &options).await;
    let users = stack.services().remove(0);
    assert!(users.internal_grpc.unwrap().starts_with("unix:/"));
    smoke(&stack).await;
    stack.down().await.unwrap();
}

#[tokio::test]
async fn split_grpc_in_boxes() {
    if let Some(missing) = Network::missing() {
        return skip(&format!("{missing}; so no process gets a box"));
    }
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    options.boxes = true;
    let stack = up(Layout::SplitGrpc, &options).await;
    let public: BTreeSet<_> = stack
        .services()
        .into_iter()
        .map(|service| service.public)
        .collect();
    assert_eq!(public.len(), 4);
    assert!(
        public
            .iter()
            .all(|url| url.starts_with("http://198.") && url.ends_with(":3000")),
        "{public:?}"
    );
    smoke(&stack).await;
    stack.down().await.unwrap();
}

#[tokio::test]
async fn a_database_that_no_box_reaches_is_refused() {
    if let Some(missing) = Network::missing() {
        return skip(&format!("{missing}; so no process gets a box"));
    }
    let folder = folder();
    let mut options = options(&folder);
    options.boxes = true;
    options.database = DatabaseChoice::Given("postgres://u:p@127.0.0.1:1/d".parse().unwrap());
    let told = Stack::up(Layout::Monolith, &options)
        .await
        .unwrap_err()
        .to_string();
    assert!(told.contains("over a Unix socket only"), "{told}");
}

#[tokio::test]
async fn split_mixed_without_a_proxy() {
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    let stack = up(Layout::SplitMixed, &options).await;
    smoke(&stack).await;
    stack.down().await.unwrap();
}

#[tokio::test]
async fn split_rebalanced_grpc_goes_on_without_its_second_copy() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let stack = up(Layout::SplitRebalancedGrpc, &options(&folder)).await;
    smoke(&stack).await;
    let second = stack
        .services()
        .into_iter()
        .find(|service| service.name == "articles-2")
        .unwrap();
    let (_, metrics) = get(&format!("{}/metrics", second.operations));
    assert!(
        metrics.contains("/api/articles"),
        "the second copy was asked nothing: {metrics}"
    );
    goes_on_without_its_second_copy(stack).await;
}

#[tokio::test]
async fn split_rebalanced_http_goes_on_without_its_second_copy() {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    goes_on_without_its_second_copy(up(Layout::SplitRebalancedHttp, &options(&folder)).await).await;
}

/// Neither the proxy's requests nor the calls of comments, which go to both copies, are lost with one of them (reported fault B110).
async fn goes_on_without_its_second_copy(mut stack: Stack) {
    let ctx = Ctx::new(&run(&stack), "copies");
    let ann = ctx.register().await.unwrap();
    let slug = ctx.publish(&ann, &[]).await.unwrap().slug;
    let comments = format!("{}{}/comments", stack.address(), article_path(&slug));
    let articles = format!("{}/api/articles", stack.address());
    // Both copies have connections that will break.
    for _ in 0..8 {
        assert_eq!(get(&comments).0, 200);
    }
    stack.kill_service("articles-2").unwrap();
    for _ in 0..20 {
        assert_eq!((get(&articles).0, get(&comments).0), (200, 200));
    }
    stack.down().await.unwrap();
}

#[tokio::test]
async fn copies_without_a_proxy_are_refused() {
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    for layout in [Layout::MonolithX4, Layout::SplitRebalancedHttp] {
        let told = Stack::up(layout, &options).await.unwrap_err().to_string();
        assert!(told.contains("needs nginx"), "{told}");
    }
}

#[tokio::test]
async fn a_given_database_is_used_and_its_roles_keep_their_passwords() {
    let database = TestDatabase::without_shared_keys().await;
    let folder = folder();
    let mut options = options(&folder);
    options.proxy = ProxyChoice::Without;
    options.database = DatabaseChoice::Given(database.admin_url().clone());
    let mut stack = up(Layout::SplitHttp, &options).await;
    assert_eq!(stack.database_pid(), None);
    smoke(&stack).await;
    assert!(stack.ended().is_empty());
    stack.down().await.unwrap();
    // The passwords that the test's own pools log in with still open the door.
    for owner in ["users", "profiles", "articles", "comments"] {
        assert!(database.db(owner).ready().await, "{owner}");
    }
}
