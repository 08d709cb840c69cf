//! Every measurement as it is, and those that failed.

use super::super::data::Data;
use super::super::number;
use super::super::section::{Section, Table};
use super::told;
use crate::results::{Cell, Measurement, ProcessKind};

pub(super) fn failures(data: &Data<'_>) -> Option<Section> {
    let mut table = Table::new(&["layout", "conditions", "repetition", "why"]);
    for (key, reason) in data.failures() {
        table.row([
            key.layout.clone(),
            told(key),
            key.repetition.to_string(),
            reason.to_owned(),
        ]);
    }
    let section = Section::new("failures", "What could not be measured")
        .text("These cells are missing from all figures above.");
    (!table.rows.is_empty()).then(|| section.table("", table))
}

pub(super) fn section(data: &Data<'_>) -> Option<Section> {
    let mut table = Table::new(&[
        "#",
        "layout",
        "conditions",
        "repetition",
        "seconds",
        "2xx",
        "not 2xx",
        "requests/s",
        "p50, ms",
        "p90, ms",
        "p95, ms",
        "p99, ms",
        "slowest, ms",
        "application, µs",
        "proxy, µs",
        "PostgreSQL, µs",
        "generator, µs",
        "load before",
        "load after",
        "quiet",
    ]);
    table.folded = true;
    for cell in data.cells {
        if let Some(measurement) = cell.measured() {
            table.row(row(cell, measurement));
        }
    }
    let section = Section::new("raw", "Every measurement")
        .text("The same, with the histograms, is in the folder's JSON files.");
    (!table.rows.is_empty()).then(|| section.table("All cells, in the order in which they ran", table))
}

fn row(cell: &Cell, m: &Measurement) -> Vec<String> {
    let kinds = [
        ProcessKind::App,
        ProcessKind::Proxy,
        ProcessKind::Database,
        ProcessKind::Generator,
    ];
    let latency = &m.latency;
    let times = [
        latency.p50_us,
        latency.p90_us,
        latency.p95_us,
        latency.p99_us,
        latency.max_us,
    ];
    let mut row = vec![
        cell.order.to_string(),
        cell.key.layout.clone(),
        told(&cell.key),
        cell.key.repetition.to_string(),
        number::figure(m.seconds),
        number::count(m.counts.completed),
        faults(m),
        number::figure(m.per_second()),
    ];
    row.extend(times.map(|time| number::figure(number::milliseconds(time))));
    row.extend(kinds.map(|kind| number::optional(m.cpu_us(kind))));
    row.extend([m.load_before, m.load_after].map(number::figure));
    row.push(match &m.gate {
        None => number::NONE.to_owned(),
        Some(gate) if gate.passed => "yes".to_owned(),
        Some(gate) => format!("no: {}", gate.told),
    });
    row
}

/// By kind, those that occurred.
fn faults(m: &Measurement) -> String {
    let counts = &m.counts;
    let statuses = counts
        .statuses
        .iter()
        .map(|(status, count)| (status.to_string(), *count));
    let others = [
        ("timed out".to_owned(), counts.timeouts),
        ("broken".to_owned(), counts.broken),
        ("not sent".to_owned(), counts.dropped),
    ];
    let told: Vec<String> = statuses
        .chain(others)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, amount)| format!("{kind}: {}", number::count(amount)))
        .collect();
    if told.is_empty() {
        "0".to_owned()
    } else {
        told.join(", ")
    }
}
