//! What a load costs while it is counted.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::database::Cluster;
use super::deployment::Deployment;
use crate::account::{Backends, Counters, Watched, load_average};
use crate::results::{PeerTraffic, PoolWaits, ProcessUse};

/// Looks at the processes at the beginning and at the end.
pub(super) struct Observer<'a> {
    deployment: &'a Deployment,
    cluster: Option<&'a Cluster>,
    watched: Vec<Watched>,
    before: Option<Moment>,
    after: Option<Moment>,
    /// Whom the sessions of the database serve, at the end.
    serves: BTreeMap<i32, String>,
    peaks: BTreeMap<String, u64>,
}

/// What a load cost.
pub(super) struct Costs {
    pub(super) processes: Vec<ProcessUse>,
    pub(super) peers: Option<PeerTraffic>,
    pub(super) waiting: Option<u64>,
    pub(super) pool_waits: Option<PoolWaits>,
    pub(super) database_us: BTreeMap<String, u64>,
    pub(super) load_after: f64,
}

struct Moment {
    cpu_us: BTreeMap<String, u64>,
    throttled_us: BTreeMap<String, u64>,
    backends: Backends,
    counters: Option<Counters>,
}

impl<'a> Observer<'a> {
    pub(super) fn new(
        deployment: &'a Deployment,
        cluster: Option<&'a Cluster>,
        watched: Vec<Watched>,
    ) -> Self {
        Self {
            deployment,
            cluster,
            watched,
            before: None,
            after: None,
            serves: BTreeMap::new(),
            peaks: BTreeMap::new(),
        }
    }

    pub(super) async fn begin(&mut self) -> Result<()> {
        self.watched.iter().for_each(Watched::forget_peak);
        let counters = self.deployment.counters().await?;
        // Last, so that what looking costs is not counted.
        self.before = Some(self.moment(counters)?);
        Ok(())
    }

    pub(super) async fn end(&mut self) -> Result<()> {
        let mut moment = self.moment(None)?;
        moment.counters = self.deployment.counters().await?;
        self.after = Some(moment);
        if let Some((cluster, database)) = self.cluster.zip(self.deployment.database.as_deref()) {
            self.serves = cluster.serves(database).await?;
        }
        for watched in &self.watched {
            self.peaks.insert(watched.name.clone(), watched.peak_bytes()?);
        }
        Ok(())
    }

    fn moment(&self, counters: Option<Counters>) -> Result<Moment> {
        let cpu = self
            .watched
            .iter()
            .map(|watched| Ok((watched.name.clone(), watched.cpu_us()?)));
        Ok(Moment {
            cpu_us: cpu.collect::<Result<_>>()?,
            throttled_us: self.deployment.throttled_us()?,
            backends: self
                .cluster
                .map_or_else(|| Ok(Backends::default()), Cluster::backends)?,
            counters,
        })
    }

    pub(super) fn costs(self) -> Result<Costs> {
        let unseen = "the load ended before it was counted";
        let before = self.before.context(unseen)?;
        let after = self.after.context(unseen)?;
        let grown = |of: fn(&Moment) -> &BTreeMap<String, u64>, name: &str| {
            let at = |moment: &Moment| of(moment).get(name).copied();
            Some(at(&after)?.saturating_sub(at(&before)?))
        };
        let processes = self.watched.iter().map(|watched| ProcessUse {
            name: watched.name.clone(),
            service: watched.service.clone(),
            kind: watched.kind,
            cpu_us: grown(|moment| &moment.cpu_us, &watched.name).unwrap_or(0),
            memory_idle_bytes: self.deployment.idle_bytes(&watched.name),
            memory_peak_bytes: self.peaks.get(&watched.name).copied().unwrap_or(0),
            throttled_us: grown(|moment| &moment.throttled_us, &watched.name),
        });
        let counters = before.counters.as_ref().zip(after.counters.as_ref());
        Ok(Costs {
            processes: processes.collect(),
            peers: counters
                .filter(|_| self.deployment.has_peers())
                .map(|(before, after)| PeerTraffic {
                    calls: after.since(before, "conduit_rpc_calls_total"),
                    bytes: bytes(before, after),
                }),
            waiting: counters
                .map(|(before, after)| before.now("pool_waiting").max(after.now("pool_waiting"))),
            pool_waits: counters.and_then(|(before, after)| waits(before, after)),
            database_us: after.backends.since(&before.backends, &self.serves),
            load_after: load_average()?,
        })
    }
}

/// Counted by the callers; no service counts what it is asked.
fn bytes(before: &Counters, after: &Counters) -> Option<u64> {
    // A process that has called nobody has no series yet.
    let of = |name| after.since(before, name);
    let bytes = of("conduit_rpc_sent_bytes_total") + of("conduit_rpc_received_bytes_total");
    (bytes > 0 || of("conduit_rpc_calls_total") == 0).then_some(bytes)
}

fn waits(before: &Counters, after: &Counters) -> Option<PoolWaits> {
    after.grown(before, "pool_waits_total")?;
    Some(PoolWaits {
        count: after.since(before, "pool_waits_total"),
        us: micros(after.grown(before, "pool_wait_seconds_total")?),
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "seconds that were waited are never negative, and few"
)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}
