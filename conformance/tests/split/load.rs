//! A service that restarts under load loses nothing that it said was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use conformance::arrange::article_path;
use conformance::ctx::{Ctx, Run};
use conformance::http::{Request, Response};
use conformance::log::Certainty;
use conformance::session::Session;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::split::{Split, Transports};

/// So many writes before the restart and after it.
const ENOUGH: usize = 30;
/// Ends the load where the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number of an acknowledged write, or an answer that should not be.
type Told = Result<i64, String>;

#[tokio::test(flavor = "multi_thread")]
async fn over_http_a_restart_under_load_loses_no_acknowledged_write() {
    articles_restarts(Transports::Http).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_grpc_a_restart_under_load_loses_no_acknowledged_write() {
    articles_restarts(Transports::Grpc).await;
}

/// Articles are published at the service that restarts; comments at one that asks it.
async fn articles_restarts(transports: Transports) {
    let mut split = Split::start(transports).await;
    let run = split.run(1);
    let ctx = Ctx::new(&run, "load");
    let ann = ctx.register().await.unwrap();
    let article = ctx.publish(&ann, &[]).await.unwrap().slug;
    let done = Arc::new(AtomicBool::new(false));
    let articles = load(
        &run,
        &ann.token,
        "/api/articles",
        &done,
        |n| json!({"article": {"title": format!("n{n}"), "description": "d", "body": "b"}}),
    );
    let comments = load(
        &run,
        &ann.token,
        &format!("{}/comments", article_path(&article)),
        &done,
        |n| json!({"comment": {"body": format!("n{n}")}}),
    );
    let (mut published, mut commented) = (Written::default(), Written::default());
    let (mut articles, mut comments) = (articles, comments);
    published.more(&mut articles).await;
    commented.more(&mut comments).await;
    split.stop("articles");
    split.start_again("articles");
    published.already(&mut articles);
    commented.already(&mut comments);
    published.more(&mut articles).await;
    commented.more(&mut comments).await;
    done.store(true, Ordering::Relaxed);
    published.rest(&mut articles).await;
    commented.rest(&mut comments).await;

    let mut session = split.database.session().await;
    let stored = session.numbers("select count(*) from comments.comments").await;
    assert_eq!(
        stored,
        [commented.numbers.len() as i64],
        "acknowledged and stored comments"
    );
    let stored = session
        .numbers(
            "select substr(title, 2)::bigint from articles.articles where title ~ '^n[0-9]+$' order by 1",
        )
        .await;
    let lost = published
        .numbers
        .iter()
        .find(|number| stored.binary_search(number).is_err());
    assert_eq!(lost, None, "an article was acknowledged and is not there");
}

/// Writes one after the other on each of two connections, and tells the numbers of those that were acknowledged.
fn load(
    run: &Run,
    token: &str,
    target: &str,
    done: &Arc<AtomicBool>,
    body: fn(i64) -> Value,
) -> UnboundedReceiver<Told> {
    let (told, acknowledged) = unbounded_channel();
    for first in [0, 1] {
        let (told, done) = (told.clone(), Arc::clone(done));
        let session = Session::new(run.target.clone(), run.patience);
        let request = Request {
            method: "POST".to_owned(),
            target: target.to_owned(),
            headers: vec![
                ("Content-Type".to_owned(), "application/json".to_owned()),
                ("Authorization".to_owned(), format!("Token {token}")),
            ],
            body: None,
        };
        tokio::spawn(async move { write(&session, &request, &told, &done, (first, body)).await });
    }
    acknowledged
}

async fn write(
    session: &Session,
    request: &Request,
    told: &UnboundedSender<Told>,
    done: &AtomicBool,
    (first, body): (i64, fn(i64) -> Value),
) {
    let start = Instant::now();
    let mut number = first;
    while !done.load(Ordering::Relaxed) && start.elapsed() < PATIENCE {
        let request = Request {
            body: Some(body(number).to_string().into_bytes()),
            ..request.clone()
        };
        let exchange = session.exchange(request, Certainty::Certain).await;
        // Nobody may be there for a while: that is no acknowledgement.
        let sent = match exchange.outcome {
            Ok(Response { status: 201, .. }) => told.send(Ok(number)),
            Ok(answer) if answer.status != 503 => told.send(Err(answer.text())),
            Ok(_) | Err(_) => Ok(()),
        };
        sent.expect("the test has ended");
        number += 2;
    }
}

/// The numbers of what was acknowledged.
#[derive(Default)]
struct Written {
    numbers: Vec<i64>,
}

impl Written {
    /// Waits until enough more was written.
    async fn more(&mut self, acknowledged: &mut UnboundedReceiver<Told>) {
        for _ in 0..ENOUGH {
            let number = acknowledged.recv().await.expect("the writers have given up");
            self.numbers.push(number.unwrap());
        }
    }

    /// What was written before now.
    fn already(&mut self, acknowledged: &mut UnboundedReceiver<Told>) {
        while let Ok(number) = acknowledged.try_recv() {
            self.numbers.push(number.unwrap());
        }
    }

    /// What was written until the writers ended.
    async fn rest(&mut self, acknowledged: &mut UnboundedReceiver<Told>) {
        while let Some(number) = acknowledged.recv().await {
            self.numbers.push(number.unwrap());
        }
    }
}
