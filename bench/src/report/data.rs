//! The cells of a run, put together: repetitions into groups, groups into conditions under which layouts are compared.

use std::collections::{BTreeMap, BTreeSet};

use crate::results::{Cell, Key, Measurement, Mode, Outcome, Place, ProcessKind, Run};
use crate::stats::{Comparison, Spread};

/// The layout that all others are compared with.
const BASELINE: &str = "monolith";

/// A run with its cells.
pub(crate) struct Data<'a> {
    pub(crate) run: &'a Run,
    pub(crate) cells: &'a [Cell],
    groups: BTreeMap<Key, Group<'a>>,
    layouts: Vec<String>,
}

/// The repetitions of a cell.
#[derive(Clone, Debug)]
pub(crate) struct Group<'a> {
    pub(crate) key: Key,
    repetitions: BTreeMap<u32, &'a Measurement>,
}

/// One figure of a measurement, if it has it.
pub(crate) type Metric = fn(&Measurement) -> Option<f64>;

/// Processor time of the application per request.
pub(crate) const APP: Metric = |measurement| measurement.cpu_us(ProcessKind::App);
/// Processor time of PostgreSQL per request.
pub(crate) const DATABASE: Metric = |measurement| measurement.cpu_us(ProcessKind::Database);
/// 2xx answers a second.
pub(crate) const THROUGHPUT: Metric = |measurement| Some(measurement.per_second());

impl<'a> Data<'a> {
    pub(crate) fn of(run: &'a Run, cells: &'a [Cell]) -> Self {
        let mut groups = BTreeMap::new();
        for cell in cells {
            let Some(measurement) = cell.measured() else {
                continue;
            };
            let key = cell.key.cell();
            let group = groups.entry(key.clone()).or_insert_with(|| Group {
                key,
                repetitions: BTreeMap::new(),
            });
            group.repetitions.insert(cell.key.repetition, measurement);
        }
        Self {
            run,
            cells,
            groups,
            layouts: layouts(run, cells),
        }
    }

    /// Those that were measured or tried, the baseline first, the others as they were deployed.
    pub(crate) fn layouts(&self) -> &[String] {
        &self.layouts
    }

    /// What the others are compared with.
    pub(crate) fn baseline(&self) -> &str {
        self.layouts.first().map_or(BASELINE, String::as_str)
    }

    /// Every measured cell.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group<'a>> {
        self.groups.values()
    }

    /// Every condition under which a cell was measured that passes.
    pub(crate) fn conditions(&self, passes: impl Fn(&Key) -> bool) -> BTreeSet<Key> {
        let keys = self.groups.keys().filter(|key| passes(key));
        keys.map(Key::conditions).collect()
    }

    /// The layouts that were measured under these conditions, in the order of [`Data::layouts`].
    pub(crate) fn under(&self, conditions: &Key) -> Vec<&Group<'a>> {
        let keys = self.layouts.iter().map(|layout| Key {
            layout: layout.clone(),
            ..conditions.clone()
        });
        keys.filter_map(|key| self.groups.get(&key)).collect()
    }

    /// The layout under these conditions.
    pub(crate) fn group(&self, layout: &str, conditions: &Key) -> Option<&Group<'a>> {
        self.groups.get(&Key {
            layout: layout.to_owned(),
            ..conditions.clone()
        })
    }

    /// A layout's figure beside the baseline's, pair by pair; `None` for the baseline itself.
    pub(crate) fn beside_baseline(&self, group: &Group<'_>, metric: Metric) -> Option<Comparison> {
        let baseline = self.group(self.baseline(), &group.key.conditions())?;
        if baseline.key == group.key {
            return None;
        }
        group.beside(baseline, metric)
    }

    /// The conditions that the headline is about: processor time in a closed loop of 16, reading, as it is deployed by default;
    /// where a plan has no such cell, the nearest that it has.
    pub(crate) fn headline(&self) -> Option<Key> {
        let measured =
            self.conditions(|key| !matches!(key.mode, Mode::Ramp | Mode::Capacity | Mode::Overload));
        measured.into_iter().max_by_key(|key| self.fitness(key))
    }

    fn fitness(&self, key: &Key) -> (bool, bool, bool, u8, usize, u64) {
        let closed = matches!(key.mode, Mode::Closed { .. });
        let sixteen = key.mode == Mode::Closed { concurrency: 16 };
        let profile = match key.profile.as_str() {
            "read" => 3,
            "mixed" => 2,
            "browse" => 1,
            _ => 0,
        };
        let variant = &key.variant;
        let plain =
            variant.batching && variant.budget.is_none() && !variant.proxy && variant.place != Place::Boxes;
        // The targets were set on 10 000 articles.
        let size = u64::MAX - key.articles.abs_diff(10_000);
        let layouts = self.under(key).len();
        (closed, plain, sixteen, profile, layouts, size)
    }

    /// Cells that were tried in vain, with the reason.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&Key, &str)> {
        self.cells.iter().filter_map(|cell| match &cell.outcome {
            Outcome::Failed(reason) => Some((&cell.key, reason.as_str())),
            Outcome::Measured(_) => None,
        })
    }
}

impl<'a> Group<'a> {
    /// In the order of the repetitions.
    pub(crate) fn measurements(&self) -> impl Iterator<Item = &'a Measurement> {
        self.repetitions.values().copied()
    }

    /// Of the repetitions that have the figure.
    pub(crate) fn spread(&self, metric: impl Fn(&Measurement) -> Option<f64>) -> Option<Spread> {
        Spread::of(self.measurements().filter_map(metric))
    }

    /// The median of the repetitions that have the figure.
    pub(crate) fn median(&self, metric: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        self.spread(metric).map(|spread| spread.median)
    }

    /// Beside another layout under the same conditions, repetition by repetition.
    pub(crate) fn beside(&self, other: &Group<'_>, metric: Metric) -> Option<Comparison> {
        let pairs: Vec<_> = self
            .repetitions
            .iter()
            .filter_map(|(repetition, ours)| {
                let theirs = other.repetitions.get(repetition)?;
                Some((metric(ours)?, metric(theirs)?))
            })
            .collect();
        Comparison::of(&pairs)
    }
}

fn layouts(run: &Run, cells: &[Cell]) -> Vec<String> {
    let deployed = run.deployments.iter().map(|deployment| &deployment.layout);
    let tried = cells.iter().map(|cell| &cell.key.layout);
    let mut layouts: Vec<String> = Vec::new();
    for layout in deployed.chain(tried) {
        if !layouts.contains(layout) {
            layouts.push(layout.clone());
        }
    }
    let used: BTreeSet<_> = cells.iter().map(|cell| &cell.key.layout).collect();
    layouts.retain(|layout| used.contains(layout));
    layouts.sort_by_key(|layout| layout != BASELINE);
    layouts
}
