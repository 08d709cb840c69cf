//! What the figures do not say.

use super::super::data::Data;
use super::super::section::{Section, Table};
use crate::results::Place;

/// Cores below which load and application get in each other's way.
const FEW_CORES: u32 = 8;

pub(super) fn section(data: &Data<'_>) -> Section {
    let machine = &data.run.machine;
    let remote = data
        .cells
        .iter()
        .any(|cell| cell.key.variant.place == Place::Remote);
    let mut says = vec![
        "Which architecture to take. A split is also bought for teams, releases and faults that stay where they are; none of this is \
         measured."
            .to_owned(),
        "Anything about another application. Conduit's requests are small; where a request does more work of its own, the hops weigh less."
            .to_owned(),
        "What a slow disk or a cold cache does: the data fit in memory."
            .to_owned(),
        "What an absolute figure would be on another machine, or even here on another day. Ratios within one table carry further."
            .to_owned(),
    ];
    if !remote {
        says.push(
            "What a real network costs: everything ran on one machine, where a hop has no distance and loses nothing.".to_owned(),
        );
    }
    if machine.cores < FEW_CORES && !remote {
        says.push(format!(
            "How far a layout goes with cores of its own: here the application, PostgreSQL, the proxy and the load shared {} cores, so \
             throughput and latency are of all of them together. Processor time per request suffers least from it.",
            machine.cores
        ));
    }
    if machine.dirty {
        says.push("Which code it was, exactly: the tree had changes that are in no commit.".to_owned());
    }
    let mut table = Table::new(&["this run does not say"]);
    for line in says {
        table.row([line]);
    }
    Section::new("limits", "What this does not say").table("", table)
}
