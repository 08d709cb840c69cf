//! Commands about a stack that another process runs.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use stack::{complaint, state};
use tokio::time::{Instant, sleep};

/// How often to look whether the stack has stopped.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Longer than all stages of an orderly stop take.
const STOP_WAIT: Duration = Duration::from_secs(120);

pub(super) async fn down(root: &Path) -> Result<()> {
    let mut out = std::io::stdout();
    let Some(pid) = state::holder(root)? else {
        writeln!(out, "nothing runs in {}", root.display())?;
        return Ok(());
    };
    let process = Pid::from_raw(i32::try_from(pid).context("a process id")?);
    kill(process, Signal::SIGTERM).with_context(|| format!("stopping process {pid}"))?;
    let deadline = Instant::now() + STOP_WAIT;
    while state::holder(root)?.is_some() {
        ensure!(Instant::now() < deadline, "process {pid} does not stop");
        sleep(LOOK_EVERY).await;
    }
    writeln!(out, "stopped")?;
    Ok(())
}

pub(super) async fn status(root: &Path) -> Result<()> {
    let mut out = std::io::stdout();
    let Some(pid) = state::holder(root)? else {
        writeln!(out, "nothing runs in {}", root.display())?;
        return Ok(());
    };
    let Some(summary) = state::summary(root)? else {
        writeln!(
            out,
            "a stack (process {pid}) is starting or stopping in {}",
            root.display()
        )?;
        return Ok(());
    };
    write!(out, "{summary}")?;
    for service in &summary.services {
        let told = complaint(&service.operations).await;
        writeln!(out, "{:<13} {}", service.name, told.as_deref().unwrap_or("ready"))?;
    }
    Ok(())
}

/// Which logs.
#[derive(Args, Debug)]
pub(super) struct Logs {
    /// The process: `articles`, `nginx`; all of them if not given
    name: Option<String>,
}

impl Logs {
    pub(super) fn run(self, root: &Path) -> Result<()> {
        let folder = state::logs_in(root);
        let mut names = match fs::read_dir(&folder) {
            Ok(entries) => entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<Vec<_>, _>>()?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error).with_context(|| format!("reading {}", folder.display())),
        };
        names.sort();
        if let Some(name) = &self.name {
            names.retain(|path| path.file_stem().is_some_and(|stem| stem == name.as_str()));
            if names.is_empty() {
                bail!("there is no log of {name} in {}", folder.display());
            }
        }
        let mut out = std::io::stdout().lock();
        for path in names {
            if self.name.is_none() {
                writeln!(out, "== {}", path.display())?;
            }
            let mut log = fs::File::open(&path).with_context(|| format!("opening {}", path.display()))?;
            std::io::copy(&mut log, &mut out)?;
        }
        Ok(())
    }
}
