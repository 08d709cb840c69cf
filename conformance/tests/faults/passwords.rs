//! A password that is too long is refused before anything is hashed, and nobody else notices (fault B070).

use std::sync::Arc;

use conduit_testkit::{TestDatabase, get};
use conformance::ctx::{Ctx, Run};
use conformance::http::Request;
use conformance::log::Certainty;
use conformance::session::Session;
use serde_json::json;

use super::both::{Both, request};

/// Of each kind, at the same time.
const PARALLEL: usize = 10;
const TOO_LONG: &str = r#"{"errors":{"password":["is too long (maximum is 256 characters)"]}}"#;
const INVALID: &str = r#"{"errors":{"credentials":["invalid"]}}"#;
const TOO_LARGE: &str = r#"{"errors":{"request":["is too large"]}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_password_that_is_too_long_is_refused_without_being_hashed() {
    let both = Both::on(Arc::new(TestDatabase::new().await), &["--ops-listen=127.0.0.1:0"]).await;
    // The users service asks nobody, so it is one and the same over either transport.
    for (run, operations) in both.runs().iter().zip(both.operations("users")).take(2) {
        refuses(run, &operations).await;
    }
}

async fn refuses(run: &Run, operations: &str) {
    let ctx = Ctx::new(run, "long");
    let before = hashes(operations).await;
    let ann = ctx.register().await.unwrap();
    let made = hashes(operations).await;
    assert_eq!(made, before + 1, "the count does not count");
    for (length, registration, log_in) in [
        (1_000, (422, TOO_LONG), (401, INVALID)),
        (100_000, (422, TOO_LONG), (401, INVALID)),
        (1_000_000, (422, TOO_LONG), (401, INVALID)),
        (1 << 20, (413, TOO_LARGE), (413, TOO_LARGE)),
    ] {
        let password = "x".repeat(length);
        let register = |n| {
            let (name, email) = (format!("{}{n}", ctx.x()), format!("{n}@example.test"));
            let body = json!({"user": {"username": name, "email": email, "password": password}});
            request("POST", "/api/users", Some(body.to_string()))
        };
        let log_in_as = |email: &str| {
            let body = json!({"user": {"email": email, "password": password}});
            request("POST", "/api/users/login", Some(body.to_string()))
        };
        let mut asked: Vec<(Request, (u16, Option<&str>))> = Vec::new();
        for n in 0..PARALLEL {
            let email = if n % 2 == 0 {
                ann.email.as_str()
            } else {
                "nobody@example.test"
            };
            asked.push((register(n), (registration.0, Some(registration.1))));
            asked.push((log_in_as(email), (log_in.0, Some(log_in.1))));
            asked.push((request("GET", "/api/tags", None), (200, None)));
        }
        let (requests, expected): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let session = Session::new(run.target.clone(), run.patience);
        let answers = session.together(requests, Certainty::Certain).await;
        for (exchange, (status, body)) in answers.into_iter().zip(expected) {
            let answer = exchange
                .outcome
                .unwrap_or_else(|trouble| panic!("{length}: {trouble}"));
            assert_eq!(answer.status, status, "{length}: {}", answer.text());
            assert!(
                body.is_none_or(|body| body == answer.text()),
                "{length}: {}",
                answer.text()
            );
        }
    }
    let change = json!({"user": {"password": "x".repeat(1_000)}});
    let change = ctx.put("/api/user").token(&ann.token).json(&change);
    let refused = change.refused(422, "password", "is too long (maximum is 256 characters)");
    refused.await.unwrap();
    assert_eq!(hashes(operations).await, made, "something was hashed");
    ctx.login(&ann.email, &ann.password).expect(200).await.unwrap();
}

/// Passwords hashed so far.
async fn hashes(operations: &str) -> u64 {
    let (_, text) = get(operations, "/metrics").await;
    let mut counts = text
        .lines()
        .filter_map(|line| line.strip_prefix("password_hashes_total "));
    counts.next().expect(&text).parse().unwrap()
}
