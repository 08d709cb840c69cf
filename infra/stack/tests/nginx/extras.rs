//! What is optional: shares, files of a front end, connections that are kept.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use stack::nginx::{Copy, Tls, Topology};

use crate::support::{Front, Manner, Service, certificate, folder, monoliths, one_each, program, split};

#[test]
fn a_copy_gets_its_share() {
    let Some(program) = program() else { return };
    let services = split();
    let second = Service::start("second", Manner::Answers);
    let mut copies = one_each(&services);
    let articles = copies.get_mut("articles").unwrap();
    articles[0].weight = 3;
    articles.push(Copy::new(&second.address));
    let front = Front::start(&program, Topology::Rebalanced, copies, |_| {});
    for _ in 0..40 {
        assert_eq!(front.ask("GET", "/api/articles/x").status, 200);
    }
    assert_eq!(
        (services["articles"].asked().len(), second.asked().len()),
        (30, 10)
    );
}

#[test]
fn a_front_end_is_served_beside_the_application() {
    let Some(program) = program() else { return };
    let files = folder();
    fs::write(files.path().join("index.html"), "the page").unwrap();
    fs::write(files.path().join("app.js"), "the script").unwrap();
    let service = Service::start("application", Manner::Answers);
    let front = Front::start(
        &program,
        Topology::Single,
        monoliths(&[&service.address]),
        |site| {
            site.static_folder = Some(files.path().to_owned());
        },
    );
    let body = |target: &str| front.ask("GET", target).body;
    for target in [
        "/",
        "/editor/some-slug",
        "/index.html",
        "/apis",
        "/a/..%2Fetc%2Fpasswd",
    ] {
        assert_eq!(body(target), "the page", "{target}");
    }
    let script = front.ask("GET", "/app.js?v=1");
    assert_eq!(
        (script.body.as_str(), script.header("content-type")),
        ("the script", Some("text/javascript"))
    );
    for target in [
        "/api",
        "/api/tags",
        "/api/articles/..%2F..%2Fapp.js",
        "/api/x/../../app.js",
        "/docs/x",
        "/readyz?x",
        "/metrics",
    ] {
        assert_eq!(body(target), "application", "{target}");
    }
    assert_eq!(front.ask("POST", "/app.js").body, "application");
}

/// Asked by a program that is not ours.
#[test]
fn tls_is_spoken_where_there_is_a_certificate() {
    let Some(program) = program() else { return };
    let service = Service::start("application", Manner::Answers);
    let files = folder();
    let (certificate, key) = certificate(files.path());
    let front = Front::start(
        &program,
        Topology::Single,
        monoliths(&[&service.address]),
        |site| {
            site.tls = Some(Tls {
                certificate: certificate.clone(),
                key: key.clone(),
            });
        },
    );
    let mut openssl = Command::new("openssl");
    openssl.args([
        "s_client",
        "-quiet",
        "-verify_return_error",
        "-connect",
        &front.address,
        "-CAfile",
    ]);
    openssl.arg(&certificate);
    let mut asking = openssl
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = asking.stdin.take().unwrap();
    pipe.write_all(b"GET /api/tags HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    let answer = String::from_utf8(asking.wait_with_output().unwrap().stdout).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("application"),
        "{answer}"
    );
    assert_eq!(service.asked()[0].header("x-forwarded-proto"), Some("https"));
    // In the clear it is refused, in the contract's words.
    let refused = front.ask("GET", "/api/tags");
    assert_eq!(
        (refused.status, refused.body.as_str()),
        (400, r#"{"errors":{"request":["is malformed"]}}"#)
    );
}

#[test]
fn connections_to_the_application_are_kept() {
    let Some(program) = program() else { return };
    let service = Service::start("application", Manner::Answers);
    let front = Front::start(&program, Topology::Single, monoliths(&[&service.address]), |_| {});
    for method in ["GET", "PUT", "POST"] {
        front.ask(method, "/");
    }
    for asked in service.asked() {
        assert_eq!(asked.header("connection"), None, "{}", asked.head);
        assert!(asked.line().ends_with(" HTTP/1.1"));
    }
}
