//! Every route makes the calls that the table says, and needs exactly the services that it calls.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use conduit_testkit::TestDatabase;
use conformance::http::{Request, Response};
use conformance::target::RouteTable;

use super::split::{SERVICES, Split, Transports};
use super::table::{self, Calls, Row};
use super::world::World;

/// All routes of the contract, two filters, and readiness.
const ROUTES: usize = 22;
const UNAVAILABLE: &str = r#"{"errors":{"server":["is unavailable"]}}"#;
/// Against tests that hang: a peer is tried again after seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// What requests add to and take from, here in one row each.
const COUNTED: &str = "select count(*) from users.accounts union all select count(*) from profiles.follows \
     union all select count(*) from articles.articles union all select count(*) from articles.favorites \
     union all select count(*) from comments.comments";

#[tokio::test(flavor = "multi_thread")]
async fn over_http_the_table_is_true_and_a_stopped_service_stops_nothing_else() {
    the_table_is_true(Transports::Http).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_the_table_is_true_and_a_stopped_service_stops_nothing_else() {
    the_table_is_true(Transports::Grpc).await;
}

async fn the_table_is_true(transports: Transports) {
    let rows = table::rows();
    let routes: BTreeSet<&str> = rows.iter().map(|row| row.route.as_str()).collect();
    assert_eq!(routes.len(), ROUTES, "{routes:?}");
    let mut split = Split::start(transports).await;
    let mut world = World::make(&split.run(1)).await;
    calls_are_as_planned(&split, &mut world, &rows).await;
    for stopped in SERVICES {
        split.stop(stopped);
        let refused = without(stopped, &split.database, &mut world, &rows).await;
        assert_eq!(refused.is_empty(), stopped == "comments", "nobody calls comments");
        split.start_again(stopped);
        for (what, request) in refused {
            recovers(&world, &what, request).await;
        }
    }
    calls_are_as_planned(&split, &mut world, &rows).await;
}

async fn calls_are_as_planned(split: &Split, world: &mut World, rows: &[Row]) {
    for row in rows {
        for (who, planned) in row.calls.iter().enumerate() {
            let before = split.calls();
            let request = world.request(&row.route, who);
            let answer = world.ask(request).await;
            let after = split.calls();
            let made: Calls = after
                .into_iter()
                .map(|(name, calls)| (name.clone(), calls - before[&name]))
                .filter(|(_, calls)| *calls > 0)
                .collect();
            assert_eq!(
                &made,
                planned.as_ref().unwrap_or(&Calls::new()),
                "{}, viewer {who}",
                row.route
            );
            as_usual(&row.route, planned.as_ref(), &answer);
        }
    }
}

/// Asks everything that another service answers. Returns what was refused, to be asked again.
async fn without(
    stopped: &str,
    database: &TestDatabase,
    world: &mut World,
    rows: &[Row],
) -> Vec<(String, Request)> {
    let table = RouteTable::built_in().unwrap();
    let mut session = database.session().await;
    let mut refused = Vec::new();
    for row in rows {
        for (who, planned) in row.calls.iter().enumerate() {
            let request = world.request(&row.route, who);
            if table.service(&request.target) == stopped {
                continue;
            }
            let what = format!("{}, viewer {who}, without {stopped}", row.route);
            if !needs(planned.as_ref(), stopped) {
                as_usual(&what, planned.as_ref(), &world.ask(request).await);
                continue;
            }
            let before = session.numbers(COUNTED).await;
            let answer = world.ask(request.clone()).await;
            assert_eq!(answer.status, 503, "{what}");
            if row.route != "GET /readyz" {
                assert_eq!(answer.text(), UNAVAILABLE, "{what}");
            }
            assert_eq!(session.numbers(COUNTED).await, before, "{what}: half done");
            refused.push((what, request));
        }
    }
    refused
}

fn needs(planned: Option<&Calls>, service: &str) -> bool {
    let prefix = format!("{service}.");
    planned.is_some_and(|calls| calls.keys().any(|name| name.starts_with(&prefix)))
}

fn as_usual(what: &str, planned: Option<&Calls>, answer: &Response) {
    match planned {
        Some(_) => assert!((200..300).contains(&answer.status), "{what}: {}", answer.status),
        None => assert_eq!(answer.status, 401, "{what}"),
    }
}

async fn recovers(world: &World, what: &str, request: Request) {
    let start = Instant::now();
    loop {
        let answer = world.ask(request.clone()).await;
        if answer.status != 503 {
            return as_usual(what, Some(&Calls::new()), &answer);
        }
        assert!(start.elapsed() < PATIENCE, "{what}: it does not recover");
    }
}
