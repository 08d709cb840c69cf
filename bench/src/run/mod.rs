//! A run: deploys what a plan asks for, makes load, counts, and writes one file for each cell.
//!
//! - All deployments of a group are up at the same time, on one database, and are measured in turns, cell by cell. So what the
//!   machine does meanwhile hits all of them alike. Those that wait use next to no processor time.
//! - Each layout has to pass smoke checks of the conformance program first, on a database of their own.
//! - A cell that fails says so in its file; the run goes on. Finished cells are not measured again when a run is resumed.
//!
//! Start reading at [`run`].

mod cells;
mod database;
mod deployment;
mod load;
mod observe;
mod round;
mod search;
mod smoke;

use std::path::PathBuf;

use anyhow::{Context, Result};
pub use cells::count;
use conduit_domain::Clock as _;
use conduit_runtime::SystemClock;
use indicatif::ProgressBar;
use stack::Binaries;

use self::cells::rounds;
use self::database::Cluster;
use crate::account::{Images, artifacts, machine};
use crate::plan::Plan;
use crate::results::{self, Folder, Run};

/// What a run needs beside the plan.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where databases, secrets and logs are kept from run to run.
    pub state: PathBuf,
    /// The programs, which are there.
    pub binaries: Binaries,
    /// The container images of the same programs, for their sizes.
    pub images: Images,
    /// What starts a generator on this machine.
    pub generator: Vec<String>,
    /// Cells that are finished, and what is being done.
    pub progress: ProgressBar,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Cells that were measured, or were before.
    pub measured: usize,
    /// Cells that say why they were not.
    pub failed: usize,
}

/// The beginning of a run's folder.
///
/// # Errors
/// The machine does not tell what it is.
pub fn begin(name: &str, text: &str, plan: &Plan) -> Result<Run> {
    Ok(Run {
        format: Run::FORMAT,
        plan: results::Plan {
            name: name.to_owned(),
            text: text.to_owned(),
            cells: u32::try_from(count(plan))?,
            repetitions: plan.repetitions,
        },
        started: now(),
        finished: None,
        machine: machine("")?,
        deployments: Vec::new(),
        artifacts: Vec::new(),
        gates: Vec::new(),
    })
}

/// Measures what is not measured yet.
///
/// # Errors
/// The database does not start, or the disk refuses. What concerns one cell or one layout is in their files instead.
pub async fn run(plan: &Plan, folder: &Folder, surroundings: &Surroundings) -> Result<Done> {
    let mut record = folder.run()?;
    let rounds = rounds(plan);
    let all: usize = rounds.iter().map(|round| round.cells.len()).sum();
    surroundings.progress.set_length(u64::try_from(all)?);
    let local = plan.groups.iter().any(|group| !group.layouts.is_empty());
    let mut cluster = match local {
        true => Some(
            Cluster::start(plan, surroundings)
                .await
                .context("starting PostgreSQL; --state chooses where its data are")?,
        ),
        false => None,
    };
    if let Some(cluster) = &cluster {
        record.machine = machine(&cluster.version().await?)?;
        record.artifacts = artifacts(&surroundings.binaries.folder, &surroundings.images);
    }
    folder.write_run(&record)?;
    for round in &rounds {
        let missing = round.cells.iter().filter(|cell| !folder.has(&cell.key)).count();
        let found = round.cells.len() - missing;
        surroundings.progress.inc(u64::try_from(found)?);
        if missing > 0 {
            round::measure(plan, round, folder, &mut record, cluster.as_mut(), surroundings).await?;
        }
    }
    if let Some(cluster) = cluster {
        cluster.stop().await?;
    }
    record.finished = Some(now());
    folder.write_run(&record)?;
    let cells = folder.cells()?;
    let measured = cells.iter().filter(|cell| cell.measured().is_some()).count();
    Ok(Done {
        measured,
        failed: cells.len() - measured,
    })
}

/// RFC 3339, UTC.
pub(crate) fn now() -> String {
    SystemClock.now().text().as_str().to_owned()
}
