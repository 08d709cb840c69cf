//! `reads`: deployments on one database.

use anyhow::Result;

use super::Good;
use super::args::{ReadsArgs, fresh_seed, runs};
use super::progress::Progress;
use crate::{reads, runner};

pub(super) async fn run(args: ReadsArgs) -> Result<Good> {
    let runs = runs(&args.urls, fresh_seed(), None, &args.common)?;
    for run in &runs {
        runner::probe(run).await?;
    }
    let progress = Progress::new(0);
    let outcome = reads::compare(&runs, args.most, |reads| {
        if reads.answers % 1000 < runs.len() {
            progress.step(&format!(
                "{} answers, {} differ",
                reads.answers,
                reads.differences.len()
            ));
        }
    })
    .await?;
    progress.done();
    for difference in &outcome.differences {
        say!("\nDIFFERS {difference}");
    }
    say!(
        "{} answers compared, {} differ",
        outcome.answers,
        outcome.differences.len()
    );
    Ok(outcome.differences.is_empty())
}
