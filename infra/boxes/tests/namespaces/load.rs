//! Reads and writes without end, each of them counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use boxes::Deployment;
use conformance::arrange::{Account, article_path};
use conformance::ctx::{Ctx, Run};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

use crate::support::{PATIENCE, logged, run};

/// Ends the load where the test fails.
const ROUNDS: usize = 5000;

/// Keeps the texts of several loads on the same data apart.
static LOADS: AtomicU32 = AtomicU32::new(0);

/// A round of a worker: so many requests were answered as they should be, or what went wrong.
type Told = Result<usize, String>;

/// Workers that each publish, comment, favor and read.
pub(crate) struct Load {
    rounds: UnboundedReceiver<Told>,
    done: Arc<AtomicBool>,
    workers: JoinSet<Wrote>,
    answered: usize,
}

/// What a worker was told is done.
struct Wrote {
    author: String,
    articles: u64,
    slug: String,
    comments: usize,
}

impl Load {
    pub(crate) async fn start(deployment: &Deployment, workers: usize) -> Self {
        let (tell, rounds) = unbounded_channel();
        let done = Arc::new(AtomicBool::new(false));
        let run = run(deployment);
        let load = LOADS.fetch_add(1, Ordering::Relaxed);
        let mut all = JoinSet::new();
        for number in 0..workers {
            let ctx = Ctx::new(&run, &format!("load {load}, worker {number}"));
            let ann = ctx.register().await.unwrap();
            let slug = ctx.publish(&ann, &[]).await.unwrap().slug;
            all.spawn(work(
                run.clone(),
                format!("load {load}, worker {number}"),
                ann,
                slug,
                tell.clone(),
                Arc::clone(&done),
            ));
        }
        Self {
            rounds,
            done,
            workers: all,
            answered: 0,
        }
    }

    /// Waits until so many more rounds were done without a failed request.
    pub(crate) async fn more(&mut self, rounds: usize) {
        for _ in 0..rounds {
            let told = tokio::time::timeout(PATIENCE, self.rounds.recv()).await;
            let told = told
                .expect("the load stands still")
                .expect("the workers have given up");
            self.answered += told.unwrap_or_else(|told| panic!("a request failed: {told}"));
        }
    }

    /// Ends it. No request failed, and what was acknowledged is there once. Returns how many requests were answered.
    pub(crate) async fn end(mut self, deployment: &mut Deployment) -> usize {
        self.done.store(true, Ordering::Relaxed);
        while let Some(told) = self.rounds.recv().await {
            self.answered +=
                told.unwrap_or_else(|told| panic!("a request failed: {told}\n{}", logged(deployment)));
        }
        let ctx = Ctx::new(&run(deployment), "end of the load");
        while let Some(wrote) = self.workers.join_next().await {
            let wrote = wrote.unwrap();
            let listed = ctx
                .list(&format!("author={}&limit=1", wrote.author), None)
                .await
                .unwrap();
            assert_eq!(listed.count, wrote.articles, "articles of {}", wrote.author);
            let comments = ctx.comments(&wrote.slug, None).await.unwrap();
            assert_eq!(comments.len(), wrote.comments, "comments on {}", wrote.slug);
        }
        self.answered
    }
}

async fn work(
    run: Run,
    name: String,
    ann: Account,
    slug: String,
    tell: UnboundedSender<Told>,
    done: Arc<AtomicBool>,
) -> Wrote {
    let mut wrote = Wrote {
        author: ann.username.clone(),
        articles: 1,
        slug: slug.clone(),
        comments: 0,
    };
    let path = article_path(&slug);
    let start = Instant::now();
    for round in 0..ROUNDS {
        if done.load(Ordering::Relaxed) || start.elapsed() > PATIENCE * 3 {
            break;
        }
        let ctx = Ctx::new(&run, &format!("{name}, round {round}"));
        let about = json!({"title": ctx.x(), "description": "d", "body": "b"});
        let body = json!({"comment": {"body": "c"}});
        // Each has a connection of its own: nginx 1.22 closes idle ones when it reloads, and a request that is under way then meets
        // its end, which a client may repeat if it was a read.
        let (articles, comments, favorite) = (
            "/api/articles".to_owned(),
            format!("{path}/comments"),
            format!("{path}/favorite"),
        );
        let calls = [
            (ctx.get("/api/articles?limit=5"), 200),
            (ctx.post(&articles).json(&json!({"article": about})), 201),
            (ctx.get(&path), 200),
            (ctx.post(&comments).json(&body), 201),
            (ctx.post(&favorite), 200),
            (ctx.get(&comments), 200),
            (ctx.delete(&favorite), 200),
            (ctx.get("/api/user"), 200),
        ];
        let count = calls.len();
        for (place, (call, status)) in calls.into_iter().enumerate() {
            let call = call.token(&ann.token).header("Connection", "close");
            if let Err(failure) = call.expect(status).await {
                let _ = tell.send(Err(failure.to_string()));
                return wrote;
            }
            wrote.articles += u64::from(place == 1);
            wrote.comments += usize::from(place == 3);
        }
        let _ = tell.send(Ok(count));
    }
    wrote
}
