//! The proxy's own errors look like the application's (contract 1.7).

use stack::nginx::{LoginLimit, Topology};

use crate::support::{Answer, Front, Manner, Service, monoliths, nobody, program};

/// A break would not show each time.
const TRIES: usize = 5;

fn is_ours(answer: &Answer, status: u16, key: &str, message: &str) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.body, format!(r#"{{"errors":{{"{key}":["{message}"]}}}}"#));
    assert_eq!(
        answer.header("content-type"),
        Some("application/json; charset=utf-8")
    );
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.headers("access-control-allow-origin"), 1);
}

fn in_front_of(address: &str) -> Option<Front> {
    Some(Front::start(
        &program()?,
        Topology::Single,
        monoliths(&[address]),
        |_| {},
    ))
}

#[test]
fn what_no_parser_accepts_is_malformed() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    let twice = "authorization: Token x\r\nauthorization: Token y\r\n";
    for request in [
        "GET /api/articles/%00 HTTP/1.1\r\nhost: x\r\n\r\n".to_owned(),
        format!("GET /api/user HTTP/1.1\r\nhost: x\r\n{twice}\r\n"),
        "GET /api/tags HTTP/1.1\r\n\r\n".to_owned(),
        "GET /api/tags HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n".to_owned(),
        "what?\r\n\r\n".to_owned(),
    ] {
        is_ours(&front.send(&request), 400, "request", "is malformed");
    }
}

#[test]
fn what_is_too_much_is_too_large() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    let long = "x".repeat(40_000);
    is_ours(
        &front.send(format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n")),
        414,
        "request",
        "is too large",
    );
    let request = format!("GET / HTTP/1.1\r\nhost: x\r\nauthorization: Token {long}\r\n\r\n");
    is_ours(&front.send(request), 431, "request", "is too large");
}

#[test]
fn a_body_over_the_limit_is_refused_and_the_client_hears_it() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    let body = vec![b'x'; 20 << 20];
    let size = format!("{:x}\r\n", body.len());
    for method in ["POST", "PUT"] {
        let head = |more: &str| {
            format!("{method} /api/articles HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{more}\r\n\r\n")
        };
        let length = format!("content-length: {}", body.len());
        let sized = [head(&length).as_bytes(), &body].concat();
        let asking = head(&format!("{length}\r\nexpect: 100-continue"));
        let expecting = [asking.as_bytes(), &body].concat();
        let chunked = [
            head("transfer-encoding: chunked").as_bytes(),
            size.as_bytes(),
            &body,
            b"\r\n0\r\n\r\n",
        ]
        .concat();
        for _ in 0..TRIES {
            is_ours(&front.send_all(&sized), 413, "request", "is too large");
            is_ours(&front.send_all(&chunked), 413, "request", "is too large");
            is_ours(&front.send_all(&expecting), 413, "request", "is too large");
            // Whoever waits to be told is not told to go on.
            is_ours(&front.send_all(asking.as_bytes()), 413, "request", "is too large");
        }
    }
}

#[test]
fn methods_that_nginx_refuses_itself_are_not_allowed() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    let answer = front.ask("TRACE", "/api/tags");
    is_ours(&answer, 405, "method", "not allowed");
    assert_eq!(answer.header("allow"), Some("GET,HEAD,POST,PUT,DELETE,OPTIONS"));
}

#[test]
fn an_unknown_version_keeps_its_status() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    is_ours(
        &front.send("GET / HTTP/3.0\r\nhost: x\r\n\r\n"),
        505,
        "request",
        "is malformed",
    );
}

#[test]
fn an_application_that_is_not_there_is_unavailable() {
    let Some(front) = in_front_of(&nobody()) else {
        return;
    };
    for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
        let answer = front.ask(method, "/api/articles/x");
        is_ours(&answer, 503, "server", "is unavailable");
        assert!(answer.header("x-request-id").is_some_and(|id| id.len() == 32));
    }
    let answer = front.ask("HEAD", "/api/tags");
    assert_eq!((answer.status, answer.body.as_str()), (503, ""));
}

#[test]
fn an_application_that_is_silent_or_breaks_off_is_unavailable() {
    let silent = Service::start("silent", Manner::IsSilent);
    let Some(front) = in_front_of(&silent.address) else {
        return;
    };
    is_ours(&front.ask("PUT", "/api/user"), 503, "server", "is unavailable");
    let breaking = Service::start("breaking", Manner::BreaksOff);
    let Some(front) = in_front_of(&breaking.address) else {
        return;
    };
    for method in ["GET", "POST", "PUT", "DELETE"] {
        is_ours(&front.ask(method, "/api/user"), 503, "server", "is unavailable");
    }
}

#[test]
fn attempts_to_log_in_are_limited_and_nothing_else() {
    let Some(program) = program() else { return };
    let service = Service::start("monolith", Manner::Answers);
    let front = Front::start(
        &program,
        Topology::Single,
        monoliths(&[&service.address]),
        |site| {
            site.login_limit = Some(LoginLimit {
                per_minute: 1,
                burst: 2,
            });
        },
    );
    let statuses: Vec<u16> = (0..3)
        .map(|_| front.ask("POST", "/api/users/login").status)
        .collect();
    assert_eq!(statuses, [200; 3]);
    let answer = front.ask("POST", "/api/users/login?again");
    is_ours(&answer, 429, "request", "is too frequent");
    assert_eq!(answer.header("retry-after"), Some("60"));
    for (method, target) in [
        ("GET", "/api/users/login"),
        ("POST", "/api/users"),
        ("POST", "/api/users/loginx"),
    ] {
        assert_eq!(front.ask(method, target).status, 200, "{method} {target}");
    }
}
