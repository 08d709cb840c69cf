//! `check`: the catalogue against one deployment.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::Good;
use super::args::{CheckArgs, fresh_seed, runs};
use super::progress::Progress;
use crate::checks::{self, Check};
use crate::report::{self, Tally};
use crate::runner;

pub(super) async fn run(args: CheckArgs) -> Result<Good> {
    let checks = chosen(&args.filter)?;
    if args.list {
        checks.iter().for_each(|check| say!("{check:?}"));
        return Ok(true);
    }
    let urls: Vec<String> = args.url.iter().cloned().collect();
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let runs = runs(&urls, seed, Some(&args.secret), &args.common)?;
    let run = runs.first().context("no deployment")?;
    runner::probe(run).await?;

    let (planned, start) = (checks.len(), Instant::now());
    let progress = Progress::new(planned);
    let verdicts = runner::run_all(run, checks, args.jobs.into(), |verdict| {
        let line = format!("{:<7} {:?}", report::word(verdict), verdict.check);
        if report::word(verdict) == "FAILED" {
            progress.tell(&line);
        }
        progress.step(&line);
    })
    .await;
    progress.done();

    say!("{}", report::table(&verdicts, planned));
    say!("{}", report::failures(&verdicts));
    let tally = Tally::of(&verdicts, planned);
    let Tally {
        passed,
        failed,
        skipped,
        untried,
    } = tally;
    if untried > 0 {
        say!(
            "\n{} stopped answering: {untried} checks were not tried",
            run.target
        );
    }
    let seconds = start.elapsed().as_secs_f64();
    say!("\n{passed} passed, {failed} failed, {skipped} skipped in {seconds:.1} s (seed {seed})");
    if let Some(path) = &args.json {
        write(
            path,
            &format!(
                "{:#}\n",
                report::json(&verdicts, planned, &run.target.to_string(), seed)
            ),
        )?;
    }
    if let Some(path) = &args.junit {
        write(path, &report::junit(&verdicts, &run.target.to_string()))?;
    }
    Ok(tally.is_good(args.secret.allow_skips))
}

/// The checks that a filter leaves: whole areas and single ids. Nothing given leaves all.
///
/// # Errors
/// A filter matches no check.
pub(super) fn chosen(filter: &[String]) -> Result<Vec<Check>> {
    let fits = |check: &Check, one: &str| check.id == one || check.area() == one;
    for one in filter {
        ensure!(
            checks::all().iter().any(|check| fits(check, one)),
            "`{one}` is neither an area nor a check"
        );
    }
    let wanted = |check: &Check| filter.is_empty() || filter.iter().any(|one| fits(check, one));
    Ok(checks::all().into_iter().filter(wanted).collect())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}
