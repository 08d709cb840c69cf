//! A body that is far too large is answered 413, and the client hears it, however it sends (fault B083).

use std::sync::Arc;
use std::time::Duration;

use conduit_testkit::{TestDatabase, get};
use conformance::ctx::Ctx;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::both::Both;

const MEGABYTE: usize = 1 << 20;
/// Of an article.
const MEGABYTES: usize = 20;
const TRIES: usize = 6;
const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";
const TOO_LARGE: &str = r#"{"errors":{"request":["is too large"]}}"#;
/// Against tests that hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a client sends its body. Except for the patient one, none reads anything before it has sent everything: the worst that an
/// early answer can meet.
#[derive(Clone, Copy, Debug)]
enum Manner {
    Sized,
    Chunked,
    /// Asks first, and does not wait for the answer.
    Expecting,
    /// Asks first, and sends only if told to.
    Patient,
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_sends_twenty_megabytes_hears_that_it_is_too_much() {
    let both = Both::on(Arc::new(TestDatabase::new().await), &[]).await;
    let ann = Ctx::new(&both.runs()[0], "large").register().await.unwrap();
    let [monolith, http, grpc] = both
        .addresses("articles")
        .map(|address| every_way(address, &ann.token));
    tokio::join!(monolith, http, grpc);
}

async fn every_way(address: String, token: &str) {
    for manner in [Manner::Sized, Manner::Chunked, Manner::Expecting, Manner::Patient] {
        for _ in 0..TRIES {
            let told = timeout(PATIENCE, answer(&address, token, manner)).await;
            let told = told.unwrap_or_else(|_| panic!("{address}, {manner:?}: it hangs"));
            let (head, body) = told.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 413 "), "{manner:?}: {head}");
            assert_eq!(body, TOO_LARGE, "{manner:?}");
        }
    }
    assert_eq!(get(&address, "/api/tags").await.0, 200);
}

/// What the server says after all, and then the connection ends without a break.
async fn answer(address: &str, token: &str, manner: Manner) -> String {
    let address = address.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let framing = match manner {
        Manner::Sized => format!("content-length: {}", MEGABYTES * MEGABYTE),
        Manner::Chunked => "transfer-encoding: chunked".to_owned(),
        Manner::Expecting | Manner::Patient => {
            format!("content-length: {}\r\nexpect: 100-continue", MEGABYTES * MEGABYTE)
        }
    };
    let head = format!(
        "POST /api/articles HTTP/1.1\r\nhost: x\r\nauthorization: Token {token}\r\n{framing}\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut told = String::new();
    if let Manner::Patient = manner {
        more(&mut connection, &mut told).await;
    }
    if told.is_empty() || told == CONTINUE {
        send_body(&mut connection, manner).await;
    }
    while !told.ends_with(TOO_LARGE) {
        more(&mut connection, &mut told).await;
    }
    connection.shutdown().await.unwrap();
    assert_eq!(connection.read(&mut [0]).await.unwrap(), 0);
    told.strip_prefix(CONTINUE).unwrap_or(&told).to_owned()
}

async fn more(connection: &mut TcpStream, told: &mut String) {
    let mut part = [0; 4096];
    let length = connection.read(&mut part).await.unwrap();
    assert_ne!(length, 0, "it hung up after {told:?}");
    told.push_str(std::str::from_utf8(&part[..length]).unwrap());
}

async fn send_body(connection: &mut TcpStream, manner: Manner) {
    let part = vec![b'x'; MEGABYTE];
    for _ in 0..MEGABYTES {
        if let Manner::Chunked = manner {
            connection.write_all(b"100000\r\n").await.unwrap();
        }
        connection.write_all(&part).await.unwrap();
        if let Manner::Chunked = manner {
            connection.write_all(b"\r\n").await.unwrap();
        }
    }
    if let Manner::Chunked = manner {
        connection.write_all(b"0\r\n\r\n").await.unwrap();
    }
}
