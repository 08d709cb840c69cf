//! What the servers refuse: strangers, other paths, requests that make no sense.

use conduit_domain::AccountId;
use conduit_rpc::limits::{KEYS, PAGE, REQUEST_BYTES};
use conduit_rpc::{CallError, CallSettings, FindUsers, PeerAddress, Secrets, Served, Transport};
use reqwest::{Client, Response, StatusCode};
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_prost::ProstCodec;

use crate::broken::ask;
use crate::in_time;
use crate::server::{SECRET, Server, Socket, TRANSPORTS, WAYS, served, settings};
use crate::world::small;

fn with_secret(secret: &str) -> CallSettings {
    CallSettings {
        secret: secret.into(),
        ..settings()
    }
}

#[tokio::test]
async fn only_those_who_know_one_of_the_secrets_are_answered() {
    for way in WAYS {
        let secrets = Secrets {
            current: SECRET.into(),
            previous: Some("the one before".into()),
        };
        let server = Server::serving(
            way,
            Served {
                secrets,
                ..served(&small())
            },
        );
        for good in [SECRET, "the one before"] {
            let answer = ask(server.transport, &server.address, &with_secret(good)).await;
            assert!(answer.is_ok(), "{way:?}: {answer:?}");
        }
        assert_eq!(server.counts.strangers(), 0);
        for (bad, strangers) in [("wrong", 1), ("", 2), ("a secret between service", 3)] {
            let settings = with_secret(bad);
            let answer = ask(server.transport, &server.address, &settings).await;
            assert!(matches!(answer, Err(CallError::Refused)), "{way:?}: {answer:?}");
            assert_eq!(server.counts.strangers(), strangers);
            assert_eq!(settings.counts.retries("users", "find"), 0);
        }
        assert_eq!(server.counts.answers("users", "find"), 2);
    }
}

#[tokio::test]
async fn a_secret_that_no_header_can_carry_is_an_error_of_every_call() {
    for transport in TRANSPORTS {
        let server = Server::start((transport, Socket::Tcp), &small());
        let answer = ask(transport, &server.address, &with_secret("line\nbreak")).await;
        assert!(
            matches!(answer, Err(CallError::Nonsense(_))),
            "{transport:?}: {answer:?}"
        );
    }
}

#[tokio::test]
async fn what_a_process_does_not_offer_is_nonsense_to_ask() {
    for transport in TRANSPORTS {
        let nothing = Served::new(Secrets {
            current: SECRET.into(),
            previous: None,
        });
        let server = Server::serving((transport, Socket::Tcp), nothing);
        let answer = ask(transport, &server.address, &settings()).await;
        assert!(
            matches!(answer, Err(CallError::Nonsense(_))),
            "{transport:?}: {answer:?}"
        );
    }
}

async fn post(server: &Server, path: &str, body: impl Into<reqwest::Body>) -> Response {
    let request = Client::new().post(format!("{}{path}", server.address));
    in_time(
        request
            .header("x-conduit-internal-secret", SECRET)
            .body(body)
            .send(),
    )
    .await
    .unwrap()
}

async fn is_empty(response: Response, status: StatusCode) {
    assert_eq!(response.status(), status);
    assert_eq!(in_time(response.bytes()).await.unwrap().len(), 0);
}

#[tokio::test]
async fn other_paths_and_methods_do_not_exist() {
    let server = Server::start((Transport::Http, Socket::Tcp), &small());
    for path in [
        "/",
        "/internal/v1/users",
        "/internal/v1/users/find/",
        "/api/tags",
        "/internal/v2/users/find",
    ] {
        is_empty(post(&server, path, "").await, StatusCode::NOT_FOUND).await;
    }
    let get = Client::new()
        .get(format!("{}/internal/v1/users/find", server.address))
        .send();
    is_empty(in_time(get).await.unwrap(), StatusCode::NOT_FOUND).await;
}

