//! Connections between services that are closed for being idle just as they are used again (reported fault B105).

use std::sync::Arc;
use std::time::Duration;

use conduit_testkit::TestDatabase;
use tokio::time::{Instant, interval_at};

use super::needs::as_usual;
use super::split::{Split, Transports};
use super::world::World;

/// Much shorter than the time for which callers keep a connection, where it ought to be longer.
const KEEP_ALIVE: &str = "--http-keep-alive=50ms";
/// Milliseconds between requests: around the end of the connections' time.
const GAPS: std::ops::Range<u64> = 35..65;
const READ: &str = "GET /api/articles/{slug}/comments";
const WRITE: &str = "POST /api/articles/{slug}/comments";
const COMMENTS: &str = "select count(*) from comments.comments";

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_ends_as_it_is_used_costs_no_answer_and_writes_nothing_twice() {
    let database = Arc::new(TestDatabase::without_shared_keys().await);
    // The world is made where connections live.
    let calm = Split::on(Arc::clone(&database), Transports::Http);
    let hasty = Split::told(Arc::clone(&database), Transports::Http, &[KEEP_ALIVE]);
    let mut world = World::make(&calm.run(1)).await.at(&hasty.run(2));
    let mut session = database.session().await;
    let before = session.numbers(COMMENTS).await[0];
    let mut written = 0;
    for gap in GAPS {
        // One client, or a crowd that leaves many idle connections behind.
        let clients = if gap % 5 == 0 { 10 } else { 1 };
        let routes = [READ, WRITE].repeat(clients);
        let requests = routes.iter().map(|route| world.request(route, 1)).collect();
        // On connections of their own: it is not about the clients'.
        for (route, answer) in routes.iter().zip(world.ask_at_once(requests).await) {
            as_usual(&format!("{route}, {gap} ms"), true, &answer);
        }
        written += i64::try_from(clients).unwrap();
        // The fault is one of time, and this is its time.
        let gap = Duration::from_millis(gap);
        interval_at(Instant::now() + gap, gap).tick().await;
    }
    assert_eq!(session.numbers(COMMENTS).await, [before + written]);
}
