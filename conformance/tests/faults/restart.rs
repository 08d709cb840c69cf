//! PostgreSQL restarts under light load: 503 for as long as it is away, and then everything answers again without a restart of
//! anything else (fault B100).

use std::sync::Arc;
use std::time::Duration;

use conduit_testkit::TestDatabase;
use conformance::ctx::Run;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::both::{Both, Manner};
use super::world::World;

/// What is asked in turn: reads and writes of every owner, and the route that hashes.
const ROUTES: [&str; 13] = [
    "POST /api/users/login",
    "GET /api/user",
    "PUT /api/user",
    "GET /api/profiles/{username}",
    "POST /api/profiles/{username}/follow",
    "GET /api/articles",
    "GET /api/articles/feed",
    "GET /api/articles/{slug}",
    "PUT /api/articles/{slug}",
    "POST /api/articles/{slug}/favorite",
    "GET /api/articles/{slug}/comments",
    "POST /api/articles/{slug}/comments",
    "GET /api/tags",
];
/// Whoever answers all routes so often in the same way does not do so by chance.
const ROUNDS: usize = 2;
/// Against tests that hang.
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn while_the_database_restarts_all_is_503_and_afterwards_all_is_well() {
    let both = Both::on(Arc::new(TestDatabase::on_own_server().await), &[]).await;
    let mut load = Load::default();
    for run in both.runs() {
        load.add(&run).await;
    }
    load.all_are(Manner::Served).await;
    both.database.stop_server().await;
    load.all_are(Manner::Unavailable).await;
    both.database.start_server().await;
    load.all_are(Manner::Served).await;
}

/// One client of each deployment, who asks one thing after the other.
#[derive(Default)]
struct Load {
    clients: JoinSet<()>,
    lately: Vec<(String, watch::Receiver<Lately>)>,
}

/// How a client was answered lately.
#[derive(Clone, Debug)]
struct Lately {
    manner: Manner,
    in_a_row: usize,
    /// An answer that should not be, after which the client has stopped.
    wrong: Option<String>,
}

impl Load {
    async fn add(&mut self, run: &Run) {
        let world = World::make(run).await;
        let (tell, lately) = watch::channel(Lately {
            manner: Manner::Served,
            in_a_row: 0,
            wrong: None,
        });
        self.clients.spawn(ask(world, tell));
        self.lately.push((run.target.to_string(), lately));
    }

    /// Waits until every route of every deployment is answered so, again and again.
    async fn all_are(&mut self, manner: Manner) {
        for (whose, lately) in &mut self.lately {
            let enough = |lately: &Lately| {
                let in_a_row = lately.manner == manner && lately.in_a_row >= ROUNDS * ROUTES.len();
                in_a_row || lately.wrong.is_some()
            };
            let outcome = timeout(PATIENCE, lately.wait_for(enough)).await;
            let lately = outcome.unwrap_or_else(|_| panic!("{whose} is not {manner:?} in time"));
            let lately = lately.expect("the client has ended, see above");
            assert_eq!(lately.wrong, None, "{whose}");
        }
    }
}

/// Until the test ends, or an answer is neither what it should be nor the 503 of the contract.
async fn ask(mut world: World, tell: watch::Sender<Lately>) {
    for route in ROUTES.into_iter().cycle() {
        let request = world.request(route, 1);
        let answer = world.ask(request).await;
        let judged = Manner::of(&answer);
        tell.send_modify(|lately| match &judged {
            Ok(manner) if *manner == lately.manner => lately.in_a_row += 1,
            Ok(manner) => (lately.manner, lately.in_a_row) = (*manner, 1),
            Err(wrong) => lately.wrong = Some(format!("{route}: {wrong}")),
        });
        if judged.is_err() {
            return;
        }
    }
}
