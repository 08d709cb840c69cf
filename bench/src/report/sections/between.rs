//! What passes between the services, and waits inside them.

use anyhow::Result;

use super::super::data::{Data, Group, Metric};
use super::super::number;
use super::super::section::{Section, Table};
use super::told;
use crate::results::Measurement;

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let Some(conditions) = data.headline() else {
        return Ok(None);
    };
    let groups = data.under(&conditions);
    let known = |m: &Measurement| m.peers.is_some() || m.waiting.is_some() || m.pool_waits.is_some();
    if !groups.iter().flat_map(|group| group.measurements()).any(known) {
        return Ok(None);
    }
    let has = |metric: Metric| groups.iter().any(|group| group.median(metric).is_some());
    let (with_bytes, with_waits) = (has(Measurement::peer_bytes), has(Measurement::waits_per_thousand));
    let head = [
        Some("layout"),
        Some("calls per request"),
        with_bytes.then_some("bytes per request"),
        Some("waiting for a connection at once"),
        with_waits.then_some("waits per 1 000 requests"),
        with_waits.then_some("mean wait, µs"),
    ];
    let mut table = Table::new(&head.into_iter().flatten().collect::<Vec<_>>());
    for group in groups {
        table.row(row(group, with_bytes, with_waits));
    }
    let section = Section::new("between", "Between the services")
        .text("Look-ups that were batched left as one call, so there may be less than one call per request. Bytes are \
             those of the messages in both directions, without heads and frames. Those who wait for a database connection at once are \
             looked at before and after the load. Waits are counted all along, where no connection was ready at once: for one in use, or \
             for a new one. All processes together.")
        .table(told(&conditions), table);
    Ok(Some(section))
}

fn row(group: &Group<'_>, with_bytes: bool, with_waits: bool) -> Vec<String> {
    let row = [
        Some(group.key.layout.clone()),
        Some(number::spread(group.spread(Measurement::peer_calls))),
        with_bytes.then(|| number::spread(group.spread(Measurement::peer_bytes))),
        Some(number::spread(group.spread(|m| m.waiting.map(number::float)))),
        with_waits.then(|| number::spread(group.spread(Measurement::waits_per_thousand))),
        with_waits.then(|| number::spread(group.spread(Measurement::mean_wait_us))),
    ];
    row.into_iter().flatten().collect()
}
