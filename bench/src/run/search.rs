//! Looking for the most that a deployment holds, and going beyond it.

use anyhow::{Result, bail};

use super::load::{Loaded, Loading};
use crate::load::Outcome;
use crate::plan::{SearchPlan, Unit};
use crate::results::{Load, Rules, Search, Step};

/// A generator that is later than this is what is measured, not the deployment.
const LATEST_US: u64 = 20_000;

/// The steps of a search, with what the step cost that stands for all: the last that held, else the first.
pub(super) struct Searched {
    pub(super) search: Search,
    pub(super) representative: Loaded,
}

/// Steps of one search.
struct Steps<'a> {
    loading: &'a Loading<'a>,
    plan: &'a SearchPlan,
    rules: Rules,
    done: Vec<Step>,
    first: Option<Loaded>,
    best: Option<(u32, Loaded)>,
}

/// Growing steps until a rule breaks.
pub(super) async fn ramp(loading: &Loading<'_>, plan: &SearchPlan) -> Result<Searched> {
    let mut steps = Steps::new(loading, plan);
    let mut amount = plan.start;
    while amount <= plan.most && steps.holds(amount).await? {
        amount = amount.saturating_add(plan.ramp);
    }
    steps.searched()
}

/// Doubles until a rule breaks, then halves the distance between what held and what did not.
pub(super) async fn capacity(loading: &Loading<'_>, plan: &SearchPlan) -> Result<Searched> {
    let mut steps = Steps::new(loading, plan);
    let mut bisection = Bisection::new(plan.start, plan.most, plan.precision);
    while let Some(amount) = bisection.next() {
        let held = steps.holds(amount).await?;
        bisection.tell(amount, held);
    }
    steps.searched()
}

/// Multiples of a capacity, whatever they break.
pub(super) async fn overload(loading: &Loading<'_>, plan: &SearchPlan, capacity: Load) -> Result<Searched> {
    let (mut done, mut last) = (Vec::new(), None);
    for &factor in &plan.factors {
        let offered = times(capacity, factor);
        let loaded = loading.run(offered, plan.seconds).await?;
        done.push(step(offered, Some(factor), &loaded, None));
        last = Some(loaded);
    }
    let Some(representative) = last else {
        bail!("the plan has no factors for overload");
    };
    Ok(Searched {
        search: Search {
            rules: None,
            held: None,
            steps: done,
        },
        representative,
    })
}

impl<'a> Steps<'a> {
    fn new(loading: &'a Loading<'a>, plan: &'a SearchPlan) -> Self {
        Self {
            loading,
            plan,
            rules: plan.rules(),
            done: Vec::new(),
            first: None,
            best: None,
        }
    }

    async fn holds(&mut self, amount: u32) -> Result<bool> {
        let offered = load(self.plan.unit, amount);
        let loaded = self.loading.run(offered, self.plan.seconds).await?;
        let broke = broken(&self.rules, &loaded.outcome);
        let held = broke.is_none();
        self.done.push(step(offered, None, &loaded, broke));
        if held && self.best.as_ref().is_none_or(|(best, _)| *best < amount) {
            self.best = Some((amount, loaded));
        } else if self.first.is_none() {
            self.first = Some(loaded);
        }
        Ok(held)
    }

    fn searched(self) -> Result<Searched> {
        let held = self
            .best
            .as_ref()
            .map(|(amount, _)| load(self.plan.unit, *amount));
        let Some(representative) = self.best.map(|(_, loaded)| loaded).or(self.first) else {
            bail!("the search made no step");
        };
        Ok(Searched {
            search: Search {
                rules: Some(self.rules),
                held,
                steps: self.done,
            },
            representative,
        })
    }
}

fn load(unit: Unit, amount: u32) -> Load {
    match unit {
        Unit::Users => Load::Users(amount),
        Unit::Rate => Load::PerSecond(f64::from(amount)),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "some thousand users times a small number"
)]
fn times(load: Load, factor: f64) -> Load {
    let rounded = |amount: u32| (f64::from(amount) * factor).round() as u32;
    match load {
        Load::Users(users) => Load::Users(rounded(users)),
        Load::PerSecond(rate) => Load::PerSecond(rate * factor),
        Load::Connections(count) => Load::Connections(rounded(count)),
    }
}

fn step(offered: Load, factor: Option<f64>, loaded: &Loaded, broke: Option<String>) -> Step {
    Step {
        offered,
        factor,
        seconds: loaded.seconds,
        counts: loaded.outcome.counts.clone(),
        latency: loaded.outcome.latency.clone(),
        broke,
    }
}

