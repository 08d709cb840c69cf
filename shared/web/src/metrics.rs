//! What the operations listener tells a collector: requests by route and status, how long they took, how full the pools are.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::http::header::HeaderValue;
use conduit_domain::{Error, Result};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeCounterValue, EncodeLabelSet, EncodeMetric, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::answer::Answer;
use crate::api::System;
use crate::call::Call;
use crate::log::Report;

const TEXT: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Upper bounds in seconds.
const BUCKETS: [f64; 13] = [
    0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0,
];

/// The counters of a process. Cheap to clone; all clones count together.
#[derive(Clone)]
pub struct Metrics(Arc<Shared>);

struct Shared {
    registry: Mutex<Registry>,
    requests: Family<Answered, Counter>,
    durations: Family<Asked, Histogram, Buckets>,
    connections: Family<PoolState, Gauge>,
    pools: Mutex<Vec<Pool>>,
    waits: Arc<Waits>,
}

/// A pool of connections at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolSize {
    /// Open connections.
    pub size: usize,
    /// Those that nobody uses.
    pub available: usize,
    /// Requests that wait for one.
    pub waiting: usize,
}

/// Requests that got no connection at once, so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolWaits {
    /// How many.
    pub count: u64,
    /// How long they waited in all.
    pub total: Duration,
}

/// The waits of all pools, counted elsewhere.
#[derive(Default)]
struct Waits(Mutex<Vec<(PoolName, WaitsOf)>>);

type WaitsOf = Box<dyn Fn() -> PoolWaits + Send + Sync>;

/// Something that is counted elsewhere.
struct Watched<F> {
    name: &'static str,
    what: &'static str,
    count: F,
}

struct Pool {
    name: String,
    size: Box<dyn Fn() -> PoolSize + Send + Sync>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Answered {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Asked {
    method: &'static str,
    route: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PoolState {
    pool: String,
    state: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PoolName {
    pool: String,
}

#[derive(Clone, Copy)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(BUCKETS)
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let requests = Family::default();
        let durations = Family::new_with_constructor(Buckets);
        let connections = Family::default();
        let mut registry = Registry::default();
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register(
            "http_request_duration_seconds",
            "From the head of a request to its answer",
            durations.clone(),
        );
        registry.register(
            "pool_connections",
            "Connections of each pool (or turns, where it bounds work), and requests that wait for one",
            connections.clone(),
        );
        let waits = Arc::new(Waits::default());
        registry.register_collector(Box::new(Arc::clone(&waits)));
        Self(Arc::new(Shared {
            registry: Mutex::new(registry),
            requests,
            durations,
            connections,
            pools: Mutex::default(),
            waits,
        }))
    }
}

impl Metrics {
    /// Shows more than the public API knows of, such as the calls between services.
    pub fn register(&self, add: impl FnOnce(&mut Registry)) {
        add(&mut self.0.registry.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows a pool from now on. Each worker has its own, so the name says whose it is.
    pub fn watch_pool(&self, name: impl Into<String>, size: impl Fn() -> PoolSize + Send + Sync + 'static) {
        let pool = Pool {
            name: name.into(),
            size: Box::new(size),
        };
        self.0
            .pools
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(pool);
    }

    /// Shows from now on who had to wait for a connection of a pool, under the name that [`Metrics::watch_pool`] has for it.
    pub fn watch_waits(
        &self,
        name: impl Into<String>,
        waits: impl Fn() -> PoolWaits + Send + Sync + 'static,
    ) {
        let pool = PoolName { pool: name.into() };
        let mut watched = self.0.waits.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.push((pool, Box::new(waits)));
    }

    /// Shows a count that somebody else keeps and that only grows, as `<name>_total`.
    pub fn watch_count(
        &self,
        name: &'static str,
        what: &'static str,
        count: impl Fn() -> u64 + Send + Sync + 'static,
    ) {
        self.register(|registry| registry.register_collector(Box::new(Watched { name, what, count })));
    }

    pub(crate) fn count(&self, report: &Report<'_>) {
        let Report {
            pattern: route,
            status,
            took,
            ..
        } = *report;
        let method = known(report.request.method().as_str());
        self.0
            .requests
            .get_or_create(&Answered {
                method,
                route,
                status: status.as_u16(),
            })
            .inc();
        self.0
            .durations
            .get_or_create(&Asked { method, route })
            .observe(took.as_secs_f64());
    }

    /// All of it in the text form of OpenMetrics, which Prometheus reads.
    ///
    /// # Errors
    /// [`Error::Internal`] if it cannot be written.
    pub fn text(&self) -> Result<String> {
        for pool in self.0.pools.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            self.show(pool);
        }
        let mut written = String::new();
        text::encode(
            &mut written,
            &self.0.registry.lock().unwrap_or_else(PoisonError::into_inner),
        )
        .map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(written)
    }

    fn show(&self, pool: &Pool) {
        let PoolSize {
            size,
            available,
            waiting,
        } = (pool.size)();
        for (state, count) in [("open", size), ("idle", available), ("waiting", waiting)] {
            let labels = PoolState {
                pool: pool.name.clone(),
                state,
            };
            self.0
                .connections
                .get_or_create(&labels)
                .set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
}

impl<F: Fn() -> u64 + Send + Sync + 'static> Collector for Watched<F> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let counter = ConstCounter::new((self.count)());
        // A registry ends its sentences itself, a collector does not.
        let what = format!("{}.", self.what);
        let metric = encoder.encode_descriptor(self.name, &what, None, counter.metric_type())?;
        counter.encode(metric)
    }
}

impl Collector for Waits {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waits: Vec<_> = watched.iter().map(|(pool, waits)| (pool, waits())).collect();
        let counts = waits.iter().map(|(pool, waits)| (*pool, waits.count));
        by_pool(
            &mut encoder,
            "pool_waits",
            "Requests that got no connection at once.",
            counts,
        )?;
        let seconds = waits
            .iter()
            .map(|(pool, waits)| (*pool, waits.total.as_secs_f64()));
        by_pool(
            &mut encoder,
            "pool_wait_seconds",
            "How long they waited for one.",
            seconds,
        )
    }
}

fn by_pool<'a, N: EncodeCounterValue>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    what: &str,
    counts: impl Iterator<Item = (&'a PoolName, N)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, what, None, MetricType::Counter)?;
    for (pool, count) in counts {
        ConstCounter::new(count).encode(metric.encode_family(pool)?)?;
    }
    Ok(())
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waits").finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for Watched<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Clients may invent methods, and a label must not grow with them.
pub(crate) fn known(method: &str) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"];
    known.into_iter().find(|name| *name == method).unwrap_or("other")
}

pub(crate) async fn show(system: &System, _: Call<'_>) -> Result<Answer> {
    Ok(Answer::file(TEXT, system.metrics.text()?.into(), false))
}
