//! What the split costs, in one table, and how that stands to what was aimed at.

use anyhow::Result;

use super::super::data::{APP, DATABASE, Data, Group, THROUGHPUT};
use super::super::number;
use super::super::section::{Section, Table};
use super::super::targets;
use super::told;
use crate::results::Key;
use crate::stats::{SMALLEST, Verdict};

const WORDS: (&str, &str) = ("cheaper", "dearer");

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let Some(conditions) = data.headline() else {
        return Ok(None);
    };
    let mut section = Section::new("headline", "What the split costs")
        .text(lead(data, &conditions))
        .table(told(&conditions), table(data, &conditions));
    let targets = targets::table(data, &conditions);
    if !targets.rows.is_empty() {
        section = section.table("Against the targets", targets);
    }
    let requests = targets::requests(data, &conditions);
    if !requests.rows.is_empty() {
        section = section.table("The same by kind of request", requests);
    }
    Ok(Some(section.note(format!(
        "Processor time per 2xx answer; median of the repetitions with smallest and largest. “Tie” is what cannot be told apart: \
         the ranges overlap, or the medians are less than {:.0} % apart. Figures depend on how many requests run at once, \
         so no figure is worth anything without its c.",
        SMALLEST * 100.0
    ))))
}

/// The answer in a sentence or two.
fn lead(data: &Data<'_>, conditions: &Key) -> String {
    let told: Vec<String> = data
        .under(conditions)
        .into_iter()
        .filter_map(|group| {
            let comparison = data.beside_baseline(group, APP)?;
            let layout = &group.key.layout;
            Some(match comparison.verdict {
                Verdict::Tie => format!("{layout} cannot be told apart from it"),
                Verdict::TooFew => format!(
                    "{layout} took {} in too few repetitions for a verdict",
                    number::factor(comparison.ratio)
                ),
                _ => format!("{layout} takes {}", number::factor(comparison.ratio)),
            })
        })
        .collect();
    let baseline = data.baseline();
    match told.as_slice() {
        [] => format!("Only {baseline} was measured under these conditions, so nothing can be compared."),
        told => format!(
            "Of the application's processor time per request, {baseline} being 1: {}.",
            told.join("; ")
        ),
    }
}

fn table(data: &Data<'_>, conditions: &Key) -> Table {
    let ratio = format!("× {}", data.baseline());
    let mut table = Table::new(&[
        "layout",
        "application, µs",
        &ratio,
        "PostgreSQL, µs",
        &ratio,
        "requests/s",
        "p50, ms",
        "p99, ms",
        "not 2xx",
    ]);
    for group in data.under(conditions) {
        table.row(row(data, group));
    }
    table
}

fn row(data: &Data<'_>, group: &Group<'_>) -> Vec<String> {
    vec![
        group.key.layout.clone(),
        number::spread(group.spread(APP)),
        number::comparison(data.beside_baseline(group, APP), WORDS),
        number::spread(group.spread(DATABASE)),
        number::comparison(data.beside_baseline(group, DATABASE), WORDS),
        number::spread(group.spread(THROUGHPUT)),
        number::optional(group.median(|m| Some(number::milliseconds(m.latency.p50_us)))),
        number::optional(group.median(|m| Some(number::milliseconds(m.latency.p99_us)))),
        number::percent(group.median(|m| Some(m.counts.fault_share())).unwrap_or(0.0)),
    ]
}
