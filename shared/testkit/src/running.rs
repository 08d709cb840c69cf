//! A program under test, in a thread of its own, and the plainest way to ask it something.

use std::sync::mpsc;
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use crate::or_panic;

/// A program that runs until the value goes; what it told at its start can be read.
pub struct Running<T> {
    /// What the program said when it had started.
    pub started: T,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<()>>>,
}

/// How a program says that it has started, and when it has to stop.
pub struct Terms<T> {
    /// Takes what the test wants to know.
    pub started: mpsc::Sender<T>,
    /// Resolves when the program has to stop.
    pub stop: oneshot::Receiver<()>,
}

impl<T: Send + 'static> Running<T> {
    /// Runs the program as its `main` does, on a runtime of one thread. Panics where it does not start.
    pub fn start<F>(program: impl FnOnce(Terms<T>) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<()>>,
    {
        let (stop, stopped) = oneshot::channel();
        let (started, outcome) = mpsc::channel();
        let terms = Terms {
            started,
            stop: stopped,
        };
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(program(terms))
        });
        match outcome.recv() {
            Ok(started) => Self {
                started,
                stop: Some(stop),
                thread: Some(thread),
            },
            Err(_) => panic!("it did not start: {:?}", thread.join()),
        }
    }
}

impl<T> Running<T> {
    /// Stops the program and waits for its end. Panics where it fails to stop in order.
    pub fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A program that has ended by itself is found out below.
            let _ = stop.send(());
        }
        let Some(thread) = self.thread.take() else { return };
        match thread.join() {
            Ok(outcome) => or_panic(outcome),
            Err(_) => panic!("the program panicked"),
        }
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.stop();
        }
    }
}

/// `GET` without a token; status and body. `address` is `http://host:port`. Panics where nobody answers.
pub async fn get(address: &str, target: &str) -> (u16, String) {
    or_panic(ask(address, target).await)
}

async fn ask(address: &str, target: &str) -> Result<(u16, String)> {
    let host = address.strip_prefix("http://").context("no HTTP address")?;
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no end of the headers")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok((status, body.to_owned()))
}
