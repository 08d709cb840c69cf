//! Several generators that work as one.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::future::try_join_all;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::generator::{GO, Said};
use super::{Outcome, Spec};

/// How long a generator may take to start, and to end beside what the load itself takes: another machine may be far away.
const PATIENCE: Duration = Duration::from_secs(60);

/// Something that all generators have come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Requests count from now on.
    Counting,
    /// What becomes due from now on does not count.
    Counted,
}

/// Running generators; they end with the value.
#[derive(Debug)]
pub struct Generators {
    running: Vec<Generator>,
    longest: Duration,
}

#[derive(Debug)]
struct Generator {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Generators {
    /// Starts one with each command, which ends up in [`generate`](super::generate) here or on another machine
    /// (`ssh box bench generate`), and tells each its share.
    ///
    /// # Errors
    /// One of them does not start.
    pub async fn start(commands: &[Vec<String>], spec: &Spec) -> Result<Self> {
        let count = u32::try_from(commands.len())?;
        ensure!(count > 0, "there is no generator");
        let shares = commands.iter().zip(0..count);
        let running = try_join_all(
            shares.map(|(command, number)| Generator::start(command, spec.share(number, count))),
        );
        let longest = super::spec::seconds(spec.warm_up + spec.seconds + 2.0 * spec.timeout)?;
        Ok(Self {
            running: running.await?,
            longest: longest + PATIENCE,
        })
    }

    /// The process ids of those on this machine.
    #[must_use]
    pub fn process_ids(&self) -> Vec<u32> {
        self.running
            .iter()
            .filter_map(|generator| generator.child.id())
            .collect()
    }

    /// Lets them go. `event` is called when all have come to something, before anything else is done.
    ///
    /// # Errors
    /// One of them fails, or ends early.
    pub async fn run(mut self, mut event: impl AsyncFnMut(Event) -> Result<()>) -> Result<Outcome> {
        for generator in &mut self.running {
            generator.tell(GO).await?;
        }
        self.all(|said| matches!(said, Said::Counting)).await?;
        event(Event::Counting).await?;
        self.all(|said| matches!(said, Said::Counted)).await?;
        event(Event::Counted).await?;
        let longest = self.longest;
        let outcomes =
            self.running
                .iter_mut()
                .map(async |generator| match generator.heard(longest).await? {
                    Said::Done(outcome) => Ok(*outcome),
                    said => bail!("a generator says {said:?} at its end"),
                });
        Outcome::merged(&try_join_all(outcomes).await?)
    }

    async fn all(&mut self, expected: impl Fn(&Said) -> bool) -> Result<()> {
        let longest = self.longest;
        for generator in &mut self.running {
            let said = generator.heard(longest).await?;
            ensure!(expected(&said), "a generator says {said:?} at the wrong time");
        }
        Ok(())
    }
}

impl Generator {
    async fn start(command: &[String], spec: Spec) -> Result<Self> {
        let (program, arguments) = command.split_first().context("the command of a generator")?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // Ctrl-C is meant for us; it ends when its input does.
        let spawned = command.process_group(0).kill_on_drop(true).spawn();
        let mut child = spawned.with_context(|| format!("starting the generator {program}"))?;
        let input = child.stdin.take().context("the input of a generator")?;
        let output = child.stdout.take().context("the output of a generator")?;
        let mut generator = Self {
            child,
            input,
            output: BufReader::new(output).lines(),
        };
        generator.tell(&serde_json::to_string(&spec)?).await?;
        match generator.heard(PATIENCE).await? {
            Said::Ready => Ok(generator),
            said => bail!("a generator says {said:?} at its start"),
        }
    }

    async fn tell(&mut self, line: &str) -> Result<()> {
        let told = async {
            self.input.write_all(line.as_bytes()).await?;
            self.input.write_all(b"\n").await?;
            self.input.flush().await
        };
        told.await.context("telling a generator what to do")
    }

    async fn heard(&mut self, longest: Duration) -> Result<Said> {
        let line = timeout(longest, self.output.next_line())
            .await
            .context("a generator says nothing")?
            .context("hearing a generator")?;
        match line {
            Some(line) => serde_json::from_str(&line).context("what a generator says"),
            None => bail!("a generator ended early ({})", self.child.wait().await?),
        }
    }
}
