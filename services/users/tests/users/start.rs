use clap::Parser;
use conduit_rpc::{CallError, CallSettings, FindUsers, Transport, connect};
use conduit_service::Addresses;
use conduit_testkit::{Running, TestDatabase, get};
use conduit_users::Settings;

const SECRET: &str = "what the services of these tests share";

fn start(database: &TestDatabase) -> Running<Addresses> {
    let url = format!("--database-url={}", database.url("users").expose());
    let secret = format!("--internal-secret={SECRET}");
    let settings = Settings::parse_from([
        "users",
        "--http-listen=127.0.0.1:0",
        "--ops-listen=off",
        "--internal-http-listen=127.0.0.1:0",
        "--internal-grpc-listen=127.0.0.1:0",
        "--token-secret=what signs the tokens of these tests",
        "--database-migrate=false",
        "--http-stop-wait=1s",
        &url,
        &secret,
    ]);
    Running::start(|terms| async move {
        let service = conduit_users::build(settings).await?;
        terms.started.send(service.addresses().clone())?;
        let stop = async {
            let _ = terms.stop.await;
            "the test is over"
        };
        service.run(stop).await
    })
}

#[tokio::test]
async fn it_is_ready_by_itself_and_answers_whoever_knows_the_secret() {
    let database = TestDatabase::without_shared_keys().await;
    let ann = database.seed().account("ann").await;
    let mut service = start(&database);
    let at = service.started.clone();
    assert_eq!(get(&at.public, "/readyz").await.0, 200);
    assert_eq!(
        get(&at.public, "/api/user").await,
        (401, r#"{"errors":{"token":["is missing"]}}"#.to_owned())
    );
    assert!(at.operations.is_none());
    for (transport, address) in [
        (Transport::Http, at.internal_http),
        (Transport::Grpc, at.internal_grpc),
    ] {
        let address = address.unwrap().parse().unwrap();
        let wanted = || FindUsers {
            ids: vec![ann.id],
            names: Vec::new(),
        };
        let peer = connect(transport, &address, &CallSettings::new(SECRET.into())).users;
        let found = peer.find(wanted()).await.unwrap();
        assert_eq!(found[0].username, "ann", "{transport:?}");
        let stranger = connect(transport, &address, &CallSettings::new("another secret".into())).users;
        let outcome = stranger.find(wanted()).await;
        assert!(
            matches!(outcome, Err(CallError::Refused)),
            "{transport:?} {outcome:?}"
        );
    }
    service.stop();
}
