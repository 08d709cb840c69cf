//! Serving until told to stop.

#![allow(clippy::unwrap_used, missing_docs)]

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::dev::Server;
use actix_web::web::{self, ServiceConfig};
use clap::Parser;
use conduit_runtime::process::{self, Listener};
use conduit_runtime::settings::{HttpArgs, Listen};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::{Notify, oneshot};

/// Only so that a fault ends the test; nothing is measured.
const LIVENESS: Duration = Duration::from_secs(20);

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    http: HttpArgs,
}

/// A handler that waits to be released, after it has said that it was entered.
#[derive(Clone, Default)]
struct Gate {
    entered: Arc<Notify>,
    released: Arc<Notify>,
}

impl Gate {
    fn configure(&self) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
        let gate = self.clone();
        move |config| {
            let gate = gate.clone();
            config.route("/", web::get().to(move || gate.clone().answer()));
        }
    }

    async fn answer(self) -> HttpResponse {
        self.entered.notify_one();
        self.released.notified().await;
        HttpResponse::Ok().body("answered")
    }
}

fn serve(listen: &Listen, gate: &Gate) -> (Server, Option<SocketAddr>) {
    let args = Program::try_parse_from(["program"]).unwrap().http;
    let listener = Listener::bind(listen).unwrap();
    let address = listener.socket_address();
    (
        process::serve(listener, NonZeroUsize::MIN, &args, gate.configure()).unwrap(),
        address,
    )
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIVENESS, future).await.unwrap()
}

/// Runs the server in the background; sending ends it, the first channel tells that it is ending.
fn running(
    server: Server,
) -> (
    oneshot::Sender<()>,
    oneshot::Receiver<()>,
    tokio::task::JoinHandle<io::Result<()>>,
) {
    let (stop, stopped) = oneshot::channel::<()>();
    let (told, stopping) = oneshot::channel();
    let signal = async move {
        let _ = stopped.await;
        "the test"
    };
    let task = tokio::spawn(process::run(vec![server], signal, Duration::ZERO, move || {
        told.send(()).unwrap();
    }));
    (stop, stopping, task)
}

#[tokio::test]
async fn a_stop_lets_requests_in_flight_finish_and_takes_no_more() {
    let gate = Gate::default();
    let (server, address) = serve(&"127.0.0.1:0".parse().unwrap(), &gate);
    let address = address.unwrap();
    let (stop, stopping, task) = running(server);
    let mut client = within(TcpStream::connect(address)).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    within(gate.entered.notified()).await;

    stop.send(()).unwrap();
    within(stopping).await.unwrap();
    gate.released.notify_one();
    let mut answer = String::new();
    within(client.read_to_string(&mut answer)).await.unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.ends_with("answered"),
        "{answer}"
    );
    within(task).await.unwrap().unwrap();
    assert!(within(TcpStream::connect(address)).await.is_err());
}

#[tokio::test]
async fn an_idle_connection_does_not_hold_up_a_stop() {
    let gate = Gate::default();
    gate.released.notify_one();
    let (server, address) = serve(&"127.0.0.1:0".parse().unwrap(), &gate);
    let (stop, _stopping, task) = running(server);
    let mut client = within(TcpStream::connect(address.unwrap())).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    let mut byte = [0];
    within(client.read_exact(&mut byte)).await.unwrap();
    stop.send(()).unwrap();
    within(task).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_unix_socket_serves_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http");
    let gate = Gate::default();
    gate.released.notify_one();
    let (server, _) = serve(&Listen::Unix(path.clone()), &gate);
    let (stop, _stopping, task) = running(server);
    let mut client = within(UnixStream::connect(path)).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    let mut status = [0; 12];
    within(client.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    stop.send(()).unwrap();
    within(task).await.unwrap().unwrap();
}
