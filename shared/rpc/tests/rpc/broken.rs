//! Peers that are down, slow, closing, foreign or out of their mind: an error of the right kind, at most one more attempt.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use conduit_domain::AccountId;
use conduit_rpc::limits::ANSWER_BYTES;
use conduit_rpc::{CallError, CallSettings, FindUsers, PeerAddress, Transport, User, connect};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::in_time;
use crate::server::{Server, Socket, TRANSPORTS, settings};
use crate::world::small;

/// A server that does this to every connection.
pub(crate) struct Broken {
    pub(crate) address: PeerAddress,
    pub(crate) connections: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Broken {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) async fn broken<F>(behave: impl Fn(TcpStream) -> F + Send + 'static) -> Broken
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().into();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let task = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(behave(stream));
        }
    });
    Broken {
        address,
        connections,
        task,
    }
}

/// Reads the head of an HTTP/1.1 request.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// Answers every HTTP/1.1 request with these bytes and closes.
async fn http(bytes: impl Into<Vec<u8>>) -> Broken {
    let bytes = bytes.into();
    broken(move |mut stream| {
        let bytes = bytes.clone();
        async move {
            if read_head(&mut stream).await.is_some() {
                let _peer_may_be_gone = stream.write_all(&bytes).await;
            }
        }
    })
    .await
}

/// Answers every HTTP/2 request with these headers and this data, and then closes the connection without an end.
async fn http2(headers: &'static [(&'static str, &'static str)], data: impl Into<Vec<u8>>) -> Broken {
    let data = data.into();
    broken(move |stream| {
        let data = data.clone();
        async move {
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let Some(Ok((_request, mut respond))) = connection.accept().await else {
                return;
            };
            let mut response = http::Response::builder();
            for (name, value) in headers {
                response = response.header(*name, *value);
            }
            let mut body = respond.send_response(response.body(()).unwrap(), false).unwrap();
            body.send_data(data.into(), false).unwrap();
            // Drives the connection until all that fits is written; the client's silence then lets go.
            let _written = tokio::time::timeout(Duration::from_millis(50), connection.accept()).await;
        }
    })
    .await
}

fn quick() -> CallSettings {
    CallSettings {
        call_timeout: Duration::from_secs(20),
        ..settings()
    }
}

pub(crate) async fn ask(
    transport: Transport,
    address: &PeerAddress,
    settings: &CallSettings,
) -> Result<Vec<User>, CallError> {
    let peers = connect(transport, address, settings);
    in_time(peers.users.find(FindUsers {
        ids: vec![AccountId(1)],
        names: Vec::new(),
    }))
    .await
}

/// Asks once and expects nonsense without another attempt.
async fn is_nonsense(transport: Transport, peer: &Broken, what: &str) {
    let settings = quick();
    let answer = ask(transport, &peer.address, &settings).await;
    assert!(
        matches!(answer, Err(CallError::Nonsense(_))),
        "{what} {transport:?}: {answer:?}"
    );
    assert_eq!(
        settings.counts.retries("users", "find"),
        0,
        "{what} {transport:?}"
    );
    assert_eq!(peer.connections.load(Ordering::SeqCst), 1, "{what} {transport:?}");
}

#[tokio::test]
async fn a_peer_that_is_down_is_tried_once_more() {
    let gone = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let no_socket = format!("unix:{}/none.sock", folder.path().display())
        .parse()
        .unwrap();
    for transport in TRANSPORTS {
        for address in [&gone.into(), &no_socket] {
            let settings = quick();
            let answer = ask(transport, address, &settings).await;
            assert!(
                matches!(answer, Err(CallError::Unreachable(_))),
                "{transport:?} {address}: {answer:?}"
            );
            assert_eq!(settings.counts.retries("users", "find"), 1);
            assert_eq!(settings.counts.calls("users", "find"), 1);
            let settings = CallSettings {
                retry: false,
                ..quick()
            };
            let answer = ask(transport, address, &settings).await;
            assert!(
                matches!(answer, Err(CallError::Unreachable(_))),
                "{transport:?} {address}: {answer:?}"
            );
            assert_eq!(settings.counts.retries("users", "find"), 0);
        }
    }
}

#[tokio::test]
async fn a_peer_that_closes_before_it_answers_is_tried_once_more() {
    let at_once = broken(async |stream| drop(stream)).await;
    let after_the_request = broken(|mut stream| async move { drop(read_head(&mut stream).await) }).await;
    let after_the_request_2 = broken(|stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        drop(connection.accept().await);
    })
    .await;
    for (transport, peer) in [
        (Transport::Http, &at_once),
        (Transport::Http, &after_the_request),
        (Transport::Grpc, &at_once),
        (Transport::Grpc, &after_the_request_2),
    ] {
        peer.connections.store(0, Ordering::SeqCst);
        let settings = quick();
        let answer = ask(transport, &peer.address, &settings).await;
        assert!(
            matches!(answer, Err(CallError::Unreachable(_))),
            "{transport:?}: {answer:?}"
        );
        assert_eq!(settings.counts.retries("users", "find"), 1);
        assert_eq!(peer.connections.load(Ordering::SeqCst), 2, "{transport:?}");
    }
}