/// The first rule that was broken.
fn broken(rules: &Rules, outcome: &Outcome) -> Option<String> {
    let share = outcome.counts.fault_share();
    if outcome.counts.completed == 0 {
        return Some("nothing was answered".to_owned());
    }
    if share >= rules.errors {
        let most = match outcome.counts.dropped * 2 > outcome.counts.faults() {
            true => {
                ", most of them not sent: every connection was busy, or the generator may open no more files (ulimit -n; more generators \
                 have more)"
            }
            false => "",
        };
        return Some(format!("{:.2} % were not 2xx{most}", share * 100.0));
    }
    for (name, seen, limit) in [
        ("p95", outcome.latency.p95_us, rules.p95_us),
        ("p99", outcome.latency.p99_us, rules.p99_us),
    ] {
        if seen >= limit {
            return Some(format!("{name} was {} ms", seen / 1000));
        }
    }
    (outcome.late_p99_us > LATEST_US).then(|| {
        format!(
            "the generator was {} ms late itself: use more generators",
            outcome.late_p99_us / 1000
        )
    })
}

/// Which amount to try next.
struct Bisection {
    held: u32,
    broke: Option<u32>,
    next: u32,
    most: u32,
    precision: f64,
}

impl Bisection {
    fn new(start: u32, most: u32, precision: f64) -> Self {
        Self {
            held: 0,
            broke: None,
            next: start,
            most,
            precision,
        }
    }

    fn next(&self) -> Option<u32> {
        let distance = self.broke.map(|broke| broke - self.held);
        let close = match distance {
            None => self.held >= self.most,
            Some(distance) => distance <= 1 || f64::from(distance) <= f64::from(self.held) * self.precision,
        };
        // Nothing held, and hardly anything is left to try.
        let hopeless = self.held == 0 && self.next <= 1 && self.broke.is_some_and(|broke| broke <= 1);
        (!close && !hopeless).then_some(self.next)
    }

    fn tell(&mut self, amount: u32, held: bool) {
        if held {
            self.held = self.held.max(amount);
        } else {
            self.broke = Some(self.broke.map_or(amount, |broke| broke.min(amount)));
        }
        self.next = match self.broke {
            None => amount.saturating_mul(2).min(self.most),
            Some(broke) => self.held.midpoint(broke).max(1),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Counts, Latency, histogram};

    fn found(start: u32, most: u32, precision: f64, truth: u32) -> (u32, Vec<u32>) {
        let mut bisection = Bisection::new(start, most, precision);
        let mut tried = Vec::new();
        while let Some(amount) = bisection.next() {
            assert!(tried.len() < 60, "{tried:?}");
            tried.push(amount);
            bisection.tell(amount, amount <= truth);
        }
        (bisection.held, tried)
    }

    #[test]
    fn the_most_that_holds_is_found_within_the_precision() {
        for truth in [1, 2, 7, 399, 400, 401, 1000, 12_345, 63_999] {
            let (held, tried) = found(400, 64_000, 0.05, truth);
            assert!(
                held <= truth && f64::from(truth - held) <= f64::from(held) * 0.05 + 1.0,
                "{truth}: {held}"
            );
            assert!(tried.len() <= 20, "{truth}: {tried:?}");
        }
        assert_eq!(found(400, 2000, 0.05, 5000).0, 2000);
        assert_eq!(found(400, 2000, 0.05, 0).0, 0);
    }

    fn outcome(latencies: &[u64], faults: u64, late_p99_us: u64) -> Outcome {
        let mut recorded = histogram().unwrap();
        latencies
            .iter()
            .for_each(|latency| recorded.record(*latency).unwrap());
        Outcome {
            counts: Counts {
                completed: latencies.len() as u64,
                timeouts: faults,
                ..Counts::default()
            },
            latency: Latency::of(&recorded).unwrap(),
            routes: [].into(),
            late_p99_us,
        }
    }

    fn unsent(dropped: u64) -> Outcome {
        let mut outcome = outcome(&[1000; 100], 0, 0);
        outcome.counts.dropped = dropped;
        outcome
    }

    #[test]
    fn a_step_breaks_the_rule_that_it_breaks() {
        let rules = SearchPlan::default().rules();
        let slow = |share: usize, slow: u64| {
            let mut latencies = vec![1000; 100 - share];
            latencies.extend(vec![slow; share]);
            latencies
        };
        let rows = [
            (outcome(&slow(4, 900_000), 0, 0), None),
            (outcome(&slow(6, 600_000), 0, 0), Some("p95")),
            (outcome(&slow(2, 1_100_000), 0, 0), Some("p99")),
            (outcome(&slow(0, 0), 1, 0), None),
            (outcome(&slow(0, 0), 2, 0), Some("% were not 2xx")),
            (outcome(&[], 2, 0), Some("nothing")),
            (unsent(2), Some("ulimit -n")),
            (outcome(&slow(0, 0), 0, 30_000), Some("generator")),
        ];
        for (outcome, expected) in rows {
            let broke = broken(&rules, &outcome);
            match expected {
                None => assert_eq!(broke, None),
                Some(expected) => assert!(
                    broke.as_ref().is_some_and(|told| told.contains(expected)),
                    "{broke:?}"
                ),
            }
        }
    }

    #[test]
    fn overload_is_a_multiple() {
        assert_eq!(times(Load::Users(1000), 1.5), Load::Users(1500));
        assert_eq!(times(Load::PerSecond(10.0), 1.2), Load::PerSecond(12.0));
    }
}
