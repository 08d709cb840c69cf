//! Peers that go and come back, copies of which one is dead, connections that close just as they are used.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use conduit_domain::AccountId;
use conduit_rpc::{
    CallError, CallSettings, FindUsers, PeerAddress, Served, Transport, User, UsersApi, connect,
};
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::broken::{broken, read_head};
use crate::in_time;
use crate::server::{Listener, Server, Socket, TRANSPORTS, served, settings};
use crate::world::{small, user};

fn ann() -> FindUsers {
    FindUsers {
        ids: vec![AccountId(1_000_001)],
        names: Vec::new(),
    }
}

fn free_port() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Another process may still hold connections of the port's last owner.
fn start_at(address: SocketAddr, transport: Transport) -> Server {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(address).unwrap();
    let listener = socket.listen(128).unwrap().into_std().unwrap();
    Server::on(
        Listener::Tcp(listener),
        address.into(),
        transport,
        served(&small()),
    )
}

#[tokio::test]
async fn a_caller_starts_before_its_peer_and_outlives_restarts() {
    for transport in TRANSPORTS {
        let address = free_port();
        let settings = settings();
        let peers = connect(transport, &address.into(), &settings);
        let down = in_time(peers.users.find(ann())).await;
        assert!(
            matches!(down, Err(CallError::Unreachable(_))),
            "{transport:?}: {down:?}"
        );
        for _ in 0..3 {
            let mut server = start_at(address, transport);
            for _ in 0..3 {
                let answer = in_time(peers.users.find(ann())).await;
                assert_eq!(answer.unwrap(), [user(1_000_001, "ann")], "{transport:?}");
            }
            in_time(tokio::task::spawn_blocking(move || server.stop()))
                .await
                .unwrap();
        }
        let down = in_time(peers.users.find(ann())).await;
        assert!(
            matches!(down, Err(CallError::Unreachable(_))),
            "{transport:?}: {down:?}"
        );
    }
}

#[tokio::test]
async fn a_dead_copy_costs_one_retry_and_is_left_out() {
    for transport in TRANSPORTS {
        let server = Server::start((transport, Socket::Tcp), &small());
        let address: PeerAddress = format!("http://{},{}", free_port(), server.address)
            .parse()
            .unwrap();
        let settings = settings();
        let peers = connect(transport, &address, &settings);
        for _ in 0..20 {
            assert_eq!(
                in_time(peers.users.find(ann())).await.unwrap().len(),
                1,
                "{transport:?}"
            );
        }
        // How often depends on the time that twenty calls take: once, and once more for every rest that ends meanwhile.
        let retries = settings.counts.retries("users", "find");
        assert!(
            (1..10).contains(&retries),
            "{transport:?}: {retries} of 20 calls went to the dead copy"
        );
        assert_eq!(settings.counts.calls("users", "find"), 20);
    }
}

#[tokio::test]
async fn a_connection_that_closes_as_it_is_used_again_costs_no_answer() {
    let answer = r#"{"users":[{"id":1000001,"username":"ann"}]}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    let peer = broken(move |mut stream| {
        let answer = answer.clone();
        async move {
            // The first request is answered, the second one crosses the end of the keep-alive.
            if read_whole(&mut stream).await {
                stream.write_all(answer.as_bytes()).await.unwrap();
                read_whole(&mut stream).await;
            }
        }
    })
    .await;
    let settings = settings();
    let peers = connect(Transport::Http, &peer.address, &settings);
    for _ in 0..10 {
        assert_eq!(
            in_time(peers.users.find(ann())).await.unwrap(),
            [user(1_000_001, "ann")]
        );
    }
    // 1 on a new connection, 2 on the same and again on a fresh one that is not kept, 3 on a new one, and so on.
    assert_eq!(settings.counts.retries("users", "find"), 5);
    assert_eq!(peer.connections.load(Ordering::SeqCst), 10);
}

async fn read_whole(stream: &mut tokio::net::TcpStream) -> bool {
    let Some(head) = read_head(stream).await else {
        return false;
    };
    // Small requests come in one piece, and a body of one or two more.
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .unwrap()
        .parse::<usize>();
    let (_, body) = head.split_once("\r\n\r\n").unwrap();
    let mut rest = vec![0; length.unwrap() - body.len()];
    tokio::io::AsyncReadExt::read_exact(stream, &mut rest)
        .await
        .is_ok()
}

