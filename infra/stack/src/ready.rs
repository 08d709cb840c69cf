//! Waiting until something answers.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::time::{Instant, sleep};

/// How often to ask.
const ASK_EVERY: Duration = Duration::from_millis(20);

/// How long one answer may take.
const ANSWER_WAIT: Duration = Duration::from_secs(5);

/// How long a start may take on a machine that does ten other things.
const START_WAIT: Duration = Duration::from_secs(120);

/// Asks probes.
#[derive(Clone, Debug)]
pub(crate) struct Probe(reqwest::Client);

impl Probe {
    pub(crate) fn new() -> Result<Self> {
        let client = reqwest::Client::builder().no_proxy().timeout(ANSWER_WAIT);
        Ok(Self(
            client
                .pool_max_idle_per_host(0)
                .build()
                .context("an HTTP client")?,
        ))
    }

    /// None if it answers 200, else what it does instead.
    pub(crate) async fn complaint(&self, url: &str) -> Option<String> {
        match self.0.get(url).send().await {
            Ok(answer) if answer.status() == 200 => None,
            Ok(answer) => Some(format!("{url} answers {}", answer.status())),
            Err(error) => Some(format!("{:#}", anyhow::Error::from(error))),
        }
    }

    /// Waits for a 200. `ended` says why there will be none.
    pub(crate) async fn wait(&self, url: &str, mut ended: impl FnMut() -> Option<String>) -> Result<()> {
        let deadline = Instant::now() + START_WAIT;
        loop {
            if let Some(why) = ended() {
                bail!(why);
            }
            let Some(complaint) = self.complaint(url).await else {
                return Ok(());
            };
            if Instant::now() >= deadline {
                bail!("not ready within {} s: {complaint}", START_WAIT.as_secs());
            }
            sleep(ASK_EVERY).await;
        }
    }
}
