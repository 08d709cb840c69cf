//! Smoke checks: a layout that does not answer as the contract says is not measured.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use conformance::checks::{self, Check};
use conformance::ctx::Run;
use conformance::forge::Secret;
use conformance::report::{self, Tally};
use conformance::runner;
use conformance::target::{RouteTable, Target};
use stack::{Layout, Options, Stack};

/// How long one exchange may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Checks that run at the same time.
const JOBS: usize = 2;

/// Starts the layout on the database that its options name, makes the checks, and stops it. Returns how many there were.
pub(super) async fn check(layout: Layout, options: &Options) -> Result<u32> {
    let stack = Stack::up(layout, options).await?;
    let secret = std::fs::read_to_string(stack.token_secret_file()).context("reading the token secret")?;
    let passed = ask(stack.address(), Some(Secret::new(secret.trim()))).await;
    stack.down().await?;
    passed
}

/// Makes the checks at an address.
pub(super) async fn ask(address: &str, secret: Option<Secret>) -> Result<u32> {
    let run = Run {
        target: Target::parse(address, &RouteTable::built_in()?)?,
        seed: 1,
        secret,
        patience: PATIENCE,
    };
    runner::probe(&run).await?;
    let chosen = chosen();
    let planned = chosen.len();
    let verdicts = runner::run_all(&run, chosen, JOBS, |_| {}).await;
    let tally = Tally::of(&verdicts, planned);
    ensure!(
        tally.failed == 0 && tally.untried == 0,
        "smoke checks failed: {}",
        report::failures(&verdicts)
    );
    Ok(u32::try_from(tally.passed)?)
}

/// The first checks of each area: its ordinary cases.
fn chosen() -> Vec<Check> {
    let mut all = checks::all();
    let areas: BTreeSet<&str> = all.iter().map(Check::area).collect();
    let first: BTreeSet<&str> = areas
        .into_iter()
        .flat_map(|area| all.iter().filter(move |check| check.area() == area).take(2))
        .map(|check| check.id)
        .collect();
    all.retain(|check| first.contains(check.id));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_area_is_tried() {
        let chosen = chosen();
        let areas: BTreeSet<&str> = chosen.iter().map(Check::area).collect();
        let all: BTreeSet<String> = checks::all()
            .iter()
            .map(|check| check.area().to_owned())
            .collect();
        assert_eq!(areas.len(), all.len());
        assert!((10..40).contains(&chosen.len()), "{}", chosen.len());
    }
}