#[tokio::test]
async fn a_grpc_connection_that_closes_as_it_is_used_again_costs_no_answer() {
    let peer = broken(|stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let Some(Ok((_, mut respond))) = connection.accept().await else {
            return;
        };
        let head = http::Response::builder()
            .header("content-type", "application/grpc")
            .body(())
            .unwrap();
        let mut body = respond.send_response(head, false).unwrap();
        // FindUsersResponse { users: [User { id: 1, username: "ann" }] }
        body.send_data(b"\0\0\0\0\x09\x0a\x07\x08\x01\x12\x03ann".to_vec().into(), false)
            .unwrap();
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", 0.into());
        body.send_trailers(trailers).unwrap();
        // The next request crosses the end of the connection.
        drop(connection.accept().await);
    })
    .await;
    let settings = settings();
    let peers = connect(Transport::Grpc, &peer.address, &settings);
    for _ in 0..10 {
        assert_eq!(in_time(peers.users.find(ann())).await.unwrap(), [user(1, "ann")]);
    }
    let retries = settings.counts.retries("users", "find");
    // Every request after the first finds a connection that has had its one.
    assert_eq!((retries, peer.connections.load(Ordering::SeqCst)), (9, 10));
}

#[tokio::test]
async fn keep_alives_that_end_while_requests_come_cost_no_answer() {
    // The server's keep-alive is shorter than the client's on purpose; the pauses between calls go across its end.
    let server = actix_web::rt::System::new;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: PeerAddress = listener.local_addr().unwrap().into();
    let (send, receive) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        server().block_on(async {
            let app = || {
                actix_web::App::new()
                    .configure(|config| conduit_rpc::http::server::configure(config, served(&small())))
            };
            let server = actix_web::HttpServer::new(app)
                .workers(1)
                .disable_signals()
                .keep_alive(Duration::from_millis(20));
            let server = server.listen(listener).unwrap().run();
            send.send(server.handle()).unwrap();
            server.await.unwrap();
        });
    });
    let handle = receive.recv().unwrap();
    let settings = CallSettings {
        idle_timeout: Duration::from_secs(60),
        ..settings()
    };
    let peers = connect(Transport::Http, &address, &settings);
    for pause in 0..40 {
        assert_eq!(in_time(peers.users.find(ann())).await.unwrap().len(), 1);
        tokio::time::interval_at(
            tokio::time::Instant::now() + Duration::from_millis(pause),
            Duration::from_secs(1),
        )
        .tick()
        .await;
    }
    drop(handle.stop(true));
    tokio::task::spawn_blocking(|| thread.join().unwrap())
        .await
        .unwrap();
}

/// Answers when it is let go.
struct Slow {
    called: Semaphore,
    go: Semaphore,
}

#[async_trait]
impl UsersApi for Slow {
    async fn find(&self, _: FindUsers) -> Result<Vec<User>, CallError> {
        self.called.add_permits(1);
        self.go.acquire().await.unwrap().forget();
        Ok(vec![user(1, "slow")])
    }
}

#[tokio::test]
async fn a_server_that_stops_answers_the_calls_under_way() {
    for transport in TRANSPORTS {
        let slow = Arc::new(Slow {
            called: Semaphore::new(0),
            go: Semaphore::new(0),
        });
        let served = Served {
            users: Some(Arc::clone(&slow) as _),
            ..served(&small())
        };
        let mut server = Server::serving((transport, Socket::Tcp), served);
        let settings = CallSettings {
            call_timeout: Duration::from_secs(20),
            ..settings()
        };
        let peers = server.peers(&settings);
        let call = tokio::spawn(async move { peers.users.find(ann()).await });
        in_time(slow.called.acquire()).await.unwrap().forget();
        let stopping = tokio::task::spawn_blocking(move || server.stop());
        tokio::task::yield_now().await;
        slow.go.add_permits(1);
        assert_eq!(
            in_time(call).await.unwrap().unwrap(),
            [user(1, "slow")],
            "{transport:?}"
        );
        in_time(stopping).await.unwrap();
    }
}

#[tokio::test]
async fn a_copy_that_is_killed_under_load_costs_no_answer() {
    for transport in TRANSPORTS {
        let (mut dying, surviving) = (
            Server::start((transport, Socket::Tcp), &small()),
            Server::start((transport, Socket::Tcp), &small()),
        );
        let address: PeerAddress = format!("{},{}", dying.address, surviving.address)
            .parse()
            .unwrap();
        let peers = connect(transport, &address, &settings());
        let (enough, answered) = (Arc::new(Semaphore::new(0)), 64);
        let callers: Vec<_> = (0..8)
            .map(|_| {
                let (peers, enough) = (peers.clone(), Arc::clone(&enough));
                tokio::spawn(async move {
                    for _ in 0..50 {
                        assert_eq!(peers.users.find(ann()).await.unwrap(), [user(1_000_001, "ann")]);
                        enough.add_permits(1);
                    }
                })
            })
            .collect();
        drop(in_time(enough.acquire_many(answered)).await.unwrap());
        in_time(tokio::task::spawn_blocking(move || dying.kill()))
            .await
            .unwrap();
        for caller in callers {
            in_time(caller)
                .await
                .unwrap_or_else(|error| panic!("{transport:?}: {error}"));
        }
    }
}

