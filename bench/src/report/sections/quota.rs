//! The same processor budget, divided in different ways.

use std::collections::BTreeSet;

use anyhow::Result;

use super::super::chart::{Bar, Bars};
use super::super::data::{Data, Group, THROUGHPUT};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::told;
use crate::results::{Budget, Key, Load, Measurement, Mode, ProcessKind, Split, Variant};

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let mut section = Section::new("quotas", "One budget, divided").text(
        "All processes of the application together get the same processor time: from one pot, evenly, or by what each used when \
         measured before. Where it is divided, what one process leaves over no other may use.",
    );
    for study in studies(data) {
        section = section.part(part(data, &study)?);
    }
    Ok((!section.parts.is_empty()).then_some(section))
}

/// Conditions with a budget, however divided.
fn studies(data: &Data<'_>) -> BTreeSet<Key> {
    let cells = data.conditions(|key| key.variant.budget.is_some());
    cells
        .iter()
        .filter_map(|key| divided(key, Split::Shared))
        .collect()
}

fn divided(key: &Key, split: Split) -> Option<Key> {
    let budget = Budget {
        split,
        ..key.variant.budget?
    };
    Some(Key {
        variant: Variant {
            budget: Some(budget),
            ..key.variant.clone()
        },
        ..key.clone()
    })
}

fn part(data: &Data<'_>, study: &Key) -> Result<Part> {
    let search = study.mode == Mode::Capacity;
    let unit = if search { "held" } else { "requests a second" };
    let members: Vec<(&str, &Group<'_>)> = data
        .layouts()
        .iter()
        .flat_map(|layout| {
            let splits = [
                (Split::Shared, "one pot"),
                (Split::Even, "even"),
                (Split::Measured, "measured"),
            ];
            splits.map(|(split, name)| Some((name, data.group(layout, &divided(study, split)?)?)))
        })
        .flatten()
        .collect();
    let bars = members.iter().filter_map(|(split, group)| {
        let spread = group.spread(|m| done(m, search))?;
        Some(Bar {
            name: format!("{}, {split}", group.key.layout),
            values: vec![spread.median],
            range: Some((spread.min, spread.max)),
        })
    });
    let budget = study.variant.budget.map_or(0, |budget| budget.millicores);
    let undivided = Key {
        variant: Variant {
            budget: None,
            ..study.variant.clone()
        },
        ..study.clone()
    };
    let cores = number::figure_plain(f64::from(budget) / 1000.0);
    let cores_unit = if budget == 1000 { "core" } else { "cores" };
    let title = format!("{cores} {cores_unit}: {}", told(&undivided));
    let chart = Bars {
        title: if search {
            "How much was held"
        } else {
            "Requests a second"
        }
        .to_owned(),
        unit,
        parts: vec![unit.to_owned()],
        bars: bars.collect(),
    }
    .chart()?;
    let mut table = Table::new(&[
        "layout",
        "divided",
        unit,
        "p99, ms",
        "held back by the quota, s a second",
    ]);
    for (split, group) in members {
        table.row([
            group.key.layout.clone(),
            split.to_owned(),
            number::spread(group.spread(|m| done(m, search))),
            number::spread(group.spread(|m| Some(number::milliseconds(m.latency.p99_us)))),
            number::optional(group.median(throttled)),
        ]);
    }
    Ok(Part {
        title,
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

fn done(measurement: &Measurement, search: bool) -> Option<f64> {
    if !search {
        return THROUGHPUT(measurement);
    }
    let search = measurement.search.as_ref()?;
    Some(search.held.map_or(0.0, Load::amount))
}

/// Of all processes of the application together; one pot is counted at one of them.
fn throttled(measurement: &Measurement) -> Option<f64> {
    let bounded = measurement
        .of(ProcessKind::App)
        .filter_map(|process| process.throttled_us);
    let total = bounded.reduce(u64::saturating_add)?;
    (measurement.seconds > 0.0).then(|| number::milliseconds(total) / 1000.0 / measurement.seconds)
}
