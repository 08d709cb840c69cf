//! The parts of the report. Each is `None` where the run has nothing to say on it, so that nothing empty is shown.

mod between;
mod capacity;
mod cost;
mod growth;
mod headline;
mod latency;
mod limits;
mod memory;
mod method;
mod overload;
mod quota;
mod raw;
mod sizing;
mod switches;

use anyhow::Result;

use super::data::Data;
use super::number;
use super::section::Section;
use crate::results::{Budget, Key, Measurement, Place, ProcessKind, ProcessUse, Sockets, Split, Variant};

/// A part of the report, if the run has something to say on it.
type Part = fn(&Data<'_>) -> Result<Option<Section>>;

/// Those about results, in their order, with the names that they are missed by.
const RESULTS: [(&str, Part); 10] = [
    ("processor time in a closed loop", headline::section),
    ("users held", capacity::section),
    ("processor time by process", cost::section),
    ("latency", latency::section),
    ("overload", overload::section),
    ("memory", memory::section),
    ("processor quotas", quota::section),
    ("growth of the data", growth::section),
    ("batching and sockets", switches::section),
    ("traffic between the services", between::section),
];

/// All that the run has something to say on, and the names of what it has not.
pub(super) fn all(data: &Data<'_>) -> Result<(Vec<Section>, Vec<&'static str>)> {
    let (mut sections, mut missing) = (Vec::new(), Vec::new());
    for (name, part) in RESULTS {
        match part(data)? {
            Some(section) => sections.push(section),
            None => missing.push(name),
        }
    }
    sections.extend(sizing::section(data));
    sections.push(method::section(data));
    sections.extend(raw::failures(data));
    sections.push(limits::section(data));
    sections.extend(raw::section(data));
    Ok((sections, missing))
}

/// The part that is pasted elsewhere: the headline alone.
pub(super) fn headline(data: &Data<'_>) -> Result<Vec<Section>> {
    let sections = [
        headline::section(data)?,
        capacity::section(data)?,
        sizing::section(data),
    ];
    Ok(sections.into_iter().flatten().collect())
}

/// Conditions in words, but for the layout.
pub(crate) fn told(key: &Key) -> String {
    let articles = match key.articles {
        0 => String::new(),
        articles => format!(", {} articles", number::count(articles)),
    };
    let variant = variant(&key.variant);
    format!("{}, {}{articles}, {variant}", key.profile, key.mode)
}

/// What else differs between cells, in words.
fn variant(variant: &Variant) -> String {
    let mut words = vec![match variant.sockets {
        Sockets::Tcp => "TCP".to_owned(),
        Sockets::Unix => "Unix sockets".to_owned(),
    }];
    if !variant.batching {
        words.push("without batching".to_owned());
    }
    match variant.place {
        Place::Together => {}
        Place::Boxes => words.push("a network namespace each".to_owned()),
        Place::Remote => words.push("elsewhere".to_owned()),
    }
    if variant.proxy {
        words.push("behind nginx".to_owned());
    }
    words.extend(variant.budget.map(budget));
    words.join(", ")
}

fn budget(budget: Budget) -> String {
    let split = match budget.split {
        Split::Shared => "in one pot",
        Split::Even => "divided evenly",
        Split::Measured => "divided as measured",
    };
    let cores = number::figure_plain(f64::from(budget.millicores) / 1000.0);
    let unit = if budget.millicores == 1000 {
        "core"
    } else {
        "cores"
    };
    format!("{cores} {unit} {split}")
}

/// What a process is counted as where those of one service are put together.
fn part_of(process: &ProcessUse) -> &str {
    match process.kind {
        ProcessKind::App => process.service.as_deref().unwrap_or("monolith"),
        ProcessKind::Proxy => "proxy",
        ProcessKind::Database => "PostgreSQL",
        ProcessKind::Generator => "generator",
    }
}

/// The names of [`part_of`] that occur, in the order in which a request passes them.
fn parts<'a>(measurements: impl Iterator<Item = &'a Measurement>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for process in measurements.flat_map(|measurement| &measurement.processes) {
        let name = part_of(process);
        if process.kind != ProcessKind::Generator && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.sort_by_key(|name| (place(name), name.clone()));
    names
}

/// Where a request passes a part.
fn place(part: &str) -> usize {
    const ORDER: [&str; 7] = [
        "monolith",
        "users",
        "profiles",
        "articles",
        "comments",
        "proxy",
        "PostgreSQL",
    ];
    ORDER.iter().position(|known| *known == part).unwrap_or(4)
}

/// Processor time per request of a part, in microseconds.
fn cpu_of_part(measurement: &Measurement, part: &str) -> Option<f64> {
    let uses = measurement
        .processes
        .iter()
        .filter(|process| part_of(process) == part);
    let costs: Vec<f64> = uses
        .filter_map(|process| measurement.cpu_us_of(process))
        .collect();
    (!costs.is_empty()).then(|| costs.iter().sum())
}
