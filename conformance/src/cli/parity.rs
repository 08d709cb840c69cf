//! `record`, `compare`, `parity`.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::Good;
use super::args::{CompareArgs, ParityArgs, RecordArgs, fresh_seed, runs};
use super::check::chosen;
use super::progress::Progress;
use crate::ctx::{Ctx, Run};
use crate::failure::Outcome;
use crate::log::Step;
use crate::parity;
use crate::recording::{self, Recorded, STORE, Writer};
use crate::report::{self, Tally};
use crate::runner;

pub(super) async fn record(args: RecordArgs) -> Result<Good> {
    let checks = chosen(&args.filter)?;
    let runs = runs(
        std::slice::from_ref(&args.url),
        args.seed,
        Some(&args.secret),
        &args.common,
    )?;
    let run = runs.first().context("no deployment")?;
    runner::probe(run).await?;
    let mut writer = Writer::create(&args.out, args.seed, &run.target.to_string())?;
    writer.add(&store(run).await?)?;
    let (progress, planned) = (Progress::new(checks.len()), checks.len());
    let mut verdicts = Vec::new();
    for check in checks {
        let verdict = runner::one(run, check).await;
        progress.step(&format!("{:<7} {:?}", report::word(&verdict), verdict.check));
        writer.add(&recorded(
            verdict.check.id,
            &verdict.outcome,
            verdict.steps.clone(),
        ))?;
        verdicts.push(verdict);
    }
    progress.done();
    writer.finish()?;
    say!("{}", report::failures(&verdicts));
    let tally = Tally::of(&verdicts, planned);
    let answers: usize = verdicts
        .iter()
        .flat_map(|v| &v.steps)
        .map(|step| step.exchanges().len())
        .sum();
    say!(
        "{answers} answers of {planned} checks in {}: {} passed, {} failed, {} skipped (seed {})",
        args.out.display(),
        tally.passed,
        tally.failed,
        tally.skipped,
        args.seed
    );
    Ok(tally.is_good(args.secret.allow_skips))
}

async fn store(run: &Run) -> Result<Recorded> {
    let ctx = Ctx::new(run, STORE);
    match parity::look_at_store(&ctx).await {
        Ok(()) => Ok(recorded(STORE, &Ok(()), ctx.log().steps())),
        Err(failure) => bail!("the store cannot be looked at: {failure}"),
    }
}

fn recorded(id: &str, outcome: &Outcome, steps: Vec<Step>) -> Recorded {
    let outcome = outcome
        .as_ref()
        .err()
        .map_or_else(|| "ok".to_owned(), ToString::to_string);
    Recorded {
        id: id.to_owned(),
        outcome,
        steps,
    }
}

pub(super) fn compare(args: &CompareArgs) -> Result<Good> {
    let read = |path: &Path| recording::read(path);
    let parity = parity::compare(read(&args.left)?, read(&args.right)?)?;
    say!("{parity}");
    Ok(parity.differences.is_empty())
}

pub(super) async fn live(args: ParityArgs) -> Result<Good> {
    let checks = chosen(&args.filter)?;
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let runs = runs(&args.urls, seed, Some(&args.secret), &args.common)?;
    for run in &runs {
        runner::probe(run).await?;
    }
    let (progress, planned) = (Progress::new(checks.len()), checks.len());
    let (parity, verdicts) = parity::live(&runs, checks, |id, parity| {
        progress.step(&format!(
            "{id}: {} answers, {} differ",
            parity.answers,
            parity.differences.len()
        ));
    })
    .await?;
    progress.done();
    let mut good = parity.differences.is_empty();
    for (run, verdicts) in runs.iter().zip(&verdicts) {
        let tally = Tally::of(verdicts, planned);
        say!("{}", report::failures(verdicts));
        say!(
            "{}: {} passed, {} failed, {} skipped",
            run.target,
            tally.passed,
            tally.failed,
            tally.skipped
        );
        good &= tally.is_good(args.secret.allow_skips);
    }
    say!("{parity} (seed {seed})");
    say!(
        "{}",
        if good {
            "the deployments are the same application"
        } else {
            "NOT the same, or not right"
        }
    );
    Ok(good)
}
