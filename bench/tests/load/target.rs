//! A deployment that knows nothing and counts everything.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a request.
#[derive(Clone, Copy)]
pub(crate) enum Manner {
    /// Answers 200.
    Good,
    /// Answers 503.
    Unavailable,
    /// Never answers.
    Silent,
    /// Breaks the connection.
    Rude,
}

/// A target; it serves while the runtime of the test lives.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: String,
    /// Requests by method and path.
    asked: Arc<Mutex<BTreeMap<String, u64>>>,
    times: u64,
    work: Arc<Mutex<u64>>,
}

impl Target {
    pub(crate) async fn start(manner: Manner) -> Self {
        Self::slowed(manner, 1).await
    }

    /// All its work is done so many times. Work is counted and not timed: what is told apart must not depend on who else works here.
    pub(crate) async fn slowed(manner: Manner, times: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            asked: Arc::default(),
            times,
            work: Arc::default(),
        };
        let serving = target.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let target = serving.clone();
                tokio::spawn(async move { target.serve(stream, manner).await });
            }
        });
        target
    }

    pub(crate) fn asked(&self) -> BTreeMap<String, u64> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn all_asked(&self) -> u64 {
        self.asked().values().sum()
    }

    /// Units of work of all answers so far.
    pub(crate) fn work(&self) -> u64 {
        *self.work.lock().unwrap()
    }

    /// Ends with the connection.
    async fn serve(&self, stream: TcpStream, manner: Manner) -> Option<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let asked = request(&mut stream).await?;
            *self.asked.lock().unwrap().entry(asked.clone()).or_default() += 1;
            let (status, body) = match manner {
                Manner::Good => ("200 OK", answer(&asked)),
                Manner::Unavailable => ("503 Service Unavailable", "{}"),
                Manner::Silent => std::future::pending().await,
                Manner::Rude => return None,
            };
            *self.work.lock().unwrap() += self.times * COST;
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.ok()?;
        }
    }
}

/// Method and path of the next request; its body is read away.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ');
    let asked = format!("{} {}", words.next()?, words.next()?);
    let mut length = 0;
    loop {
        let mut header = String::new();
        if stream.read_line(&mut header).await.ok()? == 0 {
            return None;
        }
        if header == "\r\n" {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length: ") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(asked)
}

/// Units of work for one answer.
const COST: u64 = 80;

fn answer(asked: &str) -> &'static str {
    match asked {
        "POST /api/articles" => r#"{"article":{"slug":"made"}}"#,
        asked if asked.starts_with("POST") && asked.ends_with("/comments") => r#"{"comment":{"id":7}}"#,
        "GET /api/articles/feed" => r#"{"articles":[{"slug":"fed","author":{"username":"cleo"}}]}"#,
        _ => "{}",
    }
}
