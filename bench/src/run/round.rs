//! Everything that is up at the same time, measured in turns.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use stack::Layout;

use super::cells::{PlannedCell, Round, deployments};
use super::database::Cluster;
use super::deployment::{Deployment, options};
use super::load::{Loaded, Loading};
use super::search::{self, Searched};
use super::{Surroundings, now, smoke};
use crate::account::{Quiet, load_average};
use crate::plan::{Group, Plan};
use crate::results::{Cell, Folder, Key, Load, Measurement, Mode, Outcome, Run, Search, Sockets, Split};

/// What is up, or why it is not.
type Up = BTreeMap<String, Result<Deployment, String>>;

/// Brings the group up, measures what is missing, and takes it down.
pub(super) async fn measure(
    plan: &Plan,
    round: &Round<'_>,
    folder: &Folder,
    record: &mut Run,
    cluster: Option<&mut Cluster>,
    surroundings: &Surroundings,
) -> Result<()> {
    let cluster = cluster.map(|cluster| &*cluster);
    let mut up = deploy(plan, round, folder, record, cluster, surroundings).await?;
    folder.write_run(record)?;
    for (order, cell) in (round.first..).zip(&round.cells) {
        if folder.has(&cell.key) {
            continue;
        }
        surroundings.progress.set_message(told(&cell.key));
        let started = now();
        let outcome = match up.get_mut(&cell.key.layout) {
            Some(Ok(deployment)) => {
                one(plan, round.group, folder, cell, deployment, cluster, surroundings).await
            }
            Some(Err(why)) => Outcome::Failed(why.clone()),
            None => Outcome::Failed("it was not deployed".to_owned()),
        };
        surroundings.progress.inc(1);
        surroundings
            .progress
            .suspend(|| report(order, record.plan.cells, &cell.key, &outcome));
        folder.write_cell(&Cell {
            key: cell.key.clone(),
            order,
            started,
            outcome,
        })?;
        if let (true, Some(cluster)) = (cell.profile.writes(), cluster) {
            surroundings.progress.set_message("tidying up the database");
            cluster.tidy(round.articles).await?;
        }
    }
    for deployment in up.into_values().flatten() {
        deployment.down().await?;
    }
    Ok(())
}

async fn deploy(
    plan: &Plan,
    round: &Round<'_>,
    folder: &Folder,
    record: &mut Run,
    cluster: Option<&Cluster>,
    surroundings: &Surroundings,
) -> Result<Up> {
    let group = round.group;
    let mut up = Up::new();
    let variants: BTreeMap<_, _> = deployments(group).into_iter().collect();
    let remember = |record: &mut Run, deployment: &Deployment, checks| {
        if let Some(variant) = variants.get(&deployment.layout) {
            let described = deployment.described(variant, group, checks);
            if !record.deployments.contains(&described) {
                record.deployments.push(described);
            }
        }
    };
    for &layout in &group.layouts {
        let cluster = cluster.context("there is no database for the layouts")?;
        surroundings.progress.set_message(format!("starting {layout}"));
        let outcome = start(plan, round, layout, folder, cluster, surroundings).await;
        if let Ok((deployment, checks)) = &outcome {
            remember(record, deployment, Some(*checks));
        }
        let outcome = outcome.map(|(deployment, _)| deployment);
        up.insert(layout.to_string(), outcome.map_err(|error| format!("{error:#}")));
    }
    for remote in &group.remote {
        let outcome = Deployment::elsewhere(remote, plan.load.viewers).await;
        if let Ok(deployment) = &outcome {
            remember(record, deployment, None);
        }
        up.insert(remote.name.clone(), outcome.map_err(|error| format!("{error:#}")));
    }
    Ok(up)
}

/// Smoke checks on a database of their own, then the layout on the filled one.
async fn start(
    plan: &Plan,
    round: &Round<'_>,
    layout: Layout,
    folder: &Folder,
    cluster: &Cluster,
    surroundings: &Surroundings,
) -> Result<(Deployment, u32)> {
    let group = round.group;
    let name = layout.to_string();
    // A box has its own network and the same files.
    let sockets = match group.boxes {
        true => Sockets::Unix,
        false => group.sockets,
    };
    let url = cluster.smoke(sockets).await?;
    let checks = smoke::check(layout, &options(group, &name, &url, surroundings)).await?;
    let url = cluster.data(round.articles, sockets).await?;
    let options = options(group, &name, &url, surroundings);
    let used = match group.budget {
        Some(budget) if budget.split == Split::Measured => used(folder, &name, round.articles)?,
        _ => BTreeMap::new(),
    };
    let mut deployment = Deployment::up(layout, group, &options, plan.load.viewers, &used).await?;
    deployment.remember_idle(&cluster.watched())?;
    Ok((deployment, checks))
}

