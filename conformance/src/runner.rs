//! Making checks: several at a time where they may, each with a client of its own, none able to bring down the run.

use std::time::{Duration, Instant};

use futures_util::stream::{self, StreamExt};

use crate::checks::Check;
use crate::ctx::{Ctx, Run};
use crate::failure::{Failure, Outcome, Report};
use crate::http::Request;
use crate::log::{Certainty, Step};
use crate::session::Session;

/// No check needs nearly as long, however slow the deployment may be.
const CHECK_LIMIT: Duration = Duration::from_secs(120);
/// So many checks without an answer, one after the other, and the deployment counts as gone.
const OUTAGES: usize = 5;

/// One check that was made.
#[derive(Debug)]
pub struct Verdict {
    /// The check.
    pub check: Check,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
    /// What was asked and answered.
    pub steps: Vec<Step>,
}

/// Makes sure that something answers at every address of the deployment, before 197 checks find out one by one.
///
/// # Errors
/// Which address does not answer, at which step, or with what.
pub async fn probe(run: &Run) -> anyhow::Result<()> {
    let session = Session::new(run.target.clone(), run.patience);
    for path in ["/api/tags", "/api/user", "/api/profiles/nobody", "/readyz"] {
        let request = Request {
            method: "GET".into(),
            target: path.into(),
            headers: Vec::new(),
            body: None,
        };
        let exchange = session.exchange(request, Certainty::Certain).await;
        match exchange.outcome {
            Err(trouble) => anyhow::bail!("{} does not answer GET {path}: {trouble}", run.target),
            Ok(response) if response.status >= 500 => anyhow::bail!(
                "{} is not fit to be checked: GET {path} at {} is answered {} {}",
                run.target,
                exchange.address,
                response.status,
                response.text()
            ),
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Makes the checks, at most `jobs` at a time, those that must be alone at the end. `done` hears of each as it ends. The
/// verdicts come in the order of the checks; once the deployment has stopped answering, the rest is not tried.
pub async fn run_all(
    run: &Run,
    checks: Vec<Check>,
    jobs: usize,
    mut done: impl FnMut(&Verdict),
) -> Vec<Verdict> {
    let order: Vec<&str> = checks.iter().map(|check| check.id).collect();
    let (alone, free): (Vec<Check>, Vec<Check>) = checks.into_iter().partition(|check| check.alone);
    let mut outages = 0;
    let mut verdicts = Vec::new();
    for (group, jobs) in [(free, jobs.max(1)), (alone, 1)] {
        let mut running = stream::iter(group)
            .map(|check| one(run, check))
            .buffer_unordered(jobs);
        while let Some(verdict) = running.next().await {
            done(&verdict);
            let silent = matches!(verdict.outcome, Err(Failure::Unanswered(_)));
            outages = if silent { outages + 1 } else { 0 };
            verdicts.push(verdict);
            if outages >= OUTAGES {
                break;
            }
        }
        if outages >= OUTAGES {
            break;
        }
    }
    verdicts.sort_by_key(|verdict| order.iter().position(|id| *id == verdict.check.id));
    verdicts
}

/// Makes one check. A panic in it is a failure of the check, told like any other.
pub async fn one(run: &Run, check: Check) -> Verdict {
    let ctx = Ctx::new(run, check.id);
    let start = Instant::now();
    let task = tokio::spawn(in_time(check.clone(), ctx.clone()));
    let outcome = task
        .await
        .unwrap_or_else(|error| Err(Failure::told(format!("the check broke: {error}"))));
    Verdict {
        check,
        outcome,
        took: start.elapsed(),
        steps: ctx.log().steps(),
    }
}

async fn in_time(check: Check, ctx: Ctx) -> Outcome {
    let Ok(outcome) = tokio::time::timeout(CHECK_LIMIT, check.run(ctx.clone())).await else {
        let what = format!("the check was not done after {CHECK_LIMIT:?}; the last request is shown");
        let failure = Failure::Unanswered(Box::new(Report {
            what,
            ..Report::default()
        }));
        return Err(ctx
            .log()
            .last()
            .map_or(failure.clone(), |exchange| failure.about(&exchange)));
    };
    outcome
}
