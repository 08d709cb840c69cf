//! The order of steps 0 to 5, over real connections, with handlers that say what they were given.

use std::time::Duration;

use conduit_domain::page::ARTICLES;

use super::*;
use crate::route::Verb::{Delete, Get, Post};
use crate::testing::{Server, expired_token, good_token};
use crate::view::View;

#[derive(serde::Serialize)]
struct Given {
    caller: Option<i64>,
    names: Vec<String>,
    page: Option<(i64, i64)>,
    json: bool,
}

impl View for Given {
    fn roughly(&self) -> usize {
        64
    }
}

async fn given(_: &System, call: Call<'_>) -> Result<Answer> {
    Answer::ok(&Given {
        caller: call.caller.map(|id| id.0),
        names: call.names.0.into_iter().flatten().map(str::to_owned).collect(),
        page: call.page.map(|page| (page.limit, page.offset)),
        json: call.body.is_some(),
    })
}

async fn none(_: &System, _: Call<'_>) -> Result<Answer> {
    Ok(Answer::no_content())
}

async fn panics(_: &System, _: Call<'_>) -> Result<Answer> {
    panic!("on purpose")
}

async fn hangs(_: &System, _: Call<'_>) -> Result<Answer> {
    std::future::pending().await
}

macro_rules! handler {
    ($run:ident) => {
        Endpoint::System(|area, call| Box::pin($run(area, call)))
    };
}

static ROUTES: &[Route] = &[
    Route::new(Get, "/open", handler!(given)),
    Route::new(Post, "/open", handler!(given)),
    Route::new(Delete, "/open", handler!(none)),
    Route::new(Get, "/optional", handler!(given)).optional(),
    Route::new(Get, "/required", handler!(given))
        .required()
        .paged(ARTICLES),
    Route::new(Post, "/required", handler!(given))
        .required()
        .paged(ARTICLES)
        .json(),
    Route::new(Post, "/json", handler!(given)).json(),
    Route::new(Get, "/panics", handler!(panics)),
    Route::new(Get, "/hangs", handler!(hangs)),
    Route::new(Get, "/things/fixed", handler!(none)),
    Route::new(Get, "/things/{thing}", handler!(given)),
    Route::new(Get, "/things/{thing}/parts/{part}", handler!(given)),
    Route::new(
        Get,
        "/absent",
        Endpoint::Users(|_, _| Box::pin(async { Ok(Answer::no_content()) })),
    )
    .required(),
];

const JSON: &str = "application/json; charset=utf-8";
const MALFORMED: &str = r#"{"errors":{"request":["is malformed"]}}"#;
const TOO_LARGE: &str = r#"{"errors":{"request":["is too large"]}}"#;
const NO_ROUTE: &str = r#"{"errors":{"route":["not found"]}}"#;
const MISSING: &str = r#"{"errors":{"token":["is missing"]}}"#;
const ANY: &str = r#"{"caller":null,"names":[],"page":null,"json":false}"#;

async fn server() -> Server {
    Server::start(ROUTES, Duration::from_secs(10)).await
}

