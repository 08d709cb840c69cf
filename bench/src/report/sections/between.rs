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
    let known = |m: &Measurement| m.peers.is_some() || m.pool.is_some();
    if !groups.iter().flat_map(|group| group.measurements()).any(known) {
        return Ok(None);
    }
    let mut table = Table::new(&[
        "layout",
        "calls per request",
        "bytes per request",
        "waits for a connection, of 1 000",
        "such a wait, µs",
    ]);
    for group in groups {
        table.row(row(group));
    }
    let section = Section::new("between", "Between the services")
        .text("Look-ups that were batched left as one call, so there may be less than one call per request.")
        .table(told(&conditions), table);
    Ok(Some(section))
}

fn row(group: &Group<'_>) -> Vec<String> {
    vec![
        group.key.layout.clone(),
        number::spread(group.spread(Measurement::peer_calls)),
        number::optional(group.median(bytes)),
        number::spread(group.spread(waits)),
        number::optional(group.median(wait)),
    ]
}

fn bytes(measurement: &Measurement) -> Option<f64> {
    let bytes = measurement.peers?.bytes?;
    let completed = measurement.counts.completed;
    (completed > 0).then(|| number::float(bytes) / number::float(completed))
}

fn waits(measurement: &Measurement) -> Option<f64> {
    let pool = measurement.pool?;
    (pool.asked > 0).then(|| 1000.0 * number::float(pool.waited) / number::float(pool.asked))
}

fn wait(measurement: &Measurement) -> Option<f64> {
    let pool = measurement.pool?;
    (pool.waited > 0).then(|| number::float(pool.waited_us) / number::float(pool.waited))
}
