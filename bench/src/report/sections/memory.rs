//! Resident memory.

use anyhow::Result;

use super::super::chart::{Bar, Bars};
use super::super::data::{Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::{part_of, parts, told};
use crate::results::{Key, Measurement, ProcessKind, ProcessUse};

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let Some(conditions) = data.headline() else {
        return Ok(None);
    };
    let groups = data.under(&conditions);
    let known = |m: &Measurement| m.processes.iter().any(|process| process.memory_peak_bytes > 0);
    if !groups.iter().flat_map(|group| group.measurements()).any(known) {
        return Ok(None);
    }
    let section = Section::new("memory", "Memory")
        .text(
            "Resident, before the first load and at most under it. What PostgreSQL shares among its processes counts once; the \
             drawing leaves it out, because its size is a setting.",
        )
        .part(part(&groups, &conditions)?);
    Ok(Some(section))
}

fn part(groups: &[&Group<'_>], conditions: &Key) -> Result<Part> {
    let mut names = parts(groups.iter().flat_map(|group| group.measurements()));
    names.retain(|name| name != "PostgreSQL");
    let bars = groups.iter().map(|group| Bar {
        name: group.key.layout.clone(),
        values: names
            .iter()
            .map(|name| peak(group, name).unwrap_or(0.0))
            .collect(),
        range: None,
    });
    let chart = Bars {
        title: "Memory at most".to_owned(),
        unit: "MiB",
        parts: names.clone(),
        bars: bars.collect(),
    }
    .chart()?;
    let mut table = Table::new(&["layout", "process", "idle, MiB", "at most, MiB"]);
    for group in groups {
        for name in processes(group) {
            let of = |bytes: fn(&ProcessUse) -> u64| {
                number::spread(group.spread(|m| {
                    let process = m.processes.iter().find(|process| process.name == name)?;
                    Some(number::mebibytes(bytes(process)))
                }))
            };
            table.row([
                group.key.layout.clone(),
                name.to_owned(),
                of(|process| process.memory_idle_bytes),
                of(|process| process.memory_peak_bytes),
            ]);
        }
    }
    Ok(Part {
        title: told(conditions),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

fn peak(group: &Group<'_>, name: &str) -> Option<f64> {
    group.median(|m| {
        let of = m.processes.iter().filter(|process| part_of(process) == name);
        let peaks: Vec<f64> = of
            .map(|process| number::mebibytes(process.memory_peak_bytes))
            .collect();
        (!peaks.is_empty()).then(|| peaks.iter().sum())
    })
}

/// With memory of their own; where PostgreSQL's is told apart by service, only the processor time is.
fn processes<'a>(group: &Group<'a>) -> Vec<&'a str> {
    let first = group.measurements().next().map_or(&[][..], |m| &m.processes);
    let owners = first
        .iter()
        .filter(|process| process.kind != ProcessKind::Generator && process.memory_peak_bytes > 0);
    owners.map(|process| process.name.as_str()).collect()
}
