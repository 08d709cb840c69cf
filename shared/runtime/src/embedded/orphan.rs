//! A server that an earlier process left behind.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use super::EmbeddedError;

/// How often to look whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long it may take for an immediate stop.
const IMMEDIATE_WAIT: Duration = Duration::from_secs(10);

/// Stops the server that is recorded in the data, if it runs. A record whose process is some other program's is
/// removed, since PostgreSQL itself would take that number for a running server for ever (small numbers come
/// back soon in containers).
pub(super) async fn stop(data: &Path, wait: Duration) -> Result<(), EmbeddedError> {
    let record = data.join("postmaster.pid");
    let Some(pid) = recorded(&record) else {
        return Ok(());
    };
    if !exists(pid) {
        return Ok(());
    }
    if !serves(pid, data) {
        tracing::warn!(%pid, "the data name a server process that is another program's now; forgetting it");
        return fs::remove_file(&record)
            .or_else(tolerate_missing)
            .map_err(EmbeddedError::io("removing a stale postmaster.pid"));
    }
    tracing::warn!(%pid, "stopping the PostgreSQL that an earlier process left running");
    for (signal, wait) in [(Signal::SIGINT, wait), (Signal::SIGQUIT, IMMEDIATE_WAIT)] {
        let _ = kill(pid, signal);
        if ended(pid, data, wait).await {
            return Ok(());
        }
    }
    Err(EmbeddedError::Orphan {
        pid: pid.as_raw().unsigned_abs(),
        folder: data.to_owned(),
    })
}

fn recorded(record: &Path) -> Option<Pid> {
    let text = fs::read_to_string(record).ok()?;
    // Negative numbers mean a single-user server, which nobody runs here.
    let pid: i32 = text.lines().next()?.trim().parse().ok()?;
    (pid > 0).then(|| Pid::from_raw(pid))
}

fn exists(pid: Pid) -> bool {
    !matches!(kill(pid, None), Err(Errno::ESRCH))
}

async fn ended(pid: Pid, data: &Path, wait: Duration) -> bool {
    let deadline = Instant::now() + wait;
    while Instant::now() < deadline {
        if !exists(pid) || !serves(pid, data) {
            return true;
        }
        sleep(LOOK_EVERY).await;
    }
    false
}

/// A server's working directory is its data. A process that has ended but was not collected has none.
#[cfg(target_os = "linux")]
fn serves(pid: Pid, data: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == data)
}

#[cfg(not(target_os = "linux"))]
fn serves(pid: Pid, _data: &Path) -> bool {
    let Ok(listed) = std::process::Command::new("ps")
        .args(["-o", "command=", "-p", &pid.to_string()])
        .output()
    else {
        return true;
    };
    String::from_utf8_lossy(&listed.stdout).contains("postgres")
}

fn tolerate_missing(error: io::Error) -> io::Result<()> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    }
}
