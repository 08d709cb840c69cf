//! What passes between the services, and waits inside them.

use anyhow::Result;

use super::super::data::{Data, Group};
use super::super::number;
use super::super::section::{Section, Table};
use super::told;
use crate::results::Measurement;

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let Some(conditions) = data.headline() else {
        return Ok(None);
    };
    let groups = data.under(&conditions);
    let known = |m: &Measurement| m.peers.is_some() || m.waiting.is_some();
    if !groups.iter().flat_map(|group| group.measurements()).any(known) {
        return Ok(None);
    }
    let with_bytes = groups.iter().any(|group| group.median(bytes).is_some());
    let head = [
        Some("layout"),
        Some("calls per request"),
        with_bytes.then_some("bytes per request"),
        Some("waiting for a connection at once"),
    ];
    let mut table = Table::new(&head.into_iter().flatten().collect::<Vec<_>>());
    for group in groups {
        table.row(row(group, with_bytes));
    }
    let section = Section::new("between", "Between the services")
        .text("Look-ups that were batched left as one call, so there may be less than one call per request. Requests that \
             wait for a database connection are counted before and after the load, all processes together.")
        .table(told(&conditions), table);
    Ok(Some(section))
}

fn row(group: &Group<'_>, with_bytes: bool) -> Vec<String> {
    let row = [
        Some(group.key.layout.clone()),
        Some(number::spread(group.spread(Measurement::peer_calls))),
        with_bytes.then(|| number::optional(group.median(bytes))),
        Some(number::spread(group.spread(|m| m.waiting.map(number::float)))),
    ];
    row.into_iter().flatten().collect()
}

fn bytes(measurement: &Measurement) -> Option<f64> {
    let bytes = measurement.peers?.bytes?;
    let completed = measurement.counts.completed;
    (completed > 0).then(|| number::float(bytes) / number::float(completed))
}
