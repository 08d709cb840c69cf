//! gRPC on a connection that somebody else accepted, so that it is served by the worker that did, with that worker's pool.

use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tonic::service::Routes;

/// Calls under way on one connection. A caller keeps below it by itself; a limit this high only bounds what a broken one can take.
const STREAMS: u32 = 1_000;
/// What a caller may send before it is told to go on.
const WINDOW: u32 = 1 << 20;
const PING_EVERY: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection to serve.
pub trait Io: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Where it comes from.
    fn caller(&self) -> Caller;
}

/// Where a call comes from, for the log.
#[derive(Clone, Copy, Debug)]
pub enum Caller {
    /// Over TCP; `None` if the connection is gone already.
    Tcp(Option<SocketAddr>),
    /// Over a Unix socket.
    Unix,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(Some(address)) => address.fmt(f),
            Self::Tcp(None) => f.write_str("unknown address"),
            Self::Unix => f.write_str("unix socket"),
        }
    }
}

impl Io for TcpStream {
    fn caller(&self) -> Caller {
        // An answer is two small writes; without this the second would wait for an acknowledgement.
        if let Err(error) = self.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
        Caller::Tcp(self.peer_addr().ok())
    }
}

impl Io for UnixStream {
    fn caller(&self) -> Caller {
        Caller::Unix
    }
}

/// Serves one accepted connection until the other end closes it or `shutdown` completes and the calls under way are answered. Runs on
/// any runtime, a single-threaded one included; the calls are tasks of that runtime.
pub async fn serve_connection<I: Io>(io: I, routes: Routes, shutdown: impl Future<Output = ()>) {
    let caller = io.caller();
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(caller);
        routes.call(request)
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(STREAMS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .serve_connection(TokioIo::new(io), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%caller, %error, "a connection ended");
    }
}
