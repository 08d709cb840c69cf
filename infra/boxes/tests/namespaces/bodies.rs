//! What clients send that a proxy could spoil: bodies that nobody reads, preflights (faults B083, B091, B095).

use conformance::http::Request;
use conformance::log::Certainty;
use conformance::session::Session;

use crate::support::{MONOLITH_1, PATIENCE, client, down, inventory, run, up};

const TRIES: usize = 10;

fn request(method: &str, target: &str, headers: &[(&str, &str)], body: Option<Vec<u8>>) -> Request {
    let header = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Request {
        method: method.to_owned(),
        target: target.to_owned(),
        headers: headers.iter().map(header).collect(),
        body,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_that_are_not_read_and_preflights_pass_through_nginx() {
    let Some(deployment) = up(&inventory(MONOLITH_1)).await else {
        return;
    };
    let ctx = client(&deployment, "bodies");
    let ann = ctx.register().await.unwrap();
    let token = format!("Token {}", ann.token);
    let target = run(&deployment).target;

    // Too large for nginx, and too large for the application alone.
    for size in [20 << 20, 6 << 20] {
        for expect in [None, Some(("Expect", "100-continue"))] {
            let mut headers = vec![
                ("Authorization", token.as_str()),
                ("Content-Type", "application/json"),
            ];
            headers.extend(expect);
            for _ in 0..TRIES / 2 {
                let session = Session::new(target.clone(), PATIENCE);
                let large = request("POST", "/api/articles", &headers, Some(vec![b' '; size]));
                let answer = session.exchange(large, Certainty::Certain).await.outcome.unwrap();
                assert_eq!(
                    (answer.status, answer.text().as_str()),
                    (413, r#"{"errors":{"request":["is too large"]}}"#)
                );
            }
        }
    }
    // A refusal that leaves the body unread, and the next request on the same connection.
    let session = Session::new(target.clone(), PATIENCE);
    for _ in 0..TRIES {
        let unread = request("POST", "/api/articles", &[], Some(vec![b' '; 2 << 20]));
        let answer = session
            .exchange(unread, Certainty::Certain)
            .await
            .outcome
            .unwrap();
        assert_eq!(answer.status, 401);
        let next = request("GET", "/api/tags", &[], None);
        assert_eq!(
            session
                .exchange(next, Certainty::Certain)
                .await
                .outcome
                .unwrap()
                .status,
            200
        );
    }
    for route in [
        "/api/users",
        "/api/user",
        "/api/articles/x/favorite",
        "/api/articles/x/comments/1",
        "/api/profiles/x/follow",
    ] {
        for method in ["PUT", "POST", "DELETE"] {
            let asked = [
                ("Origin", "http://front.example.test"),
                ("Access-Control-Request-Method", method),
                ("Access-Control-Request-Headers", "authorization,content-type"),
            ];
            let call = asked
                .iter()
                .fold(ctx.options(route), |call, (name, value)| call.header(name, value));
            let answer = call.send().await.unwrap();
            assert!(matches!(answer.code(), 200 | 204), "{route}: {}", answer.code());
            let allowed = answer.header_set("access-control-allow-headers");
            let allowed: Vec<_> = allowed.iter().map(|name| name.to_lowercase()).collect();
            assert!(
                allowed.contains(&"authorization".to_owned()) && allowed.contains(&"content-type".to_owned()),
                "{allowed:?}"
            );
            assert!(
                answer.header_set("access-control-allow-methods").contains(method),
                "{route}"
            );
            assert_eq!(answer.header_set("access-control-allow-origin").len(), 1);
        }
    }
    down(deployment).await;
}