fn request(line: &str, headers: &[&str], body: &str) -> String {
    let mut text = format!("{line} HTTP/1.1\r\nhost: x\r\n");
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if !body.is_empty() {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    text + "\r\n" + body
}

fn authorization(token: &str) -> String {
    format!("authorization: Token {token}")
}

#[actix_web::test]
async fn paths_are_matched_on_raw_segments() {
    let server = server().await;
    for (path, names) in [
        ("/things/a", r#"["a"]"#),
        ("/things/a%2Fb", r#"["a%2Fb"]"#),
        ("/things/%66ixed", r#"["%66ixed"]"#),
        ("/things/.", r#"["."]"#),
        ("/things/..", r#"[".."]"#),
        ("/things/%2E%2E", r#"["%2E%2E"]"#),
        ("/things/%FF", r#"["%FF"]"#),
        ("/things/a;b=c?x=/y", r#"["a;b=c"]"#),
        ("/things/a/parts/b%20c", r#"["a","b%20c"]"#),
    ] {
        let reply = server.ask(&request(&format!("GET {path}"), &[], "")).await;
        let shown = format!(r#"{{"caller":null,"names":{names},"page":null,"json":false}}"#);
        assert_eq!((reply.status, reply.body), (200, shown), "{path}");
    }
    assert_eq!(
        server.ask(&request("GET /things/fixed", &[], "")).await.status,
        204
    );
    server.stop().await;
}

#[actix_web::test]
async fn anything_else_is_no_route() {
    let server = server().await;
    for line in [
        "GET /",
        "GET /things/",
        "GET //things/a",
        "GET /things//",
        "GET /things/a/",
        "GET /things/a/parts",
        "GET /things/a/parts/",
        "GET /things//parts/b",
        "GET /things/../open",
        "GET /open/",
        "GET /OPEN",
        "GET /open/x/y/z/a/b/c",
        "POST /nope",
        "PATCH /nope",
        "GET /absent",
        "DELETE /absent",
    ] {
        let reply = server.ask(&request(line, &["authorization: Token x"], "")).await;
        assert_eq!((reply.status, reply.body.as_str()), (404, NO_ROUTE), "{line}");
        assert_eq!(reply.header("content-type"), Some(JSON), "{line}");
        assert_eq!(reply.header("access-control-allow-origin"), Some("*"), "{line}");
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_wrong_method_is_told_the_right_ones_before_the_token_is_looked_at() {
    let server = server().await;
    for (line, allow) in [
        ("PUT /open", "GET, HEAD, POST, DELETE"),
        ("PATCH /open", "GET, HEAD, POST, DELETE"),
        ("BREW /open", "GET, HEAD, POST, DELETE"),
        ("TRACE /open", "GET, HEAD, POST, DELETE"),
        ("DELETE /required", "GET, HEAD, POST"),
        ("GET /json", "POST"),
        ("HEAD /json", "POST"),
        ("POST /things/fixed", "GET, HEAD"),
    ] {
        let reply = server.ask(&request(line, &[], "")).await;
        assert_eq!(reply.status, 405, "{line}");
        assert_eq!(reply.header("allow"), Some(allow), "{line}");
        if !line.starts_with("HEAD") {
            assert_eq!(reply.body, r#"{"errors":{"method":["not allowed"]}}"#, "{line}");
        }
    }
    server.stop().await;
}

#[actix_web::test]
async fn options_is_answered_everywhere_and_without_a_token() {
    let server = server().await;
    for path in ["/required", "/nope", "*", "/things//"] {
        let line = format!("OPTIONS {path}");
        let reply = server
            .ask(&request(&line, &["authorization: Token bad"], "ignored"))
            .await;
        assert_eq!((reply.status, reply.body.as_str()), (200, ""), "{path}");
        for (name, value) in [
            ("access-control-allow-origin", Some("*")),
            (
                "access-control-allow-methods",
                Some("GET,HEAD,POST,PUT,DELETE,OPTIONS"),
            ),
            (
                "access-control-allow-headers",
                Some("authorization,content-type,x-requested-with"),
            ),
            ("access-control-max-age", Some("86400")),
            ("content-type", None),
            ("content-length", Some("0")),
        ] {
            assert_eq!(reply.header(name), value, "{path} {name}");
        }
    }
    server.stop().await;
}

#[actix_web::test]
async fn what_no_proxy_would_pass_is_malformed_before_anything_else() {
    let server = server().await;
    let two = ["authorization: Token a", "authorization: Token a"];
    for (line, headers) in [
        ("GET /things/a%00b", &[][..]),
        ("GET /nope/%00", &[]),
        ("OPTIONS /nope/%00", &[]),
        ("PATCH /required/%00", &[]),
        ("GET /open", &two),
        ("OPTIONS /open", &two),
        ("GET /nope", &two),
    ] {
        let reply = server.ask(&request(line, headers, "")).await;
        assert_eq!((reply.status, reply.body.as_str()), (400, MALFORMED), "{line}");
    }
    let reply = server.ask(&request("GET /things/a%2500?x=%00", &[], "")).await;
    assert_eq!(reply.status, 200);
    server.stop().await;
}

#[actix_web::test]
async fn the_token_is_judged_by_the_kind_of_route() {
    let server = server().await;
    let good = authorization(&good_token());
    let expired = authorization(&expired_token());
    let (invalid, has_expired) = (
        r#"{"errors":{"token":["is invalid"]}}"#,
        r#"{"errors":{"token":["has expired"]}}"#,
    );
    let known = r#"{"caller":7,"names":[],"page":null,"json":false}"#;
    let paged = r#"{"caller":7,"names":[],"page":[20,0],"json":false}"#;
    for (path, header, status, body) in [
        ("/open", good.as_str(), 200, ANY),
        ("/open", "authorization: Token bad", 200, ANY),
        ("/optional", "x: y", 200, ANY),
        ("/optional", "authorization: Token", 200, ANY),
        ("/optional", "authorization: Basic abc", 200, ANY),
        ("/optional", good.as_str(), 200, known),
        ("/optional", "authorization: Token bad", 401, invalid),
        ("/optional", expired.as_str(), 401, has_expired),
        ("/required", "x: y", 401, MISSING),
        ("/required", "authorization:", 401, MISSING),
        ("/required", good.as_str(), 200, paged),
        ("/required", "authorization: bearer a.b.c", 401, invalid),
        ("/required", expired.as_str(), 401, has_expired),
    ] {
        let reply = server.ask(&request(&format!("GET {path}"), &[header], "")).await;
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (status, body),
            "{path} {header}"
        );
        assert_eq!(
            reply.header("www-authenticate"),
            (status == 401).then_some("Token"),
            "{path} {header}"
        );
    }
    server.stop().await;
}

#[actix_web::test]
async fn token_then_query_then_body() {
    let server = server().await;
    let good = authorization(&good_token());
    let big = "x".repeat(1_048_577);
    let bad_page =
        r#"{"errors":{"limit":["is not a number"],"offset":["must be greater than or equal to 0"]}}"#;
    let paged = r#"{"caller":7,"names":[],"page":[3,1],"json":true}"#;
    for (target, headers, body, status, shown) in [
        ("/required?limit=x", &[][..], big.as_str(), 401, MISSING),
        (
            "/required?limit=x&offset=-1",
            &[good.as_str()],
            big.as_str(),
            422,
            bad_page,
        ),
        (
            "/required?limit=3",
            &[good.as_str()],
            big.as_str(),
            413,
            TOO_LARGE,
        ),
        ("/required?limit=3", &[good.as_str()], "{", 400, MALFORMED),
        ("/required?limit=3", &[good.as_str()], "", 400, MALFORMED),
        ("/required?limit=3&offset=1", &[good.as_str()], "{}", 200, paged),
    ] {
        let reply = server
            .ask(&request(&format!("POST {target}"), headers, body))
            .await;
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (status, shown),
            "{target} {}",
            body.len()
        );
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_body_may_have_the_limit_and_not_a_byte_more() {
    let server = server().await;
    let most = format!("\"{}\"", "x".repeat(1_048_574));
    let chunked = |body: &str| {
        let head = "POST /json HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
        let (first, second) = body.split_at(body.len() / 2);
        format!(
            "{head}{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            first.len(),
            second.len()
        )
    };
    assert_eq!(server.ask(&request("POST /json", &[], &most)).await.status, 200);
    assert_eq!(server.ask(&chunked(&most)).await.status, 200);
    let more = format!("{most} ");
    for text in [
        request("POST /json", &[], &more),
        chunked(&more),
        request("POST /open", &[], &more),
    ] {
        let reply = server.ask(&text).await;
        assert_eq!((reply.status, reply.body.as_str()), (413, TOO_LARGE));
    }
    for text in [
        request("POST /open", &[], &most),
        request("POST /open", &[], "{"),
        request("GET /open", &[], "{"),
    ] {
        assert_eq!(server.ask(&text).await.body, ANY);
    }
    server.stop().await;
}

#[actix_web::test]
async fn head_is_get_without_the_body() {
    let server = server().await;
    for (path, status) in [
        ("/open", 200),
        ("/required", 401),
        ("/nope", 404),
        ("/things/fixed", 204),
    ] {
        let get = server.ask(&request(&format!("GET {path}"), &[], "")).await;
        let mut client = server.connect().await;
        client
            .send(request(&format!("HEAD {path}"), &[], "").as_bytes())
            .await;
        let head = client.reply(true).await;
        assert_eq!((get.status, head.status), (status, status), "{path}");
        for name in [
            "content-type",
            "content-length",
            "www-authenticate",
            "access-control-allow-origin",
        ] {
            assert_eq!(get.header(name), head.header(name), "{path} {name}");
        }
        client.send(request("GET /open", &[], "").as_bytes()).await;
        assert_eq!(
            client.reply(false).await.body,
            ANY,
            "the connection of {path} is out of step"
        );
    }
    server.stop().await;
}

#[actix_web::test]
async fn no_content_has_no_type() {
    let server = server().await;
    let reply = server.ask(&request("DELETE /open", &[], "{")).await;
    assert_eq!((reply.status, reply.body.as_str()), (204, ""));
    assert_eq!(reply.header("content-type"), None);
    assert_eq!(reply.header("access-control-allow-origin"), Some("*"));
    server.stop().await;
}

#[actix_web::test]
async fn a_small_unread_body_leaves_the_connection_usable() {
    let server = server().await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        for line in ["POST /required", "POST /nope", "PATCH /open", "OPTIONS /nope"] {
            client
                .send(request(line, &[], &"x".repeat(70_000)).as_bytes())
                .await;
            assert!(!client.reply(false).await.closes(), "{line}");
        }
        let chunked =
            "POST /nope HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        client.send(chunked.as_bytes()).await;
        assert!(!client.reply(false).await.closes());
        client.send(request("GET /open", &[], "").as_bytes()).await;
        assert_eq!(client.reply(false).await.body, ANY);
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_large_unread_body_closes_the_connection_behind_its_answer() {
    let server = server().await;
    for (line, header, status) in [
        ("POST /required", "x: y", 401),
        ("POST /json", "x: y", 413),
        ("POST /json", "expect: 100-continue", 413),
        ("POST /open", "x: y", 413),
        ("POST /nope", "expect: 100-continue", 404),
    ] {
        let mut client = server.connect().await;
        client
            .send(request(line, &[header], &"x".repeat(2_000_000)).as_bytes())
            .await;
        let reply = client.reply(false).await;
        assert_eq!(reply.status, status, "{line}");
        assert!(reply.closes(), "{line}");
        assert!(client.is_closed().await, "{line}");
    }
    server.stop().await;
}

#[actix_web::test]
async fn an_endless_body_is_not_read_for_ever() {
    let server = Server::lingering(ROUTES, Duration::from_secs(10), Duration::from_millis(50)).await;
    for (line, status) in [("POST /json", 413), ("POST /nope", 404), ("OPTIONS /nope", 200)] {
        let mut client = server.connect().await;
        let head = format!("{line} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        client.send(head.as_bytes()).await;
        let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
        for _ in 0..17 {
            client.send(chunk.as_bytes()).await;
        }
        let reply = client.reply(false).await;
        assert_eq!(reply.status, status, "{line}");
        assert!(reply.closes(), "{line}");
        let most = 1 << 33;
        assert!(
            client.send_until_refused(chunk.as_bytes(), most).await < most,
            "{line}"
        );
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_body_is_too_large_as_soon_as_it_is() {
    let server = server().await;
    let mut client = server.connect().await;
    client
        .send(b"POST /json HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    client
        .send(format!("100001\r\n{}\r\n", "x".repeat(0x10_0001)).as_bytes())
        .await;
    assert_eq!(client.reply(false).await.status, 413);
    server.stop().await;
}

#[actix_web::test]
async fn another_protocol_is_not_waited_for() {
    let server = server().await;
    for headers in [
        &["connection: upgrade", "upgrade: websocket"][..],
        &[
            "connection: upgrade",
            "upgrade: h2c",
            "http2-settings: AAMAAABkAAQAAP__",
        ],
    ] {
        let reply = server.ask(&request("GET /open", headers, "")).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, ANY), "{headers:?}");
    }
    let reply = server
        .ask(&request(
            "POST /json",
            &["connection: upgrade", "upgrade: h2c"],
            "{}",
        ))
        .await;
    assert_eq!(reply.status, 200);
    let reply = server.ask("CONNECT x:80 HTTP/1.1\r\nhost: x:80\r\n\r\n").await;
    assert_eq!((reply.status, reply.body.as_str()), (404, NO_ROUTE));
    assert!(reply.closes());
    server.stop().await;
}

#[actix_web::test]
async fn a_body_that_breaks_off_is_malformed() {
    let server = server().await;
    let mut client = server.connect().await;
    client
        .send(b"POST /json HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n")
        .await;
    let reply = client.reply(false).await;
    assert_eq!((reply.status, reply.body.as_str()), (400, MALFORMED));
    assert!(reply.closes());
    server.stop().await;
}

#[actix_web::test]
async fn every_answer_names_its_request() {
    let server = server().await;
    for line in [
        "GET /open",
        "DELETE /open",
        "OPTIONS /nope",
        "GET /nope",
        "POST /json",
    ] {
        let reply = server.ask(&request(line, &["x-request-id: quoted"], "")).await;
        assert_eq!(reply.header("x-request-id"), Some("quoted"), "{line}");
        let reply = server.ask(&request(line, &[], "")).await;
        assert!(
            reply.header("x-request-id").is_some_and(|id| id.len() > 17),
            "{line}"
        );
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_handler_that_panics_fails_alone() {
    let server = server().await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        client
            .send(request("GET /panics", &["x-request-id: quoted"], "").as_bytes())
            .await;
        let reply = client.reply(false).await;
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (500, r#"{"errors":{"server":["internal error"]}}"#)
        );
        assert_eq!(reply.header("x-request-id"), Some("quoted"));
        client.send(request("GET /open", &[], "").as_bytes()).await;
        assert_eq!(client.reply(false).await.status, 200);
    }
    server.stop().await;
}

#[actix_web::test]
async fn a_handler_that_hangs_is_given_up() {
    let server = Server::start(ROUTES, Duration::from_millis(20)).await;
    let reply = server.ask(&request("GET /hangs", &[], "")).await;
    assert_eq!(
        (reply.status, reply.body.as_str()),
        (503, r#"{"errors":{"server":["is unavailable"]}}"#)
    );
    assert_eq!(reply.header("retry-after"), None);
    server.stop().await;
}

#[actix_web::test]
async fn requests_are_counted_by_pattern() {
    let server = server().await;
    for line in ["GET /things/a", "GET /things/b", "GET /nope", "BREW /open"] {
        server.ask(&request(line, &[], "")).await;
    }
    let text = server.metrics.text().unwrap();
    for line in [
        r#"http_requests_total{method="GET",route="/things/{thing}",status="200"} 2"#,
        r#"http_requests_total{method="GET",route="unknown",status="404"} 1"#,
        r#"http_requests_total{method="other",route="/open",status="405"} 1"#,
        r#"http_request_duration_seconds_count{method="GET",route="/things/{thing}"} 2"#,
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    server.stop().await;
}
