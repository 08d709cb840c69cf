//! How many cores a rate of requests needs.

use super::super::data::{APP, DATABASE, Data, Metric};
use super::super::number;
use super::super::section::{Section, Table};
use super::told;
use crate::results::{Key, ProcessKind};

/// Requests a second.
const RATES: [u32; 5] = [100, 500, 1_000, 5_000, 10_000];

/// Share of a core that is planned to be used.
const USE: f64 = 0.8;

const PROXY: Metric = |measurement| measurement.cpu_us(ProcessKind::Proxy).filter(|cost| *cost > 0.0);

/// Cores that so many requests a second keep busy to [`USE`], at this processor time each.
fn cores(per_second: u32, cost_us: f64) -> f64 {
    f64::from(per_second) * cost_us / 1_000_000.0 / USE
}

pub(super) fn section(data: &Data<'_>) -> Option<Section> {
    let conditions = data.headline()?;
    let mut section = Section::new("sizing", "Cores for so many requests a second").text(format!(
        "Requests a second × processor time per request ÷ {USE}: cores that are then {:.0} % used.",
        USE * 100.0
    ));
    for (title, metric) in [("Application", APP), ("PostgreSQL", DATABASE), ("Proxy", PROXY)] {
        let table = table(data, &conditions, metric);
        if !table.rows.is_empty() {
            section = section.table(format!("{title}: {}", told(&conditions)), table);
        }
    }
    (!section.parts.is_empty()).then(|| section.note(assumptions(data, &conditions)))
}

fn table(data: &Data<'_>, conditions: &Key, metric: Metric) -> Table {
    let names: Vec<String> = RATES
        .iter()
        .map(|rate| format!("{}/s", number::count(u64::from(*rate))))
        .collect();
    let head: Vec<&str> = ["layout"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .collect();
    let mut table = Table::new(&head);
    for group in data.under(conditions) {
        let Some(cost) = group.median(metric) else {
            continue;
        };
        let cores = RATES.iter().map(|rate| number::figure(cores(*rate, cost)));
        table.row(std::iter::once(group.key.layout.clone()).chain(cores));
    }
    table
}

fn assumptions(data: &Data<'_>, conditions: &Key) -> String {
    format!(
        "It assumes cores like those of this machine ({}), requests like those of the profile “{}”, data of this size that fit in \
         memory, and a cost per request that stays as measured at {}: at fewer requests at once it is higher, at more it is lower, and \
         beyond some ten cores contention in the database, which nobody has measured here, comes on top. Log-ins are not in it: each \
         takes some 25 ms. A fraction is a share of a core, whose rest others may use.",
        data.run.machine.processor, conditions.profile, conditions.mode
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_hundred_milliseconds_a_second_fill_a_core() {
        for (rate, cost, expected) in [(1_000, 800.0, 1.0), (100, 80.0, 0.01), (10_000, 160.0, 2.0)] {
            assert!((cores(rate, cost) - expected).abs() < 1e-9, "{rate} {cost}");
        }
    }
}
