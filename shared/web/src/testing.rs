//! For tests: a server on port 0 with a table of its own, and a client that sees every byte.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpServer};
use async_trait::async_trait;
use conduit_app::{Readiness, Tokens};
use conduit_domain::{AccountId, Clock, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::api::{System, bare, serve};
use crate::gate::{Gate, Verifier};
use crate::metrics::Metrics;
use crate::route::{Route, Table};

/// Ends a test that hangs; no test waits for it.
const HANGS: Duration = Duration::from_secs(20);

pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000)
    }
}

pub(crate) struct Ready(pub(crate) bool);

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.0
    }
}

pub(crate) fn tokens() -> Tokens {
    Tokens::new(
        b"a secret of thirty-two bytes or more",
        &[],
        Duration::from_secs(60),
    )
    .unwrap()
}

pub(crate) fn good_token() -> String {
    tokens().issue(AccountId(7), Still.now()).unwrap()
}

pub(crate) fn expired_token() -> String {
    tokens()
        .issue(AccountId(7), Timestamp::from_millis(1_700_000_000_000))
        .unwrap()
}

pub(crate) struct Server {
    address: SocketAddr,
    handle: ServerHandle,
    pub(crate) metrics: Metrics,
}

impl Server {
    pub(crate) async fn start(routes: &'static [Route], deadline: Duration) -> Self {
        Self::lingering(routes, deadline, Duration::from_secs(5)).await
    }

    /// With a bound on how long a connection is read after an answer that closes it.
    pub(crate) async fn lingering(routes: &'static [Route], deadline: Duration, linger: Duration) -> Self {
        let table: &'static Table = Box::leak(Box::new(Table::new(routes)));
        let metrics = Metrics::default();
        let counted = metrics.clone();
        let server = HttpServer::new(move || {
            let system = System {
                readiness: Arc::new(Ready(true)),
                deadline,
                metrics: counted.clone(),
            };
            let verifier = Some(Verifier {
                tokens: tokens(),
                clock: Arc::new(Still),
            });
            let gate = Gate {
                verifier,
                ..bare(table, system)
            };
            App::new().configure(|config| serve(config, gate))
        })
        .workers(1)
        .client_disconnect_timeout(linger)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .unwrap();
        let address = server.addrs()[0];
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Self {
            address,
            handle,
            metrics,
        }
    }

    pub(crate) async fn connect(&self) -> Client {
        Client {
            stream: TcpStream::connect(self.address).await.unwrap(),
            read: Vec::new(),
        }
    }

    /// One request on a connection of its own.
    pub(crate) async fn ask(&self, request: &str) -> Reply {
        let mut client = self.connect().await;
        client.send(request.as_bytes()).await;
        let head = request.starts_with("HEAD ");
        client.reply(head).await
    }

    pub(crate) async fn stop(self) {
        self.handle.stop(false).await;
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub(crate) fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }
}

impl Client {
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        timeout(HANGS, self.stream.write_all(bytes))
            .await
            .unwrap()
            .unwrap();
    }

    /// Sends as much as the server takes.
    pub(crate) async fn send_until_refused(&mut self, part: &[u8], most: usize) -> usize {
        let mut sent = 0;
        while sent < most && timeout(HANGS, self.stream.write_all(part)).await.unwrap().is_ok() {
            sent += part.len();
        }
        sent
    }

    /// The next response, which has no body if its request was a `HEAD`.
    pub(crate) async fn reply(&mut self, head: bool) -> Reply {
        timeout(HANGS, self.read_reply(head)).await.expect("no answer")
    }

    /// Whether the connection ends when this side has ended, with nothing more sent before that.
    pub(crate) async fn is_closed(&mut self) -> bool {
        self.stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let ended = timeout(HANGS, self.stream.read_to_end(&mut rest)).await;
        ended.is_ok() && rest.is_empty() && self.read.is_empty()
    }

    async fn read_reply(&mut self, head: bool) -> Reply {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|part| part == b"\r\n\r\n") {
                break end;
            }
            self.more().await;
        };
        let text = String::from_utf8(self.read.drain(..end + 4).collect()).unwrap();
        let mut lines = text.trim_end().split("\r\n");
        let status: u16 = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        if status == 100 {
            return Box::pin(self.read_reply(head)).await;
        }
        let mut headers = BTreeMap::new();
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            assert!(
                headers.insert(name.to_lowercase(), value.to_owned()).is_none(),
                "{name} twice"
            );
        }
        let length = headers
            .get("content-length")
            .map_or(0, |text| text.parse().unwrap());
        let length = if head { 0 } else { length };
        while self.read.len() < length {
            self.more().await;
        }
        let body = String::from_utf8(self.read.drain(..length).collect()).unwrap();
        Reply {
            status,
            headers,
            body,
        }
    }

    async fn more(&mut self) {
        let count = self.stream.read_buf(&mut self.read).await.unwrap();
        assert!(
            count > 0,
            "closed after {:?}",
            String::from_utf8_lossy(&self.read)
        );
    }
}
