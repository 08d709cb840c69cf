//! Deployments that misbehave, on free ports of this machine.
#![allow(dead_code)]

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn bound() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// Answers every connection's first request with these bytes, piece by piece, and closes it.
pub(crate) async fn scripted(pieces: &[&[u8]]) -> String {
    let pieces: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
    let (listener, address) = bound().await;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(speak(stream, pieces.clone()));
        }
    });
    address
}

async fn speak(mut stream: TcpStream, pieces: Vec<Vec<u8>>) {
    stream.set_nodelay(true).unwrap();
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    for piece in pieces {
        if stream.write_all(&piece).await.is_err() {
            return;
        }
        // Lets the reader have this piece before the next one follows.
        tokio::task::yield_now().await;
    }
    let _ = stream.shutdown().await;
}

/// Takes connections and says nothing.
pub(crate) async fn silent() -> String {
    let (listener, address) = bound().await;
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    address
}

/// Answers at once, reads nothing, and keeps the connection.
pub(crate) async fn answers_unread(answer: &'static [u8]) -> String {
    let (listener, address) = bound().await;
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.write_all(answer).await.unwrap();
            held.push(stream);
        }
    });
    address
}

/// An address where nobody listens any more.
pub(crate) async fn unused() -> String {
    bound().await.1
}
