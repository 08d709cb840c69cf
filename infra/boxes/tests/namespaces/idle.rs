//! The application keeps idle connections for longer than the proxy does, so no request dies in the race (fault B120).

use std::process::Command;
use std::time::Duration;

use conformance::http::Request;
use conformance::log::Certainty;
use conformance::session::Session;
use stack::Binaries;

use crate::support::{MONOLITH_1, client, down, inventory, namespaces, run, up, with};

/// What a program says of a setting's default.
fn default_of(program: &str, variable: &str) -> Duration {
    let program = Binaries::beside_this_program(false, false).unwrap().path(program);
    let help = Command::new(program).arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let (_, after) = help.split_once(&format!("[env: {variable}=")).unwrap();
    let (_, after) = after.split_once("[default: ").unwrap();
    let (seconds, _) = after.split_once("s]").unwrap();
    Duration::from_secs(seconds.parse().unwrap())
}

/// The time for which nginx keeps unused connections to the application.
fn kept_by_nginx(configuration: &str) -> Duration {
    let (_, upstream) = configuration.split_once("upstream ").unwrap();
    let (_, after) = upstream.split_once("keepalive_timeout ").unwrap();
    let (milliseconds, _) = after.split_once("ms;").unwrap();
    Duration::from_millis(milliseconds.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_dies_on_a_connection_that_is_being_closed() {
    let mut inventory = with(inventory(MONOLITH_1), &[("CONDUIT_HTTP_KEEP_ALIVE", "15s")]);
    inventory.proxy.idle_milliseconds = Some(100);
    let Some(mut deployment) = up(&inventory).await else {
        return;
    };
    let text = std::fs::read_to_string(namespaces(&mut deployment).configuration()).unwrap();
    assert_eq!(kept_by_nginx(&text), Duration::from_millis(100));
    let ann = client(&deployment, "idle").register().await.unwrap();
    let session = Session::new(run(&deployment).target, Duration::from_secs(60));
    // The gaps are what is tried here: around the moment at which nginx gives the connection up.
    for gap in (95..=105).chain(95..=105) {
        tokio::time::sleep(Duration::from_millis(gap)).await;
        let request = Request {
            method: if gap % 2 == 0 { "GET" } else { "POST" }.to_owned(),
            target: if gap % 2 == 0 {
                "/api/tags"
            } else {
                "/api/articles"
            }
            .to_owned(),
            headers: vec![("Authorization".to_owned(), format!("Token {}", ann.token))],
            body: (gap % 2 > 0)
                .then(|| br#"{"article":{"title":"T","description":"d","body":"b"}}"#.to_vec()),
        };
        let exchange = session.exchange(request, Certainty::Certain).await;
        let status = exchange.outcome.unwrap().status;
        assert!(matches!(status, 200 | 201), "{status} after {gap} ms");
    }
    down(deployment).await;
}

#[test]
fn the_application_keeps_connections_longer_than_nginx() {
    let site = stack::nginx::Site::new(
        "80",
        "/run/nginx",
        [(
            "monolith".to_owned(),
            vec![stack::nginx::Copy::new("10.0.0.1:3000")],
        )]
        .into(),
    );
    let table = stack::nginx::RouteTable::built_in().unwrap();
    let text = stack::nginx::render(stack::nginx::Topology::Single, &site, &table).unwrap();
    for program in ["monolith", "users", "profiles", "articles", "comments"] {
        let kept = default_of(program, "CONDUIT_HTTP_KEEP_ALIVE");
        assert!(
            kept >= kept_by_nginx(&text) + Duration::from_secs(10),
            "{program} keeps them {kept:?}"
        );
    }
}
