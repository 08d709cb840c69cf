//! How much a layout holds: by search, and by growing steps.

use anyhow::Result;

use super::super::chart::{Bar, Bars, Line, Lines, Scale};
use super::super::data::{Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::told;
use crate::results::{Key, Load, Measurement, Mode, Rules, Search, Step};

const WORDS: (&str, &str) = ("fewer", "more");

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let mut section = Section::new("capacity", "How much each layout holds");
    for conditions in data.conditions(|key| key.mode == Mode::Capacity) {
        section = section.part(found(data, &conditions)?);
    }
    for conditions in data.conditions(|key| key.mode == Mode::Ramp) {
        section = section.part(ramp(data, &conditions)?);
    }
    if section.parts.is_empty() {
        return Ok(None);
    }
    if let Some(rules) = data.groups().filter_map(search).find_map(|search| search.rules) {
        section = section.text(rules_told(&rules));
    }
    Ok(Some(section))
}

fn search<'a>(group: &Group<'a>) -> Option<&'a Search> {
    group.measurements().find_map(|m| m.search.as_ref())
}

fn rules_told(rules: &Rules) -> String {
    format!(
        "A load is held if for {} s 95 % of the answers come within {} ms, 99 % within {} ms, and less than {} of all requests fail \
         in any way.",
        number::figure_plain(rules.seconds),
        number::figure_plain(number::milliseconds(rules.p95_us)),
        number::figure_plain(number::milliseconds(rules.p99_us)),
        number::percent(rules.errors),
    )
}

/// What was held; 0 where not even the first step was.
fn held(measurement: &Measurement) -> Option<f64> {
    let search = measurement.search.as_ref()?;
    Some(search.held.map_or(0.0, Load::amount))
}

fn held_step(measurement: &Measurement) -> Option<&Step> {
    let search = measurement.search.as_ref()?;
    let held = search.held?;
    search
        .steps
        .iter()
        .rfind(|step| step.broke.is_none() && step.offered == held)
}

fn found(data: &Data<'_>, conditions: &Key) -> Result<Part> {
    let groups = data.under(conditions);
    let unit = match groups
        .iter()
        .filter_map(|group| search(group))
        .find_map(|search| search.held)
    {
        Some(Load::PerSecond(_)) => "requests a second held",
        Some(Load::Connections(_)) => "connections held",
        _ => "users held",
    };
    let bars = groups.iter().filter_map(|group| {
        let spread = group.spread(held)?;
        Some(Bar {
            name: group.key.layout.clone(),
            values: vec![spread.median],
            range: Some((spread.min, spread.max)),
        })
    });
    let chart = Bars {
        title: "How much was held".to_owned(),
        unit,
        parts: vec![unit.to_owned()],
        bars: bars.collect(),
    }
    .chart()?;
    let ratio = format!("× {}", data.baseline());
    let mut table = Table::new(&[
        "layout",
        unit,
        &ratio,
        "requests/s then",
        "p95, ms",
        "p99, ms",
        "first broken rule above",
    ]);
    for group in &groups {
        table.row(row(data, group));
    }
    Ok(Part {
        title: told(conditions),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

fn row(data: &Data<'_>, group: &Group<'_>) -> Vec<String> {
    let of_step = |figure: fn(&Step) -> f64| group.median(|m| held_step(m).map(figure));
    vec![
        group.key.layout.clone(),
        number::spread(group.spread(held)),
        number::comparison(data.beside_baseline(group, held), WORDS),
        number::optional(of_step(Step::per_second)),
        number::optional(of_step(|step| number::milliseconds(step.latency.p95_us))),
        number::optional(of_step(|step| number::milliseconds(step.latency.p99_us))),
        broken(group).unwrap_or_else(|| number::NONE.to_owned()),
    ]
}

/// The rule that the smallest of the loads broke that were not held.
fn broken(group: &Group<'_>) -> Option<String> {
    let steps = group
        .measurements()
        .filter_map(|m| m.search.as_ref())
        .flat_map(|search| &search.steps);
    let mut broken: Vec<_> = steps.filter(|step| step.broke.is_some()).collect();
    broken.sort_by(|a, b| a.offered.amount().total_cmp(&b.offered.amount()));
    let step = broken.first()?;
    Some(format!("{} at {}", step.broke.as_deref()?, step.offered))
}

fn ramp(data: &Data<'_>, conditions: &Key) -> Result<Part> {
    let groups = data.under(conditions);
    let lines = groups.iter().map(|group| {
        let steps = search(group).map_or(&[][..], |search| &search.steps);
        let point = |step: &Step| (step.offered.amount(), number::milliseconds(step.latency.p95_us));
        Line {
            name: group.key.layout.clone(),
            points: steps
                .iter()
                .filter(|step| step.counts.completed > 0)
                .map(point)
                .collect(),
        }
    });
    let chart = Lines {
        title: "p95 over the load".to_owned(),
        across: Scale::linear("load offered"),
        up: Scale::logarithmic("p95, ms"),
        lines: lines.collect(),
        marked: true,
    }
    .chart()?;
    let mut table = Table::new(&[
        "layout",
        "offered",
        "requests/s",
        "p95, ms",
        "p99, ms",
        "not 2xx",
        "broke",
    ]);
    for group in &groups {
        for step in search(group).map_or(&[][..], |search| &search.steps) {
            table.row([
                group.key.layout.clone(),
                step.offered.to_string(),
                number::figure(step.per_second()),
                number::figure(number::milliseconds(step.latency.p95_us)),
                number::figure(number::milliseconds(step.latency.p99_us)),
                number::percent(step.counts.fault_share()),
                step.broke.clone().unwrap_or_else(|| number::NONE.to_owned()),
            ]);
        }
    }
    Ok(Part {
        title: format!("{}, first repetition", told(conditions)),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}
