//! More clients at once than a connection between services has streams (reported fault B116), with nginx in front.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use conformance::arrange::{article_path, profile_path};
use conformance::ctx::Ctx;
use conformance::http::{Connection, Deadline, Request};
use stack::{Layout, Stack};

use crate::needs::UNAVAILABLE;
use crate::support::{PATIENCE, folder, get, has_nginx, logged, options, run, up};

const CLIENTS: usize = 1_000;
/// So that whatever goes wrong between services is in their logs.
const LOG: (&str, &str) = ("RUST_LOG", "warn,conduit_rpc=debug,h2=warn");

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_clients_get_answers_over_grpc() {
    crowd(Until::Rounds(2)).await;
}

/// `cargo test -p stack --test stack -- --ignored a_thousand`
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes half a minute: the long form of the test before"]
async fn a_thousand_clients_get_answers_over_grpc_for_half_a_minute() {
    crowd(Until::Over(Duration::from_secs(30))).await;
}

/// How long a client goes on asking.
#[derive(Clone, Copy)]
enum Until {
    Rounds(usize),
    Over(Duration),
}

async fn crowd(until: Until) {
    if !has_nginx() {
        return;
    }
    let folder = folder();
    let mut options = options(&folder);
    options.environment.push((LOG.0.to_owned(), LOG.1.to_owned()));
    let mut stack = up(Layout::SplitGrpc, &options).await;
    let ctx = Ctx::new(&run(&stack), "crowd");
    let ann = ctx.register().await.unwrap();
    let slug = ctx.publish(&ann, &["t"]).await.unwrap().slug;
    ctx.comment(&ann.token, &slug, "first").await.unwrap();
    let targets: Arc<[String]> = [
        article_path(&slug),
        format!("{}/comments", article_path(&slug)),
        profile_path(&ann.username),
        "/api/articles".to_owned(),
    ]
    .into();
    let address = stack.address().replacen("http://", "", 1);
    let counted = Arc::new(Counted::default());
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let client = client(address.clone(), Arc::clone(&targets), number, until);
            let counted = Arc::clone(&counted);
            tokio::spawn(async move { client.await.map(|answers| counted.add(answers)) })
        })
        .collect();
    for client in clients {
        client
            .await
            .unwrap()
            .unwrap_or_else(|what| panic!("{what}\n{}", logged(&stack)));
    }
    let (served, refused) = (
        counted.served.load(Ordering::SeqCst),
        counted.refused.load(Ordering::SeqCst),
    );
    eprintln!("{served} answers 200, {refused} answers 503");
    // How many depends on the machine; all are served once the crowd has gone.
    assert!(served > 0, "{refused} refused");
    for target in targets.iter() {
        let start = Instant::now();
        while get(&format!("{}{target}", stack.address())).0 != 200 {
            assert!(start.elapsed() < PATIENCE, "{target} does not recover");
        }
    }
    is_orderly(&mut stack);
    stack.down().await.unwrap();
}

#[derive(Default)]
struct Counted {
    served: AtomicUsize,
    refused: AtomicUsize,
}

impl Counted {
    fn add(&self, [served, refused]: [usize; 2]) {
        self.served.fetch_add(served, Ordering::SeqCst);
        self.refused.fetch_add(refused, Ordering::SeqCst);
    }
}

/// Asks one thing after the other on one connection; how often it was served and refused.
async fn client(
    address: String,
    targets: Arc<[String]>,
    number: usize,
    until: Until,
) -> Result<[usize; 2], String> {
    let (start, mut counted) = (Instant::now(), [0, 0]);
    let patience = || Deadline::after(PATIENCE);
    let mut connection = Connection::open(&address, patience())
        .await
        .map_err(|trouble| trouble.to_string())?;
    for round in 0.. {
        match until {
            Until::Rounds(rounds) if round >= rounds => break,
            Until::Over(time) if start.elapsed() >= time => break,
            Until::Rounds(_) | Until::Over(_) => {}
        }
        let request = Request {
            method: "GET".to_owned(),
            target: targets[(number + round) % targets.len()].clone(),
            headers: Vec::new(),
            body: None,
        };
        let answer = connection
            .exchange(&request, patience())
            .await
            .map_err(|trouble| trouble.to_string())?;
        match (answer.status, answer.text()) {
            (200, _) => counted[0] += 1,
            (503, text) if text == UNAVAILABLE => counted[1] += 1,
            (status, text) => return Err(format!("{} {status} {text}", request.target)),
        }
    }
    Ok(counted)
}

/// Nobody's connection was broken off, and nobody ended.
fn is_orderly(stack: &mut Stack) {
    let said = logged(stack);
    for word in [
        "GOAWAY",
        "protocol error",
        "PROTOCOL_ERROR",
        "ENHANCE_YOUR_CALM",
        "REFUSED_STREAM",
        "panicked",
    ] {
        assert!(!said.contains(word), "{word}: {said}");
    }
    for service in stack.services() {
        let (_, metrics) = get(&format!("{}/metrics", service.operations));
        let broken = |line: &&str| {
            line.starts_with("conduit_rpc_calls")
                && (line.contains("\"nonsense\"") || line.contains("\"unreachable\""))
        };
        let broken: Vec<_> = metrics.lines().filter(broken).collect();
        assert!(broken.is_empty(), "{}: {broken:?}\n{said}", service.name);
    }
    assert!(stack.ended().is_empty());
}
