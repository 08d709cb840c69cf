//! What the processes count themselves: their operations listeners' `/metrics` (docs/operations.md).

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Counters of one or several processes, added up by name without labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters(BTreeMap<String, f64>);

impl Counters {
    /// Asks all of these operations listeners (`http://host:port`).
    ///
    /// # Errors
    /// One of them does not answer.
    pub async fn of(listeners: &[String]) -> Result<Self> {
        let mut counters = Self::default();
        for listener in listeners {
            let text = text(listener)
                .await
                .with_context(|| format!("asking {listener}/metrics"))?;
            counters.add(&text);
        }
        Ok(counters)
    }

    /// How much a counter has grown since; 0 where there is none.
    #[must_use]
    pub fn since(&self, before: &Self, name: &str) -> u64 {
        let at = |counters: &Self| counters.0.get(name).copied().unwrap_or(0.0);
        whole(at(self) - at(before))
    }

    /// How much a counter that need not be whole has grown since; `None` where nobody counts it.
    #[must_use]
    pub fn grown(&self, before: &Self, name: &str) -> Option<f64> {
        let grown = self.0.get(name)? - before.0.get(name).copied().unwrap_or(0.0);
        Some(grown.max(0.0))
    }

    /// What a gauge says now, or 0.
    #[must_use]
    pub fn now(&self, name: &str) -> u64 {
        whole(self.0.get(name).copied().unwrap_or(0.0))
    }

    fn add(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((series, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let Ok(value) = value.parse::<f64>() else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            // The gauge of pools has what it counts in a label; hashing passwords is another kind of pool.
            let name = match labels {
                labels if name == "pool_connections" && labels.contains("password") => continue,
                labels if labels.contains("state=\"waiting\"") => "pool_waiting",
                _ => name,
            };
            *self.0.entry(name.to_owned()).or_default() += value;
        }
    }
}

async fn text(listener: &str) -> Result<String> {
    let host = listener.strip_prefix("http://").context("no HTTP address")?;
    let mut stream = TcpStream::connect(host).await?;
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    ensure!(answer.starts_with("HTTP/1.1 200 "), "it is not answered 200");
    Ok(answer)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counters are whole and far below 2^53"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_added_up() {
        let mut before = Counters::default();
        before.add("# TYPE conduit_rpc_calls counter\nconduit_rpc_calls_total{peer=\"users\"} 3\n");
        let mut after = before.clone();
        after.add(
            "conduit_rpc_calls_total{peer=\"users\"} 4\nconduit_rpc_calls_total{peer=\"profiles\"} 2\n\
             pool_connections{pool=\"worker-0\",state=\"waiting\"} 5\npool_connections{pool=\"worker-0\",state=\"open\"} 9\n\
             pool_connections{pool=\"password-hashing\",state=\"waiting\"} 1\n# EOF\n",
        );
        assert_eq!(after.since(&before, "conduit_rpc_calls_total"), 6);
        assert_eq!(after.now("pool_waiting"), 5);
        assert_eq!(after.since(&before, "nobody_counts_this"), 0);
        after.add("pool_wait_seconds_total{pool=\"worker-0\"} 0.25\npool_wait_seconds_total{pool=\"worker-1\"} 0.5\n");
        assert_eq!(after.grown(&before, "pool_wait_seconds_total"), Some(0.75));
        assert_eq!(after.grown(&before, "nobody_counts_this"), None);
    }
}
