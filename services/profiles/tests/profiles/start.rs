use clap::Parser;
use conduit_domain::AccountId;
use conduit_profiles::Settings;
use conduit_rpc::{CallSettings, Follow, Transport, connect};
use conduit_service::Addresses;
use conduit_store::ProfileStore;
use conduit_testkit::{Running, TestDatabase, get};

const SECRET: &str = "what the services of these tests share";

fn start(database: &TestDatabase) -> Running<Addresses> {
    let url = format!("--database-url={}", database.url("profiles").expose());
    let secret = format!("--internal-secret={SECRET}");
    let settings = Settings::parse_from([
        "profiles",
        "--http-listen=127.0.0.1:0",
        "--ops-listen=127.0.0.1:0",
        "--internal-http-listen=127.0.0.1:0",
        "--internal-grpc-listen=127.0.0.1:0",
        "--token-secret=what signs the tokens of these tests",
        "--database-migrate=false",
        "--http-stop-wait=1s",
        // Nobody listens at port 1.
        "--rpc-users-http=http://127.0.0.1:1",
        &url,
        &secret,
    ]);
    Running::start(|terms| async move {
        let service = conduit_profiles::build(settings).await?;
        terms.started.send(service.addresses().clone())?;
        let stop = async {
            let _ = terms.stop.await;
            "the test is over"
        };
        service.run(stop).await
    })
}

#[tokio::test]
async fn without_its_peer_it_answers_others_and_is_not_ready() {
    let database = TestDatabase::without_shared_keys().await;
    let held = Follow {
        follower: AccountId(1),
        followee: AccountId(2),
    };
    let follows = ProfileStore::new(database.db("profiles"));
    follows.follow(held.follower, held.followee).await.unwrap();
    let mut service = start(&database);
    let at = service.started.clone();
    assert_eq!(get(&at.public, "/readyz").await.0, 503);
    assert_eq!(get(&at.operations.unwrap(), "/readyz").await.0, 200);
    assert_eq!(
        get(&at.public, "/api/profiles/ann").await,
        (503, r#"{"errors":{"server":["is unavailable"]}}"#.to_owned())
    );
    let settings = CallSettings::new(SECRET.into());
    for (transport, address) in [
        (Transport::Http, at.internal_http),
        (Transport::Grpc, at.internal_grpc),
    ] {
        let peer = connect(transport, &address.unwrap().parse().unwrap(), &settings).profiles;
        assert_eq!(peer.follows(vec![held]).await.unwrap(), [held], "{transport:?}");
        let followed = peer.followed_by(held.follower).await.unwrap();
        assert_eq!(followed, [held.followee], "{transport:?}");
    }
    service.stop();
}
