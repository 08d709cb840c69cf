//! A process of ours, in a group of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use crate::guard::Guard;

/// How often to look whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Requests under way end within their deadline of 5 s at most; what is not gone after this is killed.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much of a log an error shows.
const SHOWN_BYTES: u64 = 2000;

/// What to start, as often as wanted.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program.
    pub executable: PathBuf,
    /// What it is called with.
    pub arguments: Vec<String>,
    /// Its variables; of our own ones it gets those that are not Conduit's.
    pub environment: Vec<(String, String)>,
    /// Where both its output streams go.
    pub log: PathBuf,
    /// The signal for an orderly stop.
    pub stop: Signal,
}

/// A running process; it is killed with all its children when the value goes.
#[derive(Debug)]
pub struct Process {
    child: Child,
    ended: Option<ExitStatus>,
    stop: Signal,
    guard: Arc<Guard>,
}

impl Process {
    /// Starts it; `guard` ends it when we are gone.
    ///
    /// # Errors
    /// The program or its log cannot be opened.
    pub fn start(start: &Start, guard: &Arc<Guard>) -> Result<Self> {
        let failed = || format!("starting {}", start.executable.display());
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&start.log)
            .with_context(failed)?;
        let mut command = Command::new(&start.executable);
        command.args(&start.arguments).stdin(Stdio::null());
        command.stdout(log.try_clone().with_context(failed)?).stderr(log);
        // Variables of the person's shell are meant for other programs than these.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CONDUIT_") || text.starts_with("DATABASE_URL") {
                command.env_remove(&name);
            }
        }
        command.envs(start.environment.iter().map(|(name, value)| (name, value)));
        // In the terminal's own group it would get the Ctrl-C that is meant for us.
        let child = command.process_group(0).spawn().with_context(failed)?;
        guard.watch(child.id());
        Ok(Self {
            child,
            ended: None,
            stop: start.stop,
            guard: Arc::clone(guard),
        })
    }

    /// Its process id, which is its group's, too.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    /// Sends a signal to the process and its children.
    ///
    /// # Errors
    /// It has ended, or the system does not let us.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        anyhow::ensure!(self.ended().is_none(), "the process has ended");
        let group = i32::try_from(self.id()).context("a process id")?;
        killpg(Pid::from_raw(group), signal).with_context(|| format!("sending {signal}"))
    }

    /// An orderly stop; the kernel's where that takes too long.
    ///
    /// # Errors
    /// The system does not let us.
    pub async fn stop(mut self) -> Result<Option<ExitStatus>> {
        let stages = [
            (self.stop, PATIENCE),
            (Signal::SIGTERM, Duration::from_secs(1)),
            (Signal::SIGKILL, PATIENCE),
        ];
        for (signal, patience) in stages {
            if self.ended().is_some() {
                break;
            }
            for signal in [signal, Signal::SIGCONT] {
                match self.signal(signal) {
                    Err(error) if self.ended().is_none() => return Err(error),
                    Ok(()) | Err(_) => {}
                }
            }
            let deadline = Instant::now() + patience;
            while self.ended().is_none() && Instant::now() < deadline {
                sleep(LOOK_EVERY).await;
            }
        }
        Ok(self.ended)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let id = self.id();
        if self.ended().is_none() {
            let _ = self.signal(Signal::SIGKILL);
            let _ = self.child.wait();
        }
        self.guard.forget(id);
    }
}

/// The last lines of a log, for an error.
#[must_use]
pub fn tail_of(log: &Path) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(log)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_else(|error| format!("the log {} cannot be read: {error}", log.display()))
}