#[tokio::test]
async fn a_peer_that_never_answers_costs_the_call_its_time() {
    let silent = broken(|mut stream| async move {
        let _until_the_caller_leaves = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    for transport in TRANSPORTS {
        let settings = CallSettings {
            call_timeout: Duration::from_millis(50),
            ..settings()
        };
        let answer = ask(transport, &silent.address, &settings).await;
        assert!(
            matches!(answer, Err(CallError::TimedOut)),
            "{transport:?}: {answer:?}"
        );
        assert_eq!(settings.counts.retries("users", "find"), 0);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_nonsense() {
    let whole = r#"{"users":[{"id":1,"username":"ann"}]}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", whole.len() + 1);
    is_nonsense(Transport::Http, &http(head + whole).await, "a body too short").await;
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"use";
    is_nonsense(Transport::Http, &http(chunked).await, "chunks without an end").await;
    let grpc = &[("content-type", "application/grpc")];
    is_nonsense(
        Transport::Grpc,
        &http2(grpc, b"\0\0\0\0\x09\x0a".to_vec()).await,
        "half a message",
    )
    .await;
    is_nonsense(Transport::Grpc, &http2(grpc, Vec::new()).await, "only a head").await;
    is_nonsense(
        Transport::Grpc,
        &http2(grpc, b"\0\0\0\0\0".to_vec()).await,
        "a message without a status",
    )
    .await;
}

#[tokio::test]
async fn what_is_no_peer_is_nonsense() {
    let ssh = |mut stream: TcpStream| async move {
        // Whoever speaks before it is asked is the next test's.
        let _asked = stream.read_u8().await;
        let _peer_may_be_gone = stream.write_all(SSH).await;
        let _until_the_caller_leaves = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    };
    for transport in TRANSPORTS {
        is_nonsense(transport, &broken(ssh).await, "another protocol").await;
    }
    let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>";
    is_nonsense(Transport::Http, &http(page).await, "a page").await;
    for answer in [
        "{}",
        "[]",
        "null",
        r#"{"users":[{"id":"1","username":"ann"}]}"#,
        r#"{"users":null}"#,
    ] {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        is_nonsense(Transport::Http, &http(head).await, answer).await;
    }
    for status in [
        "204 No Content",
        "302 Found\r\nlocation: /x",
        "404 Not Found",
        "500 Broken",
    ] {
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        is_nonsense(Transport::Http, &http(answer).await, status).await;
    }
    let bytes = b"\0\0\0\0\x03\xff\xff\xff".to_vec();
    let grpc = &[("content-type", "application/grpc")];
    is_nonsense(
        Transport::Grpc,
        &http2(grpc, bytes).await,
        "bytes that are no message",
    )
    .await;
    let unknown = &[("content-type", "application/grpc"), ("grpc-status", "12")];
    is_nonsense(
        Transport::Grpc,
        &http2(unknown, Vec::new()).await,
        "another service",
    )
    .await;
}

const SSH: &[u8] = b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n";

#[tokio::test]
async fn a_peer_of_another_protocol_that_is_first_to_speak_or_to_close_is_no_peer() {
    let ssh = |mut stream: TcpStream| async move {
        let _peer_may_be_gone = stream.write_all(SSH).await;
        let _until_the_caller_leaves = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    };
    let page = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    for (transport, peer) in [
        (Transport::Http, broken(ssh).await),
        (Transport::Grpc, broken(ssh).await),
        (Transport::Grpc, http(page).await),
    ] {
        let answer = ask(transport, &peer.address, &quick()).await;
        // It depends on what comes first, their words, our question or the end.
        let refused = matches!(answer, Err(CallError::Nonsense(_) | CallError::Unreachable(_)));
        assert!(refused, "{transport:?}: {answer:?}");
        assert!(peer.connections.load(Ordering::SeqCst) <= 2);
    }
}

#[tokio::test]
async fn a_caller_with_the_wrong_transport_gets_an_error() {
    for (theirs, ours) in [
        (Transport::Http, Transport::Grpc),
        (Transport::Grpc, Transport::Http),
    ] {
        let server = Server::start((theirs, Socket::Tcp), &small());
        let answer = ask(ours, &server.address, &quick()).await;
        let refused = matches!(answer, Err(CallError::Nonsense(_) | CallError::Unreachable(_)));
        assert!(refused, "{ours:?}: {answer:?}");
        assert!(ask(theirs, &server.address, &quick()).await.is_ok(), "{theirs:?}");
    }
}

#[tokio::test]
async fn an_answer_over_the_limit_is_nonsense() {
    let endless = broken(|mut stream| async move {
        if read_head(&mut stream).await.is_none() {
            return;
        }
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
        let mut open = stream.write_all(head).await.is_ok();
        for _ in 0..=ANSWER_BYTES / 0x10000 {
            open = open && stream.write_all(&chunk).await.is_ok();
        }
        let _until_the_caller_leaves = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    })
    .await;
    is_nonsense(Transport::Http, &endless, "too much").await;
    let size = u32::try_from(ANSWER_BYTES + 1).unwrap().to_be_bytes();
    let grpc = &[("content-type", "application/grpc")];
    is_nonsense(
        Transport::Grpc,
        &http2(grpc, [&[0], &size[..]].concat()).await,
        "too much",
    )
    .await;
}
