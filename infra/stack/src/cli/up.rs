//! `up`, in the foreground or not.

use std::fs::OpenOptions;
use std::io::Write;
use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args, ValueEnum};
use conduit_runtime::process::stop_signal;
use conduit_runtime::settings::secret_text;
use secrecy::{ExposeSecret, SecretString};
use stack::{Binaries, DatabaseChoice, Layout, Options, ProxyChoice, Stack, is_free, nginx, state};
use tokio::time::sleep;

/// The public port that people expect.
const PORT: u16 = 3000;

/// How often to look whether a process has ended, or a detached stack is up.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How a layout is started.
#[derive(Args, Debug)]
pub(super) struct Up {
    /// What to start
    layout: Layout,
    /// Return once it is up, and leave it running until `down`
    #[arg(long)]
    detach: bool,
    /// Port of the public address, at 127.0.0.1 [default: 3000, or a free one where that is taken]
    #[arg(long)]
    port: Option<u16>,
    /// Worker threads of each process [default: the program's own]
    #[arg(long, value_name = "COUNT")]
    workers: Option<NonZeroUsize>,
    /// Unix sockets between the processes instead of ports
    #[arg(long)]
    unix_sockets: bool,
    /// A box for each process: a network namespace with an address of its own (needs root and Debian's package iproute2)
    #[arg(long, conflicts_with = "unix_sockets")]
    boxes: bool,
    /// Let look-ups that queue behind a call leave together as one
    #[arg(long, value_enum, default_value_t = Switch::On)]
    batching: Switch,
    /// PostgreSQL to use instead of an own one
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL", value_parser = secret_text)]
    database_url: Option<SecretString>,
    /// Own data that go when the stack goes
    #[arg(long, conflicts_with = "database_url")]
    temporary_data: bool,
    /// Run the programs of the release profile
    #[arg(long)]
    release: bool,
    /// Take the programs as they are; build only what is missing
    #[arg(long)]
    no_build: bool,
    /// Put no nginx in front, even if it is installed
    #[arg(long)]
    no_nginx: bool,
    /// Further variable for every process, as in RUST_LOG=debug (several: repeat it)
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable, action = ArgAction::Append)]
    env: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

impl Up {
    pub(super) async fn run(self, state: &Path) -> Result<()> {
        if self.detach {
            return detached(state).await;
        }
        let options = self.options(state)?;
        let stop = stop_signal().context("listening to signals")?;
        let mut out = std::io::stdout();
        let starting = Stack::up(self.layout, &options);
        let mut stop = std::pin::pin!(stop);
        // Dropped half-way, a start takes back what it did.
        let mut stack = tokio::select! {
            stack = starting => stack?,
            signal = &mut stop => bail!("stopped by {signal} before it was up"),
        };
        if nginx::installed().is_none() && !self.no_nginx {
            writeln!(
                out,
                "nginx is not installed here (Debian's package is nginx), so there is no proxy in front."
            )?;
        }
        write!(out, "{}", stack.summary())?;
        writeln!(out, "Ctrl-C stops it.")?;
        loop {
            tokio::select! {
                signal = &mut stop => {
                    writeln!(out, "stopping ({signal})")?;
                    return stack.down().await;
                }
                () = sleep(LOOK_EVERY) => {
                    for told in stack.ended() {
                        writeln!(out, "{told}")?;
                    }
                }
            }
        }
    }

    fn options(&self, state: &Path) -> Result<Options> {
        let binaries =
            Binaries::beside_this_program(self.release, !self.no_build).context("finding this program")?;
        let mut options = Options::new(state, binaries);
        options.port = self.port.or_else(|| is_free(PORT).then_some(PORT));
        options.workers = self.workers;
        options.unix_sockets = self.unix_sockets;
        options.boxes = self.boxes;
        options.batching = matches!(self.batching, Switch::On);
        options.environment.clone_from(&self.env);
        if let Some(url) = &self.database_url {
            options.database = DatabaseChoice::Given(url.expose_secret().parse()?);
        } else if self.temporary_data {
            options.database = DatabaseChoice::Temporary;
        }
        if self.no_nginx {
            options.proxy = ProxyChoice::Without;
        }
        Ok(options)
    }
}

/// Starts this program again, without `--detach`, and waits until it is up.
async fn detached(root: &Path) -> Result<()> {
    if let Some(pid) = state::holder(root)? {
        bail!(
            "a stack (process {pid}) already runs in {}: stop it with `stack down`",
            root.display()
        );
    }
    std::fs::create_dir_all(root).with_context(|| format!("making {}", root.display()))?;
    let path = root.join("stack.log");
    let log = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .context("opening the log")?;
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.args(
        std::env::args_os()
            .skip(1)
            .filter(|argument| argument != "--detach"),
    );
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let mut child = command.process_group(0).spawn().context("starting the stack")?;
    loop {
        if let Some(status) = child.try_wait()? {
            let told = std::fs::read_to_string(&path).unwrap_or_default();
            bail!("the stack did not come up ({status}):\n{}", told.trim());
        }
        let up = state::holder(root)? == Some(child.id());
        if let Some(summary) = state::summary(root)?.filter(|_| up) {
            let mut out = std::io::stdout();
            write!(out, "{summary}")?;
            writeln!(
                out,
                "It runs on its own (process {}); `stack down` stops it.",
                child.id()
            )?;
            return Ok(());
        }
        sleep(LOOK_EVERY).await;
    }
}
