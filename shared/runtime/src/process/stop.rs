//! Running until told to stop, and stopping in good order.

use std::io;
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

/// Resolves at the first SIGINT or SIGTERM after it was made.
///
/// # Errors
/// Where the system does not let us listen to signals.
pub fn stop_signal() -> io::Result<impl Future<Output = &'static str>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        }
    })
}

/// Does `work` to its end, or gives it up when `stop` resolves first: a program that waits for its database at its start
/// must not keep those waiting who stop it (fault B126).
pub async fn unless_stopped<T>(
    stop: impl Future<Output = &'static str>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        reason = stop => {
            tracing::info!(reason, "stopped before it served");
            None
        }
    }
}

/// Runs the servers until `stop` resolves. Then `stopping` is called (readiness off), the servers go on for
/// `drain`, and take no more connections; requests in flight finish, within the servers' own limit. A second
/// signal ends them at once.
///
/// # Errors
/// That of a server that ended by itself; the others are stopped before it is returned.
pub async fn run(
    servers: Vec<Server>,
    stop: impl Future<Output = &'static str>,
    drain: Duration,
    stopping: impl FnOnce(),
) -> io::Result<()> {
    let handles: Vec<ServerHandle> = servers.iter().map(Server::handle).collect();
    let mut running = JoinSet::new();
    for server in servers {
        running.spawn(server);
    }
    let ended = tokio::select! {
        reason = stop => {
            tracing::info!(reason, "stopping");
            Ok(())
        }
        Some(ended) = running.join_next() => ended.map_err(io::Error::other).and_then(|ended| ended),
    };
    stopping();
    let second = stop_signal()?;
    tokio::select! {
        () = orderly(&handles, drain) => {}
        reason = second => {
            tracing::warn!(reason, "stopping at once");
            stop_all(&handles, false).await;
        }
    }
    ended
}

async fn orderly(handles: &[ServerHandle], drain: Duration) {
    tokio::time::sleep(drain).await;
    stop_all(handles, true).await;
}

/// All at the same time: each may take as long as its slowest request.
async fn stop_all(handles: &[ServerHandle], graceful: bool) {
    let mut stops = JoinSet::new();
    for handle in handles {
        stops.spawn(handle.stop(graceful));
    }
    stops.join_all().await;
}
