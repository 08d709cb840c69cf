//! One measurement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Key, Latency, Load, NoiseGate};

/// One measurement, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which one.
    pub key: Key,
    /// Its place in the run, from 1: which cells ran next to each other.
    pub order: u32,
    /// When the load began: RFC 3339, UTC.
    pub started: String,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Measurement>),
    /// It was not, and why: a process died, the smoke checks failed.
    Failed(String),
}

/// What was seen under the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// How long the load was counted, warm-up left out.
    pub seconds: f64,
    /// Answers by kind.
    pub counts: Counts,
    /// Of the 2xx answers.
    pub latency: Latency,
    /// Processor time and memory of every process.
    pub processes: Vec<ProcessUse>,
    /// Calls between the services; `None` where they were not measured, as there are none in a monolith.
    pub peers: Option<PeerTraffic>,
    /// One-minute load average before the load.
    pub load_before: f64,
    /// And at its end.
    pub load_after: f64,
    /// Whether the machine was quiet before the load; `None` where nobody looked.
    pub gate: Option<NoiseGate>,
    /// The steps of a ramp, a capacity search or an overload.
    pub search: Option<Search>,
    /// The same by what was asked: `list-token` is the list with a token, `unsent` what could not be sent in time.
    #[serde(default)]
    pub routes: BTreeMap<String, RouteOutcome>,
    /// How much later than due requests left, which is the generator's fault: the 99th percentile, in microseconds.
    #[serde(default)]
    pub late_p99_us: u64,
    /// Requests that waited for a database connection at the same time, the most that was seen in a few looks; `None` where nobody
    /// looked.
    #[serde(default)]
    pub waiting: Option<u64>,
    /// Requests that got no database connection at once, all processes together; `None` where nobody counted.
    #[serde(default)]
    pub pool_waits: Option<PoolWaits>,
    /// PostgreSQL's processor time by the service that a session served, in microseconds. A part of what `processes` has: sessions
    /// that ended meanwhile and processes that serve no session are in the latter only. Empty where nobody looked.
    #[serde(default)]
    pub database_us: BTreeMap<String, u64>,
}

/// One kind of request among those of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteOutcome {
    /// Answers by kind.
    pub counts: Counts,
    /// Of the 2xx answers.
    pub latency: Latency,
}

/// Answers by kind. Only `completed` counts as work done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// 2xx.
    pub completed: u64,
    /// Every other status.
    pub statuses: BTreeMap<u16, u64>,
    /// Not answered in time.
    pub timeouts: u64,
    /// Connections that were refused or broke.
    pub broken: u64,
    /// Arrivals that the generator could not send, as all its connections were busy or it may open no more files.
    pub dropped: u64,
}

/// What a process used while the load was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessUse {
    /// `articles-2`, `nginx`, `postgres (articles)`.
    pub name: String,
    /// The service that it is, or works for; `None` where it works for all.
    pub service: Option<String>,
    /// What it is for.
    pub kind: ProcessKind,
    /// User and system time.
    pub cpu_us: u64,
    /// Resident before the first load; for the database of all its processes, shared pages once.
    pub memory_idle_bytes: u64,
    /// The most resident under load.
    pub memory_peak_bytes: u64,
    /// Time that it wanted to run and its quota did not let it; `None` where it has no quota.
    pub throttled_us: Option<u64>,
}

/// What a process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessKind {
    /// The application.
    App,
    /// What stands in front of it.
    Proxy,
    /// PostgreSQL.
    Database,
    /// What makes the load.
    Generator,
}

/// What passed between the services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerTraffic {
    /// Calls that left a service; what was batched left once.
    pub calls: u64,
    /// Bytes of their messages in both directions, without heads and frames; `None` where nobody counted.
    pub bytes: Option<u64>,
}

/// Waits for a database connection. One that was under way at an end of the measurement is in the count at its beginning, in the
/// time at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolWaits {
    /// How many.
    pub count: u64,
    /// How long in all.
    pub us: u64,
}

/// When a step counts as held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    /// How long it has to hold.
    pub seconds: f64,
    /// 95 % of the answers are faster.
    pub p95_us: u64,
    /// 99 % of the answers are faster.
    pub p99_us: u64,
    /// Share of all that is not 2xx, 0 to 1.
    pub errors: f64,
}

