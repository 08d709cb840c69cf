//! What batching and Unix sockets save, and what a network between the services costs.

use anyhow::Result;

use super::super::data::{APP, DATABASE, Data, Group, Metric};
use super::super::number;
use super::super::section::{Section, Table};
use super::told;
use crate::results::{Key, Place, Sockets, Variant};
use crate::stats::Comparison;

const WORDS: (&str, &str) = ("cheaper", "dearer");

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let batching = table(data, |variant| {
        variant.batching.then(|| Variant {
            batching: false,
            ..variant.clone()
        })
    });
    let sockets = table(data, |variant| {
        (variant.sockets == Sockets::Unix).then(|| Variant {
            sockets: Sockets::Tcp,
            ..variant.clone()
        })
    });
    let boxes = table(data, |variant| {
        (variant.place == Place::Boxes).then(|| Variant {
            place: Place::Together,
            ..variant.clone()
        })
    });
    let mut section = Section::new("switches", "Batching, sockets and boxes");
    for (title, table) in [
        ("Batching of look-ups, by without it", batching),
        ("Unix sockets, by TCP", sockets),
        (
            "A network namespace each (database over a Unix socket), by all on one loopback (database over TCP)",
            boxes,
        ),
    ] {
        if !table.rows.is_empty() {
            section = section.table(title, table);
        }
    }
    Ok((!section.parts.is_empty()).then_some(section))
}

/// Every cell beside the one that differs in `other` alone.
fn table(data: &Data<'_>, other: impl Fn(&Variant) -> Option<Variant>) -> Table {
    let mut table = Table::new(&["layout", "conditions", "application", "PostgreSQL", "requests/s"]);
    for with in data.groups().filter(|group| !group.key.mode.is_search()) {
        let Some(variant) = other(&with.key.variant) else {
            continue;
        };
        let conditions = Key {
            variant,
            ..with.key.conditions()
        };
        if let Some(without) = data.group(&with.key.layout, &conditions) {
            table.row(row(with, without));
        }
    }
    table
}

fn row(with: &Group<'_>, without: &Group<'_>) -> Vec<String> {
    let beside = |metric: Metric| -> Option<Comparison> { with.beside(without, metric) };
    vec![
        with.key.layout.clone(),
        told(&with.key.conditions()),
        number::comparison(beside(APP), WORDS),
        number::comparison(beside(DATABASE), WORDS),
        number::comparison(beside(|m| Some(m.per_second())), ("fewer", "more")),
    ]
}
