//! Something between a pool and the server that counts answers, can fall silent, and can hold up whoever comes new.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

pub(crate) struct Proxy {
    folder: TempDir,
    answers: Arc<AtomicUsize>,
    silence: watch::Sender<()>,
    newcomers: watch::Sender<Newcomers>,
}

/// New connections: how many there were, and whether they lead to the server.
#[derive(Clone, Copy, Default)]
struct Newcomers {
    held_up: bool,
    came: usize,
}

impl Proxy {
    /// In front of the server that these options lead to.
    pub(crate) fn start(options: &PgConnectOptions) -> Self {
        let name = format!(".s.PGSQL.{}", options.get_port());
        let server = options.get_socket().unwrap().join(&name);
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(name)).unwrap();
        let answers = Arc::new(AtomicUsize::new(0));
        let silence = watch::Sender::new(());
        let newcomers = watch::Sender::new(Newcomers::default());
        tokio::spawn(serve(
            listener,
            server,
            Arc::clone(&answers),
            silence.clone(),
            newcomers.clone(),
        ));
        Self {
            folder,
            answers,
            silence,
            newcomers,
        }
    }

    /// The same options by way of the proxy, which reads what passes.
    pub(crate) fn options(&self, direct: PgConnectOptions) -> PgConnectOptions {
        direct.socket(self.folder.path()).ssl_mode(PgSslMode::Disable)
    }

    /// How often the server has said that it is ready for the next statement.
    pub(crate) fn answers(&self) -> usize {
        self.answers.load(Ordering::SeqCst)
    }

    /// From now on nothing passes on the connections that there are; they stay open.
    pub(crate) fn silence(&self) {
        self.silence.send(()).unwrap();
    }

    /// From now on new connections are taken and get no further.
    pub(crate) fn hold_up_newcomers(&self) {
        self.newcomers.send_modify(|newcomers| newcomers.held_up = true);
    }

    /// Waits until there have been so many connections.
    pub(crate) async fn have_come(&self, connections: usize) {
        let mut newcomers = self.newcomers.subscribe();
        newcomers
            .wait_for(|newcomers| newcomers.came >= connections)
            .await
            .unwrap();
    }
}

async fn serve(
    listener: UnixListener,
    socket: PathBuf,
    answers: Arc<AtomicUsize>,
    silence: watch::Sender<()>,
    newcomers: watch::Sender<Newcomers>,
) {
    let mut held_up = Vec::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        newcomers.send_modify(|newcomers| newcomers.came += 1);
        if newcomers.borrow().held_up {
            held_up.push(client);
            continue;
        }
        let server = UnixStream::connect(&socket).await.unwrap();
        tokio::spawn(forward(client, server, Arc::clone(&answers), silence.subscribe()));
    }
}

async fn forward(
    mut client: UnixStream,
    mut server: UnixStream,
    answers: Arc<AtomicUsize>,
    mut silence: watch::Receiver<()>,
) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let there = tokio::io::copy(&mut from_client, &mut to_server);
    let back = async {
        loop {
            let kind = from_server.read_u8().await?;
            let length = from_server.read_u32().await?;
            let mut rest = vec![0; length as usize - 4];
            from_server.read_exact(&mut rest).await?;
            if kind == b'Z' {
                answers.fetch_add(1, Ordering::SeqCst);
            }
            to_client.write_u8(kind).await?;
            to_client.write_u32(length).await?;
            to_client.write_all(&rest).await?;
        }
        #[allow(
            unreachable_code,
            reason = "the loop ends with an error, whose type must be known"
        )]
        std::io::Result::Ok(())
    };
    tokio::select! {
        _ = there => {}
        _ = back => {}
        _ = silence.changed() => std::future::pending().await,
    }
}
