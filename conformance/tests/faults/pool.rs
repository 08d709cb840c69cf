//! Far more clients than connections: everybody is served, some late, or turned away quickly; the limit holds; and afterwards it is as
//! if nothing had been (fault B098).

use std::sync::Arc;
use std::time::Duration;

use conduit_testkit::{Session as Sql, TestDatabase};
use conformance::ctx::Run;
use conformance::http::Request;
use conformance::log::Certainty;
use conformance::session::Session;
use futures_util::future::join_all;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::timeout;

use super::both::{Manner, alone, request};
use super::deployment::{Deployment, run};
use super::split::{Split, Transports};
use super::world::World;

const CONNECTIONS: i64 = 5;
const CLIENTS: usize = 300;
const REQUESTS_EACH: usize = 2;
/// What the clients ask, each beginning at another place.
const ROUTES: [&str; 9] = [
    "GET /api/articles",
    "GET /api/articles/{slug}",
    "GET /api/articles/feed",
    "GET /api/profiles/{username}",
    "GET /api/articles/{slug}/comments",
    "GET /api/tags",
    "POST /api/articles/{slug}/comments",
    "POST /api/articles/{slug}/favorite",
    "GET /api/user",
];
/// Against tests that hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most connections that a role has; the purge of comments has one more of its own.
const MOST: &str = "
    select coalesce(max(connections), 0)
    from (
      select count(*) - (usename = 'conduit_comments')::int as connections
      from pg_stat_activity
      where datname = current_database() and usename like 'conduit\\_%'
      group by usename
    ) roles";
/// Sessions whose client went away. Where the machine is so slow that a call is given up, its connection is closed, and the server
/// has it for a moment longer.
const GIVEN_UP: &str =
    "select sessions_abandoned + sessions_fatal from pg_stat_database where datname = current_database()";

#[tokio::test(flavor = "multi_thread")]
async fn more_clients_than_connections_wait_or_are_turned_away_and_the_limit_holds() {
    let _alone = alone().await;
    let changed = ["--database-pool-size=5", "--database-wait=100ms"];
    {
        let monolith = Deployment::told(Arc::new(TestDatabase::new().await), &changed);
        the_limit_holds(&run(&monolith.address, 1), &monolith.database).await;
    }
    for transports in [Transports::Http, Transports::Grpc] {
        let split = Split::told(Arc::new(TestDatabase::new().await), transports, &changed);
        the_limit_holds(&split.run(1), &split.database).await;
    }
}

/// Of a deployment that has the database for itself.
async fn the_limit_holds(run: &Run, database: &TestDatabase) {
    let mut sql = database.session().await;
    let mut world = World::make(run).await;
    let given_up = sql.numbers(GIVEN_UP).await[0];
    let mut holder = database.holding("articles.articles").await;
    let mut most = those_without_a_connection_are_turned_away(run, &mut sql, &mut holder).await;
    most = most.max(a_burst_is_served_or_turned_away(run, &mut world, &mut sql).await);
    as_if_nothing_had_been(run, &mut world).await;
    settled(&mut sql).await;
    let given_up = sql.numbers(GIVEN_UP).await[0] - given_up;
    assert!(
        most <= CONNECTIONS + given_up,
        "{}: {most} connections, {given_up} given up",
        run.target
    );
}

/// Who has a connection waits for the table; everybody else is answered meanwhile. Returns the most connections that there were.
async fn those_without_a_connection_are_turned_away(run: &Run, sql: &mut Sql, holder: &mut Sql) -> i64 {
    let (tell, mut answers) = unbounded_channel();
    let connections = usize::try_from(CONNECTIONS).unwrap();
    for _ in 0..4 * connections {
        let (run, tell) = (run.clone(), tell.clone());
        tokio::spawn(async move {
            let manners = asked(&run, vec![request("GET", "/api/articles", None)]).await;
            tell.send(manners[0].clone())
        });
    }
    for _ in 0..3 * connections {
        let answer = timeout(PATIENCE, answers.recv())
            .await
            .expect("nobody is turned away");
        assert_eq!(answer.unwrap(), Ok(Manner::Unavailable), "{}", run.target);
    }
    let most = sql.numbers(MOST).await[0];
    holder.run("rollback").await;
    for _ in 0..connections {
        answers.recv().await.unwrap().unwrap();
    }
    most
}

/// Returns the most connections that were seen meanwhile.
async fn a_burst_is_served_or_turned_away(run: &Run, world: &mut World, sql: &mut Sql) -> i64 {
    let routes = ROUTES.iter().cycle();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let routes = routes.clone().skip(client).take(REQUESTS_EACH);
            let requests: Vec<_> = routes.map(|route| world.request(route, 1)).collect();
            let run = run.clone();
            tokio::spawn(async move { asked(&run, requests).await })
        })
        .collect();
    let mut most = 0;
    while !clients.iter().all(JoinHandle::is_finished) {
        most = most.max(sql.numbers(MOST).await[0]);
        yield_now().await;
    }
    let answers = join_all(clients).await.into_iter().flat_map(Result::unwrap);
    let answers: Vec<_> = answers.collect();
    let wrong = answers.iter().find(|answer| answer.is_err());
    assert_eq!(wrong, None, "{}", run.target);
    assert_eq!(answers.len(), CLIENTS * REQUESTS_EACH);
    assert!(
        answers.contains(&Ok(Manner::Served)),
        "{}: nobody was served",
        run.target
    );
    most
}

async fn as_if_nothing_had_been(run: &Run, world: &mut World) {
    for route in ROUTES {
        let request = world.request(route, 1);
        let answer = world.ask(request).await;
        assert_eq!(
            Manner::of(&answer),
            Ok(Manner::Served),
            "{route} of {} afterwards",
            run.target
        );
    }
}

/// Waits until the server has ended the sessions that were given up.
async fn settled(sql: &mut Sql) {
    let settling = async {
        while sql.numbers(MOST).await[0] > CONNECTIONS {
            yield_now().await;
        }
    };
    timeout(PATIENCE, settling).await.expect("sessions remain");
}

/// A client of its own that asks this, one after the other.
async fn asked(run: &Run, requests: Vec<Request>) -> Vec<Result<Manner, String>> {
    let session = Session::new(run.target.clone(), run.patience);
    let mut manners = Vec::new();
    for request in requests {
        let outcome = session.exchange(request, Certainty::Certain).await.outcome;
        manners.push(match outcome {
            Ok(answer) => Manner::of(&answer),
            Err(trouble) => Err(trouble.to_string()),
        });
    }
    manners
}
