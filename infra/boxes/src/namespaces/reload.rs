//! A reload of nginx, to its end.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stack::Process;
use tokio::time::{Instant, sleep};

/// How often to look whether nginx's old processes have gone.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// nginx gives requests under way `worker_shutdown_timeout` (60 s) when it reloads.
const DRAIN_WAIT: Duration = Duration::from_secs(90);

/// Lets nginx take up its new configuration, and waits until the processes that work by the old one have answered and gone.
pub(super) async fn reload(front: &mut Process) -> Result<()> {
    let master = front.id();
    let before = children(master)?;
    front_signal(master)?;
    let deadline = Instant::now() + DRAIN_WAIT;
    while children(master)?.iter().any(|child| before.contains(child)) {
        ensure!(Instant::now() < deadline, "requests under way do not end");
        ensure!(front.ended().is_none(), "it has ended");
        sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// To the master alone: its group has the workers, too.
fn front_signal(master: u32) -> Result<()> {
    let process = Pid::from_raw(i32::try_from(master).context("a process id")?);
    kill(process, Signal::SIGHUP).context("asking nginx to reload")
}

/// The process's children that have not ended.
fn children(parent: u32) -> Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").context("looking at the processes")? {
        let name = entry?.file_name();
        let Some(process) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // The name before it, in brackets, may hold anything.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, its_parent) = (fields.next(), fields.next());
        if state != Some("Z") && its_parent.and_then(|text| text.parse().ok()) == Some(parent) {
            found.push(process);
        }
    }
    Ok(found)
}
