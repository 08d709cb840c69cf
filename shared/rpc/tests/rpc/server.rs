//! Real servers for a world, each on a thread of its own, as a worker of a service would run them.

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::thread::JoinHandle;

use actix_web::{App, HttpServer};
use conduit_rpc::grpc::server::{Health, Io, routes, serve_connection};
use conduit_rpc::{CallSettings, Counts, PeerAddress, Peers, Secrets, Served, Transport, connect};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::world::World;

pub(crate) const SECRET: &str = "a secret between services";

pub(crate) fn settings() -> CallSettings {
    CallSettings {
        batching: false,
        ..CallSettings::new(SecretString::from(SECRET))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Socket {
    Tcp,
    Unix,
}

pub(crate) const WAYS: [(Transport, Socket); 4] = [
    (Transport::Http, Socket::Tcp),
    (Transport::Http, Socket::Unix),
    (Transport::Grpc, Socket::Tcp),
    (Transport::Grpc, Socket::Unix),
];

pub(crate) const TRANSPORTS: [Transport; 2] = [Transport::Http, Transport::Grpc];

/// All three peers of a world. Stops when dropped.
pub(crate) struct Server {
    pub(crate) address: PeerAddress,
    pub(crate) transport: Transport,
    pub(crate) counts: Arc<Counts>,
    running: Option<Running>,
    /// Of the socket.
    folder: Option<TempDir>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    NotYet,
    WhenAnswered,
    Now,
}

enum Running {
    Http {
        handle: actix_web::dev::ServerHandle,
        thread: JoinHandle<()>,
    },
    Grpc {
        stop: watch::Sender<Stop>,
        thread: JoinHandle<()>,
    },
}

pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

pub(crate) fn served(world: &Arc<World>) -> Served {
    Served {
        users: Some(Arc::clone(world) as _),
        profiles: Some(Arc::clone(world) as _),
        articles: Some(Arc::clone(world) as _),
        ..Served::new(Secrets {
            current: SECRET.into(),
            previous: None,
        })
    }
}

impl Server {
    pub(crate) fn start(way: (Transport, Socket), world: &Arc<World>) -> Self {
        Self::serving(way, served(world))
    }

    pub(crate) fn serving((transport, socket): (Transport, Socket), served: Served) -> Self {
        match socket {
            Socket::Tcp => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap().into();
                Self::on(Listener::Tcp(listener), address, transport, served)
            }
            Socket::Unix => {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("peer.sock");
                let listener = UnixListener::bind(&path).unwrap();
                let address = format!("unix:{}", path.display()).parse().unwrap();
                let mut server = Self::on(Listener::Unix(listener), address, transport, served);
                server.folder = Some(folder);
                server
            }
        }
    }

    pub(crate) fn on(listener: Listener, address: PeerAddress, transport: Transport, served: Served) -> Self {
        let counts = Arc::clone(&served.counts);
        let running = Some(match transport {
            Transport::Http => http(listener, served),
            Transport::Grpc => grpc(listener, served),
        });
        Self {
            address,
            transport,
            counts,
            running,
            folder: None,
        }
    }

    pub(crate) fn peers(&self, settings: &CallSettings) -> Peers {
        connect(self.transport, &self.address, settings)
    }

    /// Orderly, as a service stops: waits for its callers, so not on their thread.
    pub(crate) fn stop(&mut self) {
        self.end(Stop::WhenAnswered);
    }

    /// At once, with the calls under way.
    pub(crate) fn kill(&mut self) {
        self.end(Stop::Now);
    }

    fn end(&mut self, stop: Stop) {
        match self.running.take() {
            Some(Running::Http { handle, thread }) => {
                // The command is sent by the call; the future only waits.
                drop(handle.stop(stop == Stop::WhenAnswered));
                thread.join().unwrap();
            }
            Some(Running::Grpc { stop: ending, thread }) => {
                ending.send_replace(stop);
                thread.join().unwrap();
            }
            None => {}
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn http(listener: Listener, served: Served) -> Running {
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let app = move || {
            let served = served.clone();
            App::new().configure(|config| conduit_rpc::http::server::configure(config, served))
        };
        let server = HttpServer::new(app)
            .workers(1)
            .disable_signals()
            .shutdown_timeout(1);
        let server = match listener {
            Listener::Tcp(listener) => server.listen(listener),
            Listener::Unix(listener) => server.listen_uds(listener),
        };
        actix_web::rt::System::new().block_on(async {
            let server = server.unwrap().run();
            send.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    Running::Http {
        handle: receive.recv().unwrap(),
        thread,
    }
}

fn grpc(listener: Listener, served: Served) -> Running {
    let (stop, stopped) = watch::channel(Stop::NotYet);
    let thread = std::thread::spawn(move || {
        actix_web::rt::System::new().block_on(async {
            match listener {
                Listener::Tcp(listener) => {
                    listener.set_nonblocking(true).unwrap();
                    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                    accept(async || listener.accept().await.unwrap().0, served, stopped).await;
                }
                Listener::Unix(listener) => {
                    listener.set_nonblocking(true).unwrap();
                    let listener = tokio::net::UnixListener::from_std(listener).unwrap();
                    accept(async || listener.accept().await.unwrap().0, served, stopped).await;
                }
            }
        });
    });
    Running::Grpc { stop, thread }
}

async fn accept<I: Io>(next: impl AsyncFn() -> I, served: Served, stopped: watch::Receiver<Stop>) {
    let routes = routes(&served, &Health::serving(&served).await, true);
    let mut connections = JoinSet::new();
    let stopping = async || {
        let mut stopped = stopped.clone();
        let stop = stopped.wait_for(|stop| *stop != Stop::NotYet).await;
        stop.map_or(Stop::Now, |stop| *stop)
    };
    let how = loop {
        tokio::select! {
            io = next() => {
                let mut stopped = stopped.clone();
                let shutdown = async move { drop(stopped.wait_for(|stop| *stop != Stop::NotYet).await) };
                connections.spawn(serve_connection(io, routes.clone(), shutdown));
            }
            how = stopping() => break how,
        }
    };
    if how == Stop::Now {
        connections.abort_all();
    }
    while connections.join_next().await.is_some() {}
}
