use clap::Parser;
use conduit_comments::Settings;
use conduit_service::Addresses;
use conduit_testkit::{Running, TestDatabase, get};

fn settings(database: &TestDatabase, more: &[&str]) -> Settings {
    let url = format!("--database-url={}", database.url("comments").expose());
    let arguments = [
        "comments",
        "--http-listen=127.0.0.1:0",
        "--ops-listen=127.0.0.1:0",
        "--internal-http-listen=127.0.0.1:0",
        "--internal-grpc-listen=127.0.0.1:0",
        "--internal-secret=what the services of these tests share",
        "--token-secret=what signs the tokens of these tests",
        "--database-migrate=false",
        "--http-stop-wait=1s",
        // Nobody listens at port 1.
        "--rpc-users-http=http://127.0.0.1:1",
        "--rpc-profiles-http=http://127.0.0.1:1",
        "--rpc-articles-http=http://127.0.0.1:1",
        "--comments-purge-interval=1ms",
        &url,
    ];
    Settings::parse_from(arguments.iter().chain(more))
}

fn start(settings: Settings) -> Running<Addresses> {
    Running::start(|terms| async move {
        let service = conduit_comments::build(settings).await?;
        terms.started.send(service.addresses().clone())?;
        let stop = async {
            let _ = terms.stop.await;
            "the test is over"
        };
        service.run(stop).await
    })
}

#[tokio::test]
async fn without_its_peers_it_runs_and_is_not_ready() {
    let database = TestDatabase::without_shared_keys().await;
    let mut service = start(settings(&database, &[]));
    let Addresses {
        public, operations, ..
    } = service.started.clone();
    let not_ready = get(&public, "/readyz").await;
    assert_eq!(not_ready.0, 503, "{}", not_ready.1);
    // Its own store answers, so it stays in rotation (architecture, section 3).
    assert_eq!(get(&operations.unwrap(), "/readyz").await.0, 200);
    let comments = get(&public, "/api/articles/bread/comments").await;
    assert_eq!(
        comments,
        (503, r#"{"errors":{"server":["is unavailable"]}}"#.to_owned())
    );
    assert_eq!(get(&public, "/api/tags").await.0, 404, "of another service");
    service.stop();
}

#[tokio::test]
async fn a_grace_period_below_the_deadline_is_refused() {
    let database = TestDatabase::without_shared_keys().await;
    let settings = settings(&database, &["--comments-purge-grace=4s", "--request-deadline=4s"]);
    let outcome = conduit_comments::build(settings).await;
    let message = outcome.err().expect("it was accepted").to_string();
    assert!(message.contains("CONDUIT_COMMENTS_PURGE_GRACE"), "{message}");
}
