//! What is counted.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::request::Answer;
use crate::results::{Counts, Histogram, Latency, RouteOutcome, histogram};

/// What one or several generators have counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of all routes.
    pub counts: Counts,
    /// Of the 2xx answers.
    pub latency: Latency,
    /// The same by route; `list-token` is the list with a token.
    pub routes: BTreeMap<String, RouteOutcome>,
    /// How much later than due requests left, the generator's own fault: the 99th percentile in microseconds.
    pub late_p99_us: u64,
}

/// When requests are counted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) from: Instant,
    pub(super) until: Instant,
}

/// Counts of a generator, shared by its sessions.
pub(super) struct Tally {
    window: Window,
    routes: RefCell<BTreeMap<&'static str, Counted>>,
    late: RefCell<Histogram>,
}

struct Counted {
    counts: Counts,
    latency: Histogram,
}

impl Window {
    fn contains(&self, due: Instant) -> bool {
        self.from <= due && due < self.until
    }
}

impl Tally {
    pub(super) fn new(window: Window) -> Result<Self> {
        Ok(Self {
            window,
            routes: RefCell::default(),
            late: RefCell::new(histogram()?),
        })
    }

    /// Nothing becomes due from here on.
    pub(super) fn until(&self) -> Instant {
        self.window.until
    }

    /// Counts an answer to a request that was due then.
    pub(super) fn answered(&self, route: &'static str, due: Instant, answer: &Answer) {
        self.count(route, due, |counted| match answer {
            Answer::Status(200..=299, _) => {
                counted.counts.completed += 1;
                // It grows as it must.
                let _ = counted.latency.record(micros(due));
            }
            Answer::Status(status, _) => *counted.counts.statuses.entry(*status).or_default() += 1,
            Answer::TimedOut => counted.counts.timeouts += 1,
            Answer::Broken => counted.counts.broken += 1,
            Answer::Unsent => counted.counts.dropped += 1,
        });
    }

    /// Counts a request that could not be sent.
    pub(super) fn dropped(&self, due: Instant) {
        self.count("unsent", due, |counted| counted.counts.dropped += 1);
    }

    /// Counts a request that waited too long to be sent.
    pub(super) fn overdue(&self, due: Instant) {
        self.count("unsent", due, |counted| counted.counts.timeouts += 1);
    }

    /// Remembers how late a request was noticed to be due.
    pub(super) fn noticed(&self, due: Instant) {
        if self.window.contains(due) {
            let _ = self.late.borrow_mut().record(micros(due));
        }
    }

    fn count(&self, route: &'static str, due: Instant, add: impl FnOnce(&mut Counted)) {
        if !self.window.contains(due) {
            return;
        }
        let mut routes = self.routes.borrow_mut();
        if !routes.contains_key(route) {
            let Ok(latency) = histogram() else { return };
            let counts = Counts::default();
            routes.insert(route, Counted { counts, latency });
        }
        if let Some(counted) = routes.get_mut(route) {
            add(counted);
        }
    }

    pub(super) fn outcome(&self) -> Result<Outcome> {
        let (mut counts, mut latency) = (Counts::default(), histogram()?);
        let mut routes = BTreeMap::new();
        for (route, counted) in self.routes.borrow().iter() {
            add(&mut counts, &counted.counts);
            latency.add(&counted.latency).context("adding histograms")?;
            let outcome = RouteOutcome {
                counts: counted.counts.clone(),
                latency: Latency::of(&counted.latency)?,
            };
            routes.insert((*route).to_owned(), outcome);
        }
        Ok(Outcome {
            counts,
            latency: Latency::of(&latency)?,
            routes,
            late_p99_us: self.late.borrow().value_at_quantile(0.99),
        })
    }
}

impl Outcome {
    /// Those of several generators as if they had been one.
    ///
    /// # Errors
    /// A histogram that is none.
    pub fn merged(parts: &[Self]) -> Result<Self> {
        let mut counts = Counts::default();
        parts.iter().for_each(|part| add(&mut counts, &part.counts));
        let names: std::collections::BTreeSet<&String> =
            parts.iter().flat_map(|part| part.routes.keys()).collect();
        let mut routes = BTreeMap::new();
        for name in names {
            let of_route: Vec<&RouteOutcome> =
                parts.iter().filter_map(|part| part.routes.get(name)).collect();
            let mut counts = Counts::default();
            of_route.iter().for_each(|part| add(&mut counts, &part.counts));
            let latency = Latency::merged(of_route.iter().map(|part| &part.latency))?;
            routes.insert(name.clone(), RouteOutcome { counts, latency });
        }
        Ok(Self {
            counts,
            latency: Latency::merged(parts.iter().map(|part| &part.latency))?,
            routes,
            late_p99_us: parts.iter().map(|part| part.late_p99_us).max().unwrap_or(0),
        })
    }
}

fn add(sum: &mut Counts, part: &Counts) {
    sum.completed += part.completed;
    sum.timeouts += part.timeouts;
    sum.broken += part.broken;
    sum.dropped += part.dropped;
    for (status, count) in &part.statuses {
        *sum.statuses.entry(*status).or_default() += count;
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn tally() -> Tally {
        let from = Instant::now();
        let until = from + Duration::from_secs(10);
        Tally::new(Window { from, until }).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_due_is_counted_by_kind_however_late_it_ends() {
        let tally = tally();
        let due = Instant::now();
        tokio::time::advance(Duration::from_secs(30)).await;
        tally.answered("list", due, &Answer::Status(200, "".into()));
        tally.answered("list", due, &Answer::Status(503, "".into()));
        tally.answered("list", due, &Answer::Status(302, "".into()));
        tally.answered("feed", due, &Answer::TimedOut);
        tally.answered("feed", due, &Answer::Broken);
        tally.dropped(due);
        tally.overdue(due);
        // Due after the end.
        tally.answered("list", Instant::now(), &Answer::Status(200, "".into()));
        let outcome = tally.outcome().unwrap();
        let expected = Counts {
            completed: 1,
            statuses: [(302, 1), (503, 1)].into(),
            timeouts: 2,
            broken: 1,
            dropped: 1,
        };
        assert_eq!(outcome.counts, expected);
        assert_eq!(outcome.latency.histogram().unwrap().len(), 1);
        // From when it was due.
        assert!(outcome.latency.p50_us >= 29_900_000, "{}", outcome.latency.p50_us);
        assert_eq!(outcome.routes["feed"].counts.faults(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn generators_merge_as_if_they_had_been_one() {
        let (one, other, whole) = (tally(), tally(), tally());
        let due = Instant::now();
        for (tally, steps) in [(&one, 3), (&other, 5)] {
            for _ in 0..steps {
                tokio::time::advance(Duration::from_millis(7)).await;
                for tally in [tally, &whole] {
                    tally.answered("list", due, &Answer::Status(200, "".into()));
                }
            }
        }
        other.answered("tags", due, &Answer::Broken);
        whole.answered("tags", due, &Answer::Broken);
        let merged = Outcome::merged(&[one.outcome().unwrap(), other.outcome().unwrap()]).unwrap();
        let whole = whole.outcome().unwrap();
        assert_eq!(merged.counts, whole.counts);
        assert_eq!(
            merged.latency.histogram().unwrap(),
            whole.latency.histogram().unwrap()
        );
        for (route, expected) in &whole.routes {
            assert_eq!(merged.routes[route].counts, expected.counts);
            let histogram = |outcome: &RouteOutcome| outcome.latency.histogram().unwrap();
            assert_eq!(histogram(&merged.routes[route]), histogram(expected));
        }
    }
}
