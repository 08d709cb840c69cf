//! A store that does not answer looks the same from outside in every deployment: the kind of error that the checks cannot bring
//! about (reported fault B115; they compare all others).

use std::sync::Arc;

use conformance::ctx::Run;
use conformance::http::{Request, Response};
use conformance::log::Certainty;
use conformance::mask;
use conformance::session::Session;

use super::deployment::{Deployment, run};
use super::split::{Split, Transports};
use super::table;
use super::world::World;

/// What the routes read first or write first.
const TABLES: &str =
    "users.accounts, profiles.follows, articles.articles, articles.tag_totals, comments.comments";

#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_store_is_the_same_503_everywhere() {
    let monolith = Deployment::start().await;
    let http = Split::on(Arc::clone(&monolith.database), Transports::Http);
    let grpc = Split::on(Arc::clone(&monolith.database), Transports::Grpc);
    let runs = [run(&monolith.address, 1), http.run(2), grpc.run(3)];
    let mut world = World::make(&runs[0]).await;
    let (mut requests, mut what) = (Vec::new(), Vec::new());
    // Readiness asks the own store for a sign of life, and the others for a look into their tables.
    for row in table::rows().iter().filter(|row| row.route != "GET /readyz") {
        for (who, planned) in row.calls.iter().enumerate() {
            requests.push(world.request(&row.route, who));
            what.push((format!("{}, viewer {who}", row.route), planned.is_some()));
        }
    }
    let stuck = monolith.database.holding(TABLES).await;
    let [one, two, three] = runs.each_ref().map(|run| all_at_once(run, requests.clone()));
    let (one, two, three) = tokio::join!(one, two, three);
    stuck.let_go().await;
    for (((what, needs_store), one), others) in what.iter().zip(&one).zip(two.iter().zip(&three)) {
        assert_eq!(
            one.status,
            if *needs_store { 503 } else { 401 },
            "{what}: {}",
            one.text()
        );
        assert_eq!(shown(one), shown(others.0), "{what}, over HTTP");
        assert_eq!(shown(one), shown(others.1), "{what}, over gRPC");
    }
}

async fn all_at_once(run: &Run, requests: Vec<Request>) -> Vec<Response> {
    let session = Session::new(run.target.clone(), run.patience);
    let exchanges = session.together(requests, Certainty::Certain).await;
    exchanges
        .into_iter()
        .map(|exchange| exchange.outcome.unwrap())
        .collect()
}

fn shown(answer: &Response) -> (u16, Vec<String>, String) {
    (answer.status, mask::headers(&answer.headers), answer.text())
}
