//! Answers as broken deployments give them: read, or refused with address and step, never a panic and never for ever.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod support;

use std::time::Duration;

use conformance::ctx::{Ctx, Run};
use conformance::failure::Failure;
use conformance::http::{Request, Response, Step, Trouble};
use conformance::log::Certainty;
use conformance::runner;
use conformance::session::Session;
use conformance::target::{RouteTable, Target};
use support::scripted;

/// Against tests that hang; nothing here takes nearly as long.
const LIVENESS: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_millis(300);

fn run(address: &str) -> Run {
    let target = Target::parse(&format!("http://{address}"), &RouteTable::built_in().unwrap()).unwrap();
    Run {
        target,
        seed: 1,
        secret: None,
        patience: LIVENESS,
    }
}

fn get() -> Request {
    Request {
        method: "GET".into(),
        target: "/api/tags".into(),
        headers: vec![],
        body: None,
    }
}

async fn asked(pieces: &[&[u8]], request: Request) -> Result<Response, Trouble> {
    let address = scripted(pieces).await;
    Session::new(run(&address).target, LIVENESS)
        .exchange(request, Certainty::Certain)
        .await
        .outcome
}

async fn read(pieces: &[&[u8]]) -> Response {
    asked(pieces, get()).await.unwrap()
}

async fn trouble(pieces: &[&[u8]]) -> Trouble {
    asked(pieces, get()).await.unwrap_err()
}

#[tokio::test]
async fn a_body_ends_by_its_length_however_it_is_cut() {
    let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX-A: 1\r\nx-a: 2\r\n\r\n{\"tags\":[]}";
    for cut in 1..whole.len() {
        let response = read(&[&whole[..cut], &whole[cut..]]).await;
        assert_eq!(
            (response.status, response.body.as_slice()),
            (200, b"{\"tags\":[]}".as_slice())
        );
        assert_eq!(response.headers.all("X-A"), [b"1", b"2"]);
        assert!(response.keep && response.extra.is_empty());
    }
}

#[tokio::test]
async fn chunks_are_joined() {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunks = b"4;x=y\r\n{\"ta\r\n7\r\ngs\":[]}\r\n0\r\nX-Trailer: 1\r\n\r\n";
    assert_eq!(read(&[head, chunks]).await.body, b"{\"tags\":[]}");
    let singles: Vec<&[u8]> = chunks.chunks(1).collect();
    assert_eq!(
        read(&[&[head.as_slice()], singles.as_slice()].concat())
            .await
            .body,
        b"{\"tags\":[]}"
    );
}

#[tokio::test]
async fn a_body_without_length_ends_with_the_connection() {
    let response = read(&[b"HTTP/1.0 200 OK\r\n\r\n{\"tags\"", b":[]}"]).await;
    assert_eq!(response.body, b"{\"tags\":[]}");
    assert!(!response.keep);
}

#[tokio::test]
async fn interim_answers_are_passed_over_and_some_answers_have_no_body() {
    let continued = read(&[b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"]).await;
    assert_eq!((continued.status, continued.body.len()), (204, 0));
    let head = Request {
        method: "HEAD".into(),
        ..get()
    };
    let answer = asked(&[b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"], head)
        .await
        .unwrap();
    assert!(answer.body.is_empty() && answer.extra.is_empty());
}

#[tokio::test]
async fn bytes_behind_the_end_are_kept_apart() {
    let response = read(&[b"HTTP/1.1 204 No Content\r\n\r\n{\"a\":1}"]).await;
    assert_eq!(response.extra, b"{\"a\":1}");
    assert!(!response.keep);
}

#[tokio::test]
async fn a_truncated_answer_says_where_it_broke_and_shows_what_came() {
    let rows: [(&[u8], Step, &str); 8] = [
        (b"", Step::AwaitingHead, "closed after 0 bytes"),
        (
            b"HTTP/1.1 200 OK\r\nConte",
            Step::AwaitingHead,
            "closed after 22 bytes",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"tags\":",
            Step::ReadingBody,
            "8 of 20 bytes",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"t",
            Step::ReadingBody,
            "3 of 9 bytes",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            Step::ReadingBody,
            "`zz` is no chunk size",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
            Step::ReadingBody,
            "not a number",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            Step::ReadingBody,
            "several",
        ),
        (
            b"SSH-2.0-OpenSSH_9.9\r\n",
            Step::AwaitingHead,
            "not an HTTP answer",
        ),
    ];
    for (bytes, step, cause) in rows {
        let trouble = trouble(&[bytes]).await;
        assert_eq!(trouble.step, step, "{trouble}");
        assert!(trouble.cause.contains(cause), "{trouble}");
        assert_eq!(trouble.received, bytes);
        assert!(trouble.to_string().starts_with("127.0.0.1:"), "{trouble}");
    }
}

#[tokio::test]
async fn a_silent_deployment_is_given_up_at_the_deadline() {
    let address = support::silent().await;
    let outcome = Session::new(run(&address).target, SOON)
        .exchange(get(), Certainty::Certain)
        .await
        .outcome;
    let trouble = outcome.unwrap_err();
    assert_eq!(trouble.step, Step::AwaitingHead);
    assert!(trouble.cause.contains("not done after 300ms"), "{trouble}");
}

#[tokio::test]
async fn nobody_there_is_told_before_the_first_check() {
    let address = support::unused().await;
    let error = runner::probe(&run(&address)).await.unwrap_err().to_string();
    assert!(
        error.contains(&address) && error.contains("connecting"),
        "{error}"
    );
    let broken = scripted(&[b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 2\r\n\r\nno"]).await;
    let error = runner::probe(&run(&broken)).await.unwrap_err().to_string();
    assert!(error.contains("502 no"), "{error}");
}

#[tokio::test]
async fn an_early_answer_to_a_body_that_nobody_reads_is_heard() {
    let request = Request {
        method: "POST".into(),
        body: Some(vec![b'x'; 64 << 20]),
        ..get()
    };
    let answer = b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\n\r\n";
    let address = support::answers_unread(answer).await;
    let outcome = Session::new(run(&address).target, LIVENESS)
        .exchange(request, Certainty::Certain)
        .await
        .outcome;
    assert_eq!(outcome.unwrap().status, 413);
}

async fn failure(body: &[u8]) -> String {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let address = scripted(&[head.as_bytes(), body]).await;
    match Ctx::new(&run(&address), "x").get("/api/tags").send().await {
        Err(failure @ Failure::Failed(_)) => failure.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_not_compact_json_in_utf8_is_shown() {
    let rows: [(&[u8], &str); 5] = [
        (b"<html>\xff</html>", "bytes that are not UTF-8 at byte 6"),
        (b"<html>", "not JSON: no JSON value at byte 0"),
        (b"{\"tags\":[", "the end where a value should be"),
        (b"{\"tags\": []}", "a blank between tokens at byte 8"),
        (b"{\"tags\":[],\"more\":1}", "[\"tags\", \"more\"]"),
    ];
    for (body, part) in rows {
        let text = failure(body).await;
        assert!(text.contains(part), "{text}");
        assert!(text.contains("curl -i --path-as-is 'http://127.0.0.1:"), "{text}");
    }
    assert!(failure(b"<html>\xff</html>").await.contains("<html>\\xff</html>"));
}