#[tokio::test]
async fn requests_that_make_no_sense_are_refused_and_counted() {
    let server = Server::start((Transport::Http, Socket::Tcp), &small());
    let find = "/internal/v1/users/find";
    let too_many = format!(r#"{{"ids":[{}1],"names":[]}}"#, "1,".repeat(KEYS));
    let bad = [
        "",
        "{",
        "{}",
        "null",
        r#"{"ids":[1]}"#,
        r#"{"ids":["1"],"names":[]}"#,
        &too_many,
    ];
    for (index, body) in bad.into_iter().enumerate() {
        is_empty(
            post(&server, find, body.to_owned()).await,
            StatusCode::BAD_REQUEST,
        )
        .await;
        assert_eq!(server.counts.nonsense_asked("users", "find"), index as u64 + 1);
    }
    is_empty(
        post(&server, find, " ".repeat(REQUEST_BYTES + 1)).await,
        StatusCode::PAYLOAD_TOO_LARGE,
    )
    .await;
    assert_eq!(
        server.counts.nonsense_asked("users", "find"),
        bad.len() as u64 + 1
    );
    let each = "/internal/v1/profiles/followed-by-each";
    // One page more than one call may be answered with.
    let many_viewers = format!(r#"{{"viewers":{:?},"limit":{PAGE}}}"#, [1; 51]);
    for (path, body) in [
        (
            "/internal/v1/articles/deleted-since",
            r#"{"cursor":null,"limit":1}"#,
        ),
        (
            "/internal/v1/articles/deleted-since",
            r#"{"cursor":{"transaction":1,"article":1},"limit":0}"#,
        ),
        (
            "/internal/v1/profiles/followed-by",
            r#"{"viewer":1,"limit":1001}"#,
        ),
        (each, r#"{"viewers":[1],"limit":0}"#),
        (each, r#"{"viewers":[1],"limit":1001}"#),
        (each, &many_viewers),
    ] {
        is_empty(
            post(&server, path, body.to_owned()).await,
            StatusCode::BAD_REQUEST,
        )
        .await;
    }
    let late = Client::new()
        .post(format!("{}{find}", server.address))
        .header("x-conduit-deadline-ms", "soon");
    let late = late
        .header("x-conduit-internal-secret", SECRET)
        .body(r#"{"ids":[],"names":[]}"#);
    is_empty(in_time(late.send()).await.unwrap(), StatusCode::BAD_REQUEST).await;
}

#[tokio::test]
async fn a_refused_request_leaves_no_connection_with_an_unread_body() {
    let server = Server::start((Transport::Http, Socket::Tcp), &small());
    let client = Client::new();
    let url = format!("{}/internal/v1/users/find", server.address);
    let refused = in_time(client.post(&url).body("x".repeat(1 << 20)).send()).await;
    // The connection may close while the body is still being sent.
    if let Ok(refused) = refused {
        assert_eq!(refused.headers()["connection"], "close");
        is_empty(refused, StatusCode::UNAUTHORIZED).await;
    }
    let good = client
        .post(&url)
        .header("x-conduit-internal-secret", SECRET)
        .body(r#"{"ids":[],"names":[]}"#);
    assert_eq!(in_time(good.send()).await.unwrap().status(), StatusCode::OK);
}

/// The ids of `FindUsersRequest`.
#[derive(Clone, PartialEq, prost::Message)]
struct Ids {
    #[prost(int64, repeated, tag = "1")]
    ids: Vec<i64>,
}

async fn find(channel: &Channel, ids: Ids, timeout: Option<&'static str>) -> Result<Ids, Status> {
    let mut request = Request::new(ids);
    request
        .metadata_mut()
        .insert("x-conduit-internal-secret", SECRET.parse().unwrap());
    if let Some(timeout) = timeout {
        request
            .metadata_mut()
            .insert("grpc-timeout", timeout.parse().unwrap());
    }
    let mut client = Grpc::new(channel.clone());
    in_time(client.ready()).await.unwrap();
    let path = "/conduit.internal.v1.Users/Find".parse().unwrap();
    in_time(client.unary(request, path, ProstCodec::default()))
        .await
        .map(tonic::Response::into_inner)
}

fn channel(address: &PeerAddress) -> Channel {
    Endpoint::from_shared(address.to_string()).unwrap().connect_lazy()
}

#[tokio::test]
async fn grpc_requests_that_make_no_sense_are_refused_without_detail() {
    let server = Server::start((Transport::Grpc, Socket::Tcp), &small());
    let channel = channel(&server.address);
    let too_many = find(
        &channel,
        Ids {
            ids: vec![1; KEYS + 1],
        },
        None,
    )
    .await
    .unwrap_err();
    assert_eq!((too_many.code(), too_many.message()), (Code::InvalidArgument, ""));
    let no_timeout = find(&channel, Ids::default(), Some("soon")).await.unwrap_err();
    assert_eq!(
        (no_timeout.code(), no_timeout.message()),
        (Code::InvalidArgument, "")
    );
    assert_eq!(server.counts.nonsense_asked("users", "find"), 2);
    let too_large = find(
        &channel,
        Ids {
            ids: vec![i64::MAX; REQUEST_BYTES / 8],
        },
        None,
    )
    .await
    .unwrap_err();
    assert_eq!(too_large.code(), Code::OutOfRange);
    assert!(
        find(&channel, Ids::default(), Some("5S")).await.is_ok(),
        "the connection is as good as before"
    );
}

#[tokio::test]
async fn everybody_may_ask_for_health_but_not_for_a_description() {
    let server = Server::start((Transport::Grpc, Socket::Tcp), &small());
    let channel = channel(&server.address);
    let mut health = HealthClient::new(channel.clone());
    for service in [
        "",
        "conduit.internal.v1.Users",
        "conduit.internal.v1.Profiles",
        "conduit.internal.v1.Articles",
    ] {
        let answer = in_time(health.check(HealthCheckRequest {
            service: service.into(),
        }))
        .await
        .unwrap();
        assert_eq!(answer.into_inner().status, 1, "{service} does not serve");
    }
    let mut client = Grpc::new(channel);
    in_time(client.ready()).await.unwrap();
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
        .parse()
        .unwrap();
    let refused =
        in_time(client.unary::<Ids, Ids, _>(Request::new(Ids::default()), path, ProstCodec::default()));
    assert_eq!(refused.await.unwrap_err().code(), Code::Unauthenticated);
}

#[tokio::test]
async fn a_name_is_found_over_dns() {
    for transport in TRANSPORTS {
        let server = Server::start((transport, Socket::Tcp), &small());
        let port = server.address.to_string().rsplit_once(':').unwrap().1.to_owned();
        let address: PeerAddress = format!("dns:localhost:{port}").parse().unwrap();
        let peers = conduit_rpc::connect(transport, &address, &settings());
        let wanted = FindUsers {
            ids: vec![AccountId(1_000_001)],
            names: Vec::new(),
        };
        // `localhost` may also be ::1, where nobody listens: the other copy answers.
        for _ in 0..4 {
            assert_eq!(
                in_time(peers.users.find(wanted.clone())).await.unwrap().len(),
                1,
                "{transport:?}"
            );
        }
    }
}