/// Passes connections on to the server until it is told to leave: then nobody listens any more, and what comes over a connection finds it
/// closed.
async fn leaving(server: &Server) -> (PeerAddress, tokio::sync::watch::Sender<bool>, JoinHandle<()>) {
    let target = server.address.to_string().replace("http://", "");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().into();
    let (leave, told) = tokio::sync::watch::channel(false);
    let listening = tokio::spawn(async move {
        let mut leaves = told.clone();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = leaves.wait_for(|leave| *leave) => return,
            };
            let (mut caller, _) = accepted.unwrap();
            let (target, mut leaves) = (target.clone(), told.clone());
            tokio::spawn(async move {
                let mut onwards = tokio::net::TcpStream::connect(target).await.unwrap();
                let leaves_now = tokio::select! {
                    _ = tokio::io::copy_bidirectional(&mut caller, &mut onwards) => false,
                    left = leaves.wait_for(|leave| *leave) => left.is_ok(),
                };
                if leaves_now {
                    let _ = caller.readable().await;
                }
            });
        }
    });
    (address, leave, listening)
}

/// As in a rolling restart: one copy is back, though its callers do not know, when the other one goes.
#[tokio::test]
async fn copies_that_restart_one_right_after_the_other_cost_no_answer() {
    for transport in TRANSPORTS {
        let (restarted, server) = (free_port(), Server::start((transport, Socket::Tcp), &small()));
        let (going, leave, listening) = leaving(&server).await;
        let address: PeerAddress = format!("http://{restarted},{going}").parse().unwrap();
        let peers = connect(transport, &address, &settings());
        // The first finds nobody and is left out for a second.
        let first = in_time(peers.users.find(ann())).await;
        assert_eq!(first.unwrap(), [user(1_000_001, "ann")], "{transport:?}");
        let _restarted = start_at(restarted, transport);
        leave.send(true).unwrap();
        in_time(listening).await.unwrap();
        for _ in 0..8 {
            let answer = in_time(peers.users.find(ann())).await;
            assert_eq!(answer.unwrap(), [user(1_000_001, "ann")], "{transport:?}");
        }
    }
}

/// Passes connections on to the server; the first of them only until it is frozen.
async fn freezing(server: &Server) -> (PeerAddress, Arc<tokio::sync::Notify>) {
    let target = server.address.to_string().replace("http://", "");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().into();
    let freeze = Arc::new(tokio::sync::Notify::new());
    let frozen = Arc::clone(&freeze);
    tokio::spawn(async move {
        let (mut first, _) = listener.accept().await.unwrap();
        let mut onwards = tokio::net::TcpStream::connect(&target).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut first, &mut onwards) => {}
            () = frozen.notified() => {}
        }
        // Both stay open and say nothing, as if the machine had gone.
        let _kept = (first, onwards);
        loop {
            let (mut next, _) = listener.accept().await.unwrap();
            let mut onwards = tokio::net::TcpStream::connect(&target).await.unwrap();
            tokio::spawn(async move { drop(tokio::io::copy_bidirectional(&mut next, &mut onwards).await) });
        }
    });
    (address, freeze)
}

#[tokio::test]
async fn a_connection_that_goes_silent_is_given_up_for_a_new_one() {
    for transport in TRANSPORTS {
        let server = Server::start((transport, Socket::Tcp), &small());
        let (address, freeze) = freezing(&server).await;
        let (call_timeout, connect_timeout) = (Duration::from_secs(1), Duration::from_secs(2));
        let peers = connect(
            transport,
            &address,
            &CallSettings {
                call_timeout,
                connect_timeout,
                ..settings()
            },
        );
        let before = in_time(peers.users.find(ann())).await;
        assert!(before.is_ok(), "{transport:?}: {before:?}");
        freeze.notify_one();
        let frozen = in_time(peers.users.find(ann())).await;
        assert!(
            matches!(frozen, Err(CallError::TimedOut)),
            "{transport:?}: {frozen:?}"
        );
        // Each call waits out its time until the connection is given up.
        in_time(async { while peers.users.find(ann()).await.is_err() {} }).await;
    }
}
