//! Whether several deployments are the same application: recorded runs held against each other, and live ones.

use std::fmt;

use anyhow::{Result, bail, ensure};
use futures_util::future::join_all;

use crate::checks::Check;
use crate::compare::{Comparer, Difference};
use crate::ctx::{Ctx, Run};
use crate::failure::{Failure, Outcome};
use crate::log::Step;
use crate::mask::Cover;
use crate::recording::{Head, Recorded, STORE};
use crate::runner::{self, Verdict};

/// So many pages of a hundred articles are looked at to see whether two stores are equal.
const PAGES: usize = 20;

/// The outcome of holding deployments against each other.
#[derive(Debug, Default)]
pub struct Parity {
    /// How many answers were compared.
    pub answers: usize,
    /// What differs, with the check's id and which two deployments.
    pub differences: Vec<(String, Difference)>,
}

impl Parity {
    /// Compares the logs of one check on two deployments.
    pub fn add(&mut self, id: &str, left: &[Step], right: &[Step]) {
        let findings = Comparer::new(Cover::Volatile).logs(left, right);
        self.answers += findings.answers;
        self.differences
            .extend(findings.differences.into_iter().map(|d| (id.to_owned(), d)));
    }
}

impl fmt::Display for Parity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, difference) in &self.differences {
            writeln!(f, "\nDIFFERS {id}: {difference}")?;
        }
        write!(
            f,
            "{} answers compared, {} differ",
            self.answers,
            self.differences.len()
        )
    }
}

/// What the store holds that everybody may see: all tags, and articles page by page. Two runs are comparable only if
/// they began on equal stores.
///
/// # Errors
/// The deployment does not answer these reads as it should.
pub async fn look_at_store(ctx: &Ctx) -> Outcome {
    ctx.get("/api/tags").expect(200).await?;
    for page in 0..PAGES {
        let path = format!("/api/articles?limit=100&offset={}", page * 100);
        if ctx.get(&path).expect(200).await?.articles()?.articles.len() < 100 {
            break;
        }
    }
    Ok(())
}

/// Compares two recordings.
///
/// # Errors
/// They are not of the same run: another seed, other checks, or stores that were not equal at the start.
pub fn compare(left: (Head, Vec<Recorded>), right: (Head, Vec<Recorded>)) -> Result<Parity> {
    let ((left_head, left), (right_head, right)) = (left, right);
    ensure!(
        left_head.seed == right_head.seed,
        "the recordings have different seeds: {} and {}",
        left_head.seed,
        right_head.seed
    );
    let ids = |checks: &[Recorded]| checks.iter().map(|check| check.id.clone()).collect::<Vec<_>>();
    ensure!(
        ids(&left) == ids(&right),
        "the recordings are not of the same checks"
    );
    let mut parity = Parity::default();
    for (a, b) in left.iter().zip(&right) {
        parity.add(&a.id, &a.steps, &b.steps);
        if a.id == STORE
            && let Some((_, difference)) = parity.differences.first()
        {
            bail!("the stores were not equal at the start: {difference}");
        }
    }
    Ok(parity)
}

/// Makes each check on all deployments, one check after the other, and compares the first with each of the others.
/// `done` hears of every check.
///
/// # Errors
/// The stores are not equal at the start, or cannot be looked at.
pub async fn live(
    runs: &[Run],
    checks: Vec<Check>,
    mut done: impl FnMut(&str, &Parity),
) -> Result<(Parity, Vec<Vec<Verdict>>)> {
    equal_at_the_start(runs).await?;
    let mut parity = Parity::default();
    let mut verdicts: Vec<Vec<Verdict>> = runs.iter().map(|_| Vec::new()).collect();
    for check in checks {
        let made = join_all(runs.iter().map(|run| runner::one(run, check.clone()))).await;
        if let Some((first, others)) = made.split_first() {
            others
                .iter()
                .for_each(|other| parity.add(check.id, &first.steps, &other.steps));
        }
        let gone = made
            .iter()
            .filter(|v| matches!(v.outcome, Err(Failure::Unanswered(_))))
            .count();
        done(check.id, &parity);
        verdicts.iter_mut().zip(made).for_each(|(all, one)| all.push(one));
        if gone == runs.len() {
            bail!("no deployment answered {}: the run ends here", check.id);
        }
    }
    Ok((parity, verdicts))
}

async fn equal_at_the_start(runs: &[Run]) -> Result<()> {
    let contexts: Vec<Ctx> = runs.iter().map(|run| Ctx::new(run, STORE)).collect();
    for ctx in &contexts {
        if let Err(failure) = look_at_store(ctx).await {
            bail!("the store cannot be looked at: {failure}");
        }
    }
    let logs: Vec<Vec<Step>> = contexts.iter().map(|ctx| ctx.log().steps()).collect();
    let mut parity = Parity::default();
    if let Some((first, others)) = logs.split_first() {
        others.iter().for_each(|other| parity.add(STORE, first, other));
    }
    match parity.differences.first() {
        None => Ok(()),
        Some((_, difference)) => bail!("the stores are not equal at the start: {difference}"),
    }
}
