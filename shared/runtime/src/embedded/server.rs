//! The server process and its end.

use std::process::Child;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use super::guard::Guard;

/// How often to look whether the server has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How long the stages after an orderly stop may take, each.
const FORCED_WAIT: Duration = Duration::from_secs(5);

/// A running server, our child.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    guard: Option<Guard>,
    stop_wait: Duration,
    ephemeral: bool,
}

impl Server {
    /// `ephemeral`: nobody needs the data any more, so the server may drop everything at once.
    pub(super) fn new(child: Child, stop_wait: Duration, ephemeral: bool) -> Self {
        Self {
            child,
            guard: None,
            stop_wait,
            ephemeral,
        }
    }

    pub(super) fn set_guard(&mut self, guard: Guard) {
        self.guard = Some(guard);
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Fast shutdown; where that takes too long an immediate one, and at the very end the kernel.
    fn stages(&self) -> [(Signal, Duration); 3] {
        let orderly = if self.ephemeral {
            Signal::SIGQUIT
        } else {
            Signal::SIGINT
        };
        [
            (orderly, self.stop_wait),
            (Signal::SIGQUIT, FORCED_WAIT),
            (Signal::SIGKILL, FORCED_WAIT),
        ]
    }

    fn signal(&self, signal: Signal) {
        if let Ok(pid) = i32::try_from(self.id()) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    }

    pub(super) async fn stop(&mut self) {
        for (signal, wait) in self.stages() {
            if self.has_ended() {
                break;
            }
            self.signal(signal);
            let deadline = Instant::now() + wait;
            while !self.has_ended() && Instant::now() < deadline {
                sleep(LOOK_EVERY).await;
            }
        }
        self.dismiss_guard();
    }

    fn dismiss_guard(&mut self) {
        if let Some(mut guard) = self.guard.take() {
            guard.dismiss();
        }
    }
}

impl Drop for Server {
    #[allow(
        clippy::disallowed_methods,
        reason = "a destructor cannot await, and a server left running would keep its folder busy"
    )]
    fn drop(&mut self) {
        for (signal, wait) in self.stages() {
            if self.has_ended() {
                break;
            }
            self.signal(signal);
            let deadline = std::time::Instant::now() + wait;
            while !self.has_ended() && std::time::Instant::now() < deadline {
                std::thread::sleep(LOOK_EVERY);
            }
        }
        self.dismiss_guard();
    }
}