/// What each process of the layout used in the last closed cell without a budget, of the read mix if there is one.
fn used(folder: &Folder, layout: &str, articles: u64) -> Result<BTreeMap<String, u64>> {
    let cells = folder.cells()?;
    let fits = |cell: &&Cell| {
        let key = &cell.key;
        key.layout == layout
            && key.articles == articles
            && key.variant.budget.is_none()
            && matches!(key.mode, Mode::Closed { .. })
            && cell.measured().is_some()
    };
    let fitting: Vec<&Cell> = cells.iter().filter(fits).collect();
    let read = fitting.iter().rev().find(|cell| cell.key.profile == "read");
    let cell = read.or(fitting.last()).with_context(|| {
        format!("a budget by measured share needs {layout} to be measured without one before")
    })?;
    let processes = cell.measured().map(|measured| measured.processes.clone());
    let of = processes.unwrap_or_default().into_iter();
    Ok(of.map(|process| (process.name, process.cpu_us)).collect())
}

async fn one(
    plan: &Plan,
    group: &Group,
    folder: &Folder,
    cell: &PlannedCell,
    deployment: &mut Deployment,
    cluster: Option<&Cluster>,
    surroundings: &Surroundings,
) -> Outcome {
    let gate = match plan.load.looks {
        0 => None,
        looks => Some(Quiet { looks }.wait().await),
    };
    let load_before = load_average().unwrap_or(0.0);
    let measured = {
        let loading = Loading {
            plan,
            deployment,
            cluster,
            surroundings,
            profile: cell.profile,
            seed: plan.seed.wrapping_add(u64::from(cell.key.repetition)),
        };
        loaded(plan, group, folder, &cell.key, &loading).await
    };
    let ended = deployment.ended().await;
    match measured {
        Err(error) if ended.is_empty() => Outcome::Failed(format!("{error:#}")),
        Err(error) => Outcome::Failed(format!("{error:#}; {}", ended.join("; "))),
        Ok(_) if !ended.is_empty() => Outcome::Failed(ended.join("; ")),
        Ok((loaded, _)) if loaded.outcome.counts.completed == 0 => {
            Outcome::Failed(format!("nothing was answered 2xx: {:?}", loaded.outcome.counts))
        }
        Ok((loaded, search)) => {
            let mut measurement = measurement(loaded, search, load_before);
            measurement.gate = gate;
            Outcome::Measured(Box::new(measurement))
        }
    }
}

async fn loaded(
    plan: &Plan,
    group: &Group,
    folder: &Folder,
    key: &Key,
    loading: &Loading<'_>,
) -> Result<(Loaded, Option<Search>)> {
    let seconds = group.seconds.unwrap_or(plan.load.seconds);
    let searched = |found: Searched| (found.representative, Some(found.search));
    Ok(match key.mode {
        Mode::Closed { concurrency } => (loading.run(Load::Connections(concurrency), seconds).await?, None),
        Mode::Rate { per_second } => {
            let load = Load::PerSecond(f64::from(per_second));
            (loading.run(load, seconds).await?, None)
        }
        Mode::Users { users } => (loading.run(Load::Users(users), seconds).await?, None),
        Mode::Ramp => searched(search::ramp(loading, &plan.search).await?),
        Mode::Capacity => searched(search::capacity(loading, &plan.search).await?),
        Mode::Overload => {
            let capacity = held(folder, key)?;
            searched(search::overload(loading, &plan.search, capacity).await?)
        }
    })
}

/// The capacity that was found in the same repetition.
fn held(folder: &Folder, key: &Key) -> Result<Load> {
    let wanted = Key {
        mode: Mode::Capacity,
        ..key.clone()
    };
    let cells = folder.cells()?;
    let found = cells.iter().find(|cell| cell.key == wanted);
    let search = found
        .and_then(Cell::measured)
        .and_then(|measured| measured.search.as_ref());
    search
        .and_then(|search| search.held)
        .context("no capacity was found before that could be exceeded")
}

fn measurement(loaded: Loaded, search: Option<Search>, load_before: f64) -> Measurement {
    let Loaded {
        seconds,
        outcome,
        costs,
    } = loaded;
    Measurement {
        seconds,
        counts: outcome.counts,
        latency: outcome.latency,
        processes: costs.processes,
        peers: costs.peers,
        load_before,
        load_after: costs.load_after,
        gate: None,
        search,
        routes: outcome.routes,
        late_p99_us: outcome.late_p99_us,
        waiting: costs.waiting,
        pool_waits: costs.pool_waits,
        database_us: costs.database_us,
    }
}

fn told(key: &Key) -> String {
    format!("{} {} {}, {}", key.layout, key.profile, key.mode, key.variant)
}

/// A line for each cell, so that a run that nobody watches leaves a trace, too.
fn report(order: u32, of: u32, key: &Key, outcome: &Outcome) {
    use std::io::Write as _;
    let what = match outcome {
        Outcome::Failed(why) => format!("FAILED: {why}"),
        Outcome::Measured(measured) => {
            use crate::results::ProcessKind::{App, Database};
            let cpu = |kind| measured.cpu_us(kind).unwrap_or(0.0);
            format!(
                "{:.0}/s, CPU per request {:.0} µs app and {:.0} µs database, p95 {:.1} ms, {} faults",
                measured.per_second(),
                cpu(App),
                cpu(Database),
                std::time::Duration::from_micros(measured.latency.p95_us).as_secs_f64() * 1e3,
                measured.counts.faults(),
            )
        }
    };
    let _ = writeln!(
        std::io::stdout(),
        "[{order}/{of}] {} #{}: {what}",
        told(key),
        key.repetition
    );
}
