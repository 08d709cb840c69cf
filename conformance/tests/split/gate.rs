//! The way from the services to one of them, which can be blocked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What becomes of connections, those that there are and new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// They lead to the service.
    Open,
    /// They stay, and nothing passes: the service is frozen, or too slow. What was sent arrives when the way is open again.
    Held,
    /// Somebody else is there, and says these things, one on each connection in turn.
    Foreign(Arc<[Vec<u8>]>),
}

/// The way to one listener.
pub(crate) struct Gate {
    /// As peers are told it.
    pub(crate) address: String,
    way: watch::Sender<Way>,
    foreign: Arc<AtomicUsize>,
    held: watch::Receiver<usize>,
}

impl Gate {
    /// An open way to the listener at `http://host:port`.
    pub(crate) fn to(service: &str) -> Self {
        let service = service.replacen("http://", "", 1);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let listener = TcpListener::from_std(listener).unwrap();
        let way = watch::Sender::new(Way::Open);
        let (holding, held) = watch::channel(0);
        let foreign = Arc::new(AtomicUsize::new(0));
        let connections = Connections {
            service,
            way: way.subscribe(),
            foreign: Arc::clone(&foreign),
            holding,
        };
        tokio::spawn(connections.accept(listener));
        Self {
            address,
            way,
            foreign,
            held,
        }
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send(way).unwrap();
    }

    /// How many connections somebody else has answered.
    pub(crate) fn answered_by_others(&self) -> usize {
        self.foreign.load(Ordering::SeqCst)
    }

    /// Waits until something is held up.
    pub(crate) async fn holds_something(&mut self) {
        self.held.wait_for(|held| *held > 0).await.unwrap();
    }
}

#[derive(Clone)]
struct Connections {
    service: String,
    way: watch::Receiver<Way>,
    foreign: Arc<AtomicUsize>,
    holding: watch::Sender<usize>,
}

impl Connections {
    async fn accept(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(self.clone().serve(stream));
        }
    }

    async fn serve(mut self, stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let way = self.way.borrow_and_update().clone();
        if let Way::Foreign(words) = way {
            let word = &words[self.foreign.fetch_add(1, Ordering::SeqCst) % words.len()];
            return self.speak(stream, word).await;
        }
        // Whoever is stopped refuses the connection, as it would without us.
        let Ok(onwards) = TcpStream::connect(&self.service).await else {
            return;
        };
        onwards.set_nodelay(true).unwrap();
        let (from_caller, to_caller) = stream.into_split();
        let (from_service, to_service) = onwards.into_split();
        let mut way = self.way.clone();
        tokio::select! {
            _ = self.pass(from_caller, to_service) => {}
            _ = self.pass(from_service, to_caller) => {}
            _ = way.wait_for(|way| matches!(way, Way::Foreign(_))) => {}
        }
    }

    async fn pass(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) -> Option<()> {
        let (mut bytes, mut way) = (vec![0; 1 << 16], self.way.clone());
        loop {
            let read = from.read(&mut bytes).await.ok().filter(|read| *read > 0)?;
            if *way.borrow() == Way::Held {
                self.holding.send_modify(|held| *held += 1);
                way.wait_for(|way| *way != Way::Held).await.ok()?;
                self.holding.send_modify(|held| *held -= 1);
            }
            to.write_all(bytes.get(..read)?).await.ok()?;
        }
    }

    /// Answers whatever comes, and lets go when the caller does or the way is open again.
    async fn speak(&mut self, mut stream: TcpStream, word: &[u8]) {
        let mut heard = [0; 1 << 12];
        let _asked = stream.read(&mut heard).await;
        let _caller_may_be_gone = stream.write_all(word).await;
        let _caller_may_be_gone = stream.shutdown().await;
        let mut nobody = tokio::io::sink();
        tokio::select! {
            _ = tokio::io::copy(&mut stream, &mut nobody) => {}
            _ = self.way.wait_for(|way| *way == Way::Open) => {}
        }
    }
}
