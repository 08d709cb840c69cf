//! Every route makes the calls that the table says, and needs exactly the services that it calls.

use std::collections::BTreeSet;

use super::needs::{as_usual, without};
use super::split::{SERVICES, Split, Transports};
use super::table::{self, Calls, Row};
use super::world::World;

/// All routes of the contract, two filters, and readiness.
const ROUTES: usize = 22;

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
        for asked in refused {
            asked.recovers(&world).await;
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
            as_usual(&row.route, planned.is_some(), &answer);
        }
    }
}
