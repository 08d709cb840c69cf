//! `explore`: random programs.

use anyhow::Result;
use tokio::runtime::Runtime;

use super::Good;
use super::args::{ExploreArgs, fresh_seed, runs};
use super::progress::Progress;
use crate::{explore, runner};

pub(super) fn run(runtime: &Runtime, args: &ExploreArgs) -> Result<Good> {
    let nonce = fresh_seed();
    let runs = runs(&args.urls, nonce, None, &args.common)?;
    for run in &runs {
        runtime.block_on(runner::probe(run))?;
    }
    let progress = Progress::new(usize::try_from(args.seeds)?);
    let (mut answers, mut different) = (0, 0);
    for seed in args.seed..args.seed.saturating_add(args.seeds) {
        let explored = explore::seed(runtime, &runs, seed, args.steps.into(), nonce)?;
        answers += explored.answers;
        progress.step(&format!("seed {seed}: {} answers", explored.answers));
        if let Some(shrunk) = explored.difference {
            different += 1;
            say!("\nseed {seed}, {} steps: {shrunk}\n", args.steps);
        }
    }
    progress.done();
    say!(
        "{} seeds of {} steps, {answers} answers compared, {different} seeds with a difference",
        args.seeds,
        args.steps
    );
    Ok(different == 0)
}
