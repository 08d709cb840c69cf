//! Asking a process whether it is ready.

use std::io;
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How often to ask.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// How long one answer may take; a request is answered within 5 s (contract 4.5).
const ANSWER_WAIT: Duration = Duration::from_secs(6);

/// How long a start may take on a machine that does ten other things.
const START_WAIT: Duration = Duration::from_secs(120);

/// None if `GET /readyz` at `http://host:port` is answered 200, else what happens instead. (An HTTP client of the kind that can
/// do everything would bring its TLS along, for one line to a port of this machine.)
pub async fn complaint(url: &str) -> Option<String> {
    let asked = timeout(ANSWER_WAIT, ask(url.trim_start_matches("http://"))).await;
    match asked {
        Ok(Ok(line)) if line.starts_with("HTTP/1.1 200 ") => None,
        Ok(Ok(line)) => Some(format!("{url} answers {line}")),
        Ok(Err(error)) => Some(format!("{url} does not answer: {error}")),
        Err(_) => Some(format!("{url} does not answer")),
    }
}

/// The first line of the answer.
async fn ask(address: &str) -> io::Result<String> {
    let mut connection = TcpStream::connect(address).await?;
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Waits until the address is ready. `ended` says why it will never be.
///
/// # Errors
/// What `ended` says, or that it took too long.
pub async fn wait(url: &str, mut ended: impl FnMut() -> Option<String>) -> Result<()> {
    let deadline = Instant::now() + START_WAIT;
    loop {
        if let Some(why) = ended() {
            bail!(why);
        }
        let Some(complaint) = complaint(url).await else {
            return Ok(());
        };
        if Instant::now() >= deadline {
            bail!("not ready within {} s: {complaint}", START_WAIT.as_secs());
        }
        sleep(ASK_EVERY).await;
    }
}