/// The steps of a ramp, a capacity search or an overload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// What a step had to hold; `None` where nothing had to, as in an overload.
    pub rules: Option<Rules>,
    /// The most that was held; `None` if not even the first step was.
    pub held: Option<Load>,
    /// In the order in which they were tried.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// What was offered.
    pub offered: Load,
    /// As a multiple of the capacity; `None` except in an overload.
    pub factor: Option<f64>,
    /// How long it was counted.
    pub seconds: f64,
    /// Answers by kind.
    pub counts: Counts,
    /// Of the 2xx answers.
    pub latency: Latency,
    /// The rule that it broke; `None` if it held, or had nothing to hold.
    pub broke: Option<String>,
}

impl Cell {
    /// The measurement, if there is one.
    #[must_use]
    pub fn measured(&self) -> Option<&Measurement> {
        match &self.outcome {
            Outcome::Measured(measurement) => Some(measurement),
            Outcome::Failed(_) => None,
        }
    }
}

impl Counts {
    /// All that was sent, or should have been.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.completed.saturating_add(self.faults())
    }

    /// All that is not 2xx.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let statuses = self.statuses.values().copied().fold(0, u64::saturating_add);
        [self.timeouts, self.broken, self.dropped]
            .into_iter()
            .fold(statuses, u64::saturating_add)
    }

    /// Share of all that is not 2xx, 0 to 1; 0 where nothing arrived.
    #[must_use]
    pub fn fault_share(&self) -> f64 {
        ratio(self.faults(), self.arrivals()).unwrap_or(0.0)
    }
}

impl Measurement {
    /// 2xx answers a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        per_second(&self.counts, self.seconds)
    }

    /// Processor time of all processes of a kind per 2xx answer, in microseconds; `None` if there was no such answer.
    #[must_use]
    pub fn cpu_us(&self, kind: ProcessKind) -> Option<f64> {
        let used = self.of(kind).map(|process| process.cpu_us).sum();
        ratio(used, self.counts.completed)
    }

    /// Processor time of one process per 2xx answer, in microseconds.
    #[must_use]
    pub fn cpu_us_of(&self, process: &ProcessUse) -> Option<f64> {
        ratio(process.cpu_us, self.counts.completed)
    }

    /// Processes of a kind.
    pub fn of(&self, kind: ProcessKind) -> impl Iterator<Item = &ProcessUse> {
        self.processes.iter().filter(move |process| process.kind == kind)
    }

    /// Calls between services per 2xx answer.
    #[must_use]
    pub fn peer_calls(&self) -> Option<f64> {
        ratio(self.peers?.calls, self.counts.completed)
    }

    /// Bytes between services per 2xx answer.
    #[must_use]
    pub fn peer_bytes(&self) -> Option<f64> {
        ratio(self.peers?.bytes?, self.counts.completed)
    }

    /// Waits for a database connection per thousand 2xx answers.
    #[must_use]
    pub fn waits_per_thousand(&self) -> Option<f64> {
        Some(1000.0 * ratio(self.pool_waits?.count, self.counts.completed)?)
    }

    /// The mean wait for a database connection, in microseconds; `None` if nobody waited.
    #[must_use]
    pub fn mean_wait_us(&self) -> Option<f64> {
        let waits = self.pool_waits?;
        ratio(waits.us, waits.count)
    }

    /// PostgreSQL's processor time for one service per 2xx answer, in microseconds.
    #[must_use]
    pub fn database_us_of(&self, service: &str) -> Option<f64> {
        ratio(*self.database_us.get(service)?, self.counts.completed)
    }
}

impl Step {
    /// 2xx answers a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        per_second(&self.counts, self.seconds)
    }
}

fn per_second(counts: &Counts, seconds: f64) -> f64 {
    if seconds > 0.0 {
        float(counts.completed) / seconds
    } else {
        0.0
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| float(part) / float(whole))
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts and microseconds of a run stay far below 2^53"
)]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_2xx_is_a_fault() {
        let counts = Counts {
            completed: 90,
            statuses: [(404, 1), (503, 2)].into(),
            timeouts: 3,
            broken: 3,
            dropped: 1,
        };
        assert_eq!((counts.faults(), counts.arrivals()), (10, 100));
        assert!((counts.fault_share() - 0.1).abs() < 1e-12);
        assert!(Counts::default().fault_share() == 0.0);
    }
}
