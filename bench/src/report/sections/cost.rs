//! Where the processor time goes, and how it depends on how many requests run at once.

use std::collections::BTreeSet;

use anyhow::Result;

use super::super::chart::{Bar, Bars, Line, Lines, Scale};
use super::super::data::{APP, DATABASE, Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::{cpu_of_part, parts, place, told, variant};
use crate::results::{Key, Mode};

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let Some(conditions) = data.headline() else {
        return Ok(None);
    };
    let mut section = Section::new("cost", "Where the processor time goes")
        .text(
            "Per 2xx answer, by process; copies of one service are put together. The generator is left out.",
        )
        .part(by_process(data, &conditions)?);
    section.parts.extend(database_by_service(data, &conditions));
    section.parts.extend(by_request(data, &conditions));
    let many = |family: &Key| concurrencies(data, family).len() > 1;
    for family in families(data).into_iter().filter(many) {
        section = section.part(by_concurrency(data, &family)?);
    }
    Ok(Some(section))
}

fn by_process(data: &Data<'_>, conditions: &Key) -> Result<Part> {
    let groups = data.under(conditions);
    let parts = parts(groups.iter().flat_map(|group| group.measurements()));
    let of = |group: &Group<'_>, part: &str| group.median(|m| cpu_of_part(m, part));
    let bars = groups.iter().map(|group| Bar {
        name: group.key.layout.clone(),
        values: parts.iter().map(|part| of(group, part).unwrap_or(0.0)).collect(),
        range: None,
    });
    let chart = Bars {
        title: "Processor time per request".to_owned(),
        unit: "µs per request",
        parts: parts.clone(),
        bars: bars.collect(),
    }
    .chart()?;
    let head: Vec<&str> = ["layout"]
        .into_iter()
        .chain(parts.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&head);
    for group in &groups {
        let figures = parts
            .iter()
            .map(|part| number::spread(group.spread(|m| cpu_of_part(m, part))));
        table.row(std::iter::once(group.key.layout.clone()).chain(figures));
    }
    Ok(Part {
        title: format!("By process, µs: {}", told(conditions)),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

/// Whose statements PostgreSQL works on; `None` if nobody looked.
fn database_by_service(data: &Data<'_>, conditions: &Key) -> Option<Part> {
    let groups = data.under(conditions);
    let measurements = groups.iter().flat_map(|group| group.measurements());
    let served = measurements.flat_map(|measurement| measurement.database_us.keys());
    let served: BTreeSet<&str> = served.map(String::as_str).collect();
    if served.is_empty() {
        return None;
    }
    let mut services: Vec<&str> = served.into_iter().collect();
    services.sort_by_key(|service| place(service));
    let head = ["layout"].into_iter().chain(services.iter().copied());
    let mut table = Table::new(&head.chain(["all of PostgreSQL"]).collect::<Vec<_>>());
    for group in groups {
        let of = |service: &&str| number::spread(group.spread(|m| m.database_us_of(service)));
        let figures = services.iter().map(of);
        let all = number::spread(group.spread(DATABASE));
        let row = std::iter::once(group.key.layout.clone()).chain(figures);
        table.row(row.chain([all]));
    }
    Some(Part {
        title: format!(
            "PostgreSQL by whom its sessions serve, µs: {} (sessions that ended meanwhile, and processes without one, are in the \
             last column only)",
            told(conditions)
        ),
        charts: Vec::new(),
        table: Some(table),
    })
}

/// Every profile under the headline's conditions; `None` if there is but one.
fn by_request(data: &Data<'_>, conditions: &Key) -> Option<Part> {
    let profiles = data.conditions(|key| {
        let same = Key {
            profile: conditions.profile.clone(),
            ..key.conditions()
        };
        same == *conditions
    });
    if profiles.len() < 2 {
        return None;
    }
    let head: Vec<&str> = ["request"]
        .into_iter()
        .chain(data.layouts().iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&head);
    for profile in &profiles {
        let entries = data
            .layouts()
            .iter()
            .map(|layout| entry(data, data.group(layout, profile)));
        table.row(std::iter::once(profile.profile.clone()).chain(entries));
    }
    Some(Part {
        title: format!(
            "By what is asked, {}{}: application + PostgreSQL, µs (application × {})",
            conditions.mode,
            rest(conditions),
            data.baseline()
        ),
        charts: Vec::new(),
        table: Some(table),
    })
}

/// Closed loops that differ in their concurrency alone, by the conditions at a concurrency of 0.
fn families(data: &Data<'_>) -> BTreeSet<Key> {
    let closed =
        data.conditions(|key| matches!(key.mode, Mode::Closed { .. }) && key.variant.budget.is_none());
    closed.iter().map(|key| at(key, 0)).collect()
}

fn at(family: &Key, concurrency: u32) -> Key {
    Key {
        mode: Mode::Closed { concurrency },
        ..family.clone()
    }
}

fn concurrencies(data: &Data<'_>, family: &Key) -> Vec<u32> {
    let members = data.conditions(|key| at(&key.conditions(), 0) == *family);
    let counts = members.iter().filter_map(|key| match key.mode {
        Mode::Closed { concurrency } => Some(concurrency),
        _ => None,
    });
    counts.collect::<BTreeSet<_>>().into_iter().collect()
}

fn by_concurrency(data: &Data<'_>, family: &Key) -> Result<Part> {
    let counts = concurrencies(data, family);
    let lines = data.layouts().iter().map(|layout| {
        let point = |&count: &u32| {
            Some((
                f64::from(count),
                data.group(layout, &at(family, count))?.median(APP)?,
            ))
        };
        Line {
            name: layout.clone(),
            points: counts.iter().filter_map(point).collect(),
        }
    });
    let name = format!("{}, closed loop{}", family.profile, rest(family));
    let chart = Lines {
        title: "The application's processor time per request".to_owned(),
        across: Scale::points(
            "requests at once (c)",
            counts.iter().copied().map(f64::from).collect(),
        ),
        up: Scale::linear("µs per request"),
        lines: lines.collect(),
        marked: true,
    }
    .chart()?;
    let names: Vec<String> = counts.iter().map(|count| format!("c={count}")).collect();
    let head: Vec<&str> = ["layout"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&head);
    for layout in data.layouts() {
        let groups: Vec<_> = counts
            .iter()
            .map(|&count| data.group(layout, &at(family, count)))
            .collect();
        if groups.iter().any(Option::is_some) {
            let figures = groups.into_iter().map(|group| entry(data, group));
            table.row(std::iter::once(layout.clone()).chain(figures));
        }
    }
    Ok(Part {
        title: format!(
            "{name}: application + PostgreSQL, µs (application × {})",
            data.baseline()
        ),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

fn rest(family: &Key) -> String {
    let variant = variant(&family.variant);
    match family.articles {
        0 => format!(", {variant}"),
        articles => format!(", {} articles, {variant}", number::count(articles)),
    }
}

fn entry(data: &Data<'_>, group: Option<&Group<'_>>) -> String {
    let Some(group) = group else {
        return number::NONE.to_owned();
    };
    let ratio = data.beside_baseline(group, APP);
    let ratio = ratio.map_or_else(String::new, |comparison| {
        format!(" ({})", number::factor(comparison.ratio))
    });
    let (app, database) = (group.median(APP), group.median(DATABASE));
    format!(
        "{} + {}{ratio}",
        number::optional(app),
        number::optional(database)
    )
}
