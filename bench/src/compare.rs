//! Two runs beside each other, cell by cell.

use anyhow::Result;

use crate::report::{
    APP, DATABASE, Data, Group, Metric, NONE, Report, THROUGHPUT, Table, complaints, factor, markdown_tables,
    spread, told, verdict,
};
use crate::results::{Folder, Key, Load, Mode};
use crate::stats::AGREEMENT;

/// A figure that is compared, and whether less of it is better.
struct Figure {
    name: &'static str,
    metric: Metric,
    less_is_better: bool,
}

/// Of every cell but searches.
const STEADY: [Figure; 4] = [
    Figure {
        name: "application, µs",
        metric: APP,
        less_is_better: true,
    },
    Figure {
        name: "PostgreSQL, µs",
        metric: DATABASE,
        less_is_better: true,
    },
    Figure {
        name: "requests/s",
        metric: THROUGHPUT,
        less_is_better: false,
    },
    Figure {
        name: "p99, µs",
        metric: |m| Some(f64::from(u32::try_from(m.latency.p99_us).unwrap_or(u32::MAX))),
        less_is_better: true,
    },
];

/// Of capacity searches.
const FOUND: [Figure; 1] = [Figure {
    name: "held",
    metric: |m| Some(m.search.as_ref()?.held.map_or(0.0, Load::amount)),
    less_is_better: false,
}];

/// What is printed: to be read in a terminal as well as to be pasted.
///
/// # Errors
/// A folder holds no run, or no run that this program can read.
pub fn compare(first: &Folder, second: &Folder) -> Result<String> {
    let (first, second) = (Report::of(first)?, Report::of(second)?);
    let (a, b) = (first.data(), second.data());
    let tables = [
        (
            "Do the two runs agree on the layouts?".to_owned(),
            agreement(&a, &b),
        ),
        ("Cell by cell, B by A".to_owned(), cells(&a, &b)),
    ];
    let tables: Vec<_> = tables
        .into_iter()
        .filter(|(_, table)| !table.rows.is_empty())
        .collect();
    markdown_tables("Two runs", &introduction(&a, &b), &tables)
}

fn introduction(a: &Data<'_>, b: &Data<'_>) -> Vec<String> {
    let mut text = Vec::new();
    for (name, data) in [("A", a), ("B", b)] {
        let machine = &data.run.machine;
        let revision = machine.revision.as_deref().unwrap_or("unknown");
        let changes = if machine.dirty { " with changes" } else { "" };
        text.push(format!(
            "{name}: {} of {}, {}, {} cores, revision {revision}{changes}.",
            data.run.plan.name, data.run.started, machine.processor, machine.cores
        ));
        for complaint in complaints(data) {
            text.push(format!("{name} is noisy: {complaint}."));
        }
    }
    if a.run.machine.processor != b.run.machine.processor || a.run.machine.cores != b.run.machine.cores {
        text.push(
            "The machines differ: only ratios between layouts can be compared, no figure cell by cell."
                .to_owned(),
        );
    }
    text
}

/// The ratios of layouts to the baseline in both runs: these must be the same whatever the machine did on the day.
fn agreement(a: &Data<'_>, b: &Data<'_>) -> Table {
    let mut table = Table::new(&[
        "layout",
        "conditions",
        "A, × baseline",
        "B, × baseline",
        "B ÷ A",
        "agree",
    ]);
    for group in steady(a) {
        let Some(other) = b.group(&group.key.layout, &group.key.conditions()) else {
            continue;
        };
        let ratios = a.beside_baseline(group, APP).zip(b.beside_baseline(other, APP));
        let Some((ours, theirs)) = ratios else {
            continue;
        };
        let change = theirs.ratio / ours.ratio;
        table.row([
            group.key.layout.clone(),
            told(&group.key),
            factor(ours.ratio),
            factor(theirs.ratio),
            factor(change),
            if agree(change) { "yes" } else { "no" }.to_owned(),
        ]);
    }
    table
}

/// Whichever of the two is the larger.
fn agree(change: f64) -> bool {
    change.max(1.0 / change) - 1.0 <= AGREEMENT
}

fn steady<'d, 'a>(data: &'d Data<'a>) -> impl Iterator<Item = &'d Group<'a>> {
    data.groups().filter(|group| !group.key.mode.is_search())
}

fn cells(a: &Data<'_>, b: &Data<'_>) -> Table {
    let mut table = Table::new(&["layout", "conditions", "figure", "A", "B", "B ÷ A", "B is"]);
    for group in a.groups() {
        let figures: &[Figure] = match group.key.mode {
            Mode::Capacity => &FOUND,
            Mode::Ramp | Mode::Overload => &[],
            _ => &STEADY,
        };
        let Some(other) = b.group(&group.key.layout, &group.key.conditions()) else {
            continue;
        };
        for figure in figures {
            table.row(row(&group.key, figure, group, other));
        }
    }
    table
}

fn row(key: &Key, figure: &Figure, a: &Group<'_>, b: &Group<'_>) -> Vec<String> {
    let (ours, theirs) = (a.spread(figure.metric), b.spread(figure.metric));
    let words = if figure.less_is_better {
        ("faster", "slower")
    } else {
        ("slower", "faster")
    };
    let told_apart = ours.zip(theirs).map(|(ours, theirs)| {
        let word = verdict(theirs.against(&ours), words);
        (theirs.median / ours.median, word)
    });
    let (ratio, word) = told_apart
        .filter(|(ratio, _)| ratio.is_finite())
        .map_or_else(|| (NONE.to_owned(), NONE), |(ratio, word)| (factor(ratio), word));
    vec![
        key.layout.clone(),
        told(key),
        figure.name.to_owned(),
        spread(ours),
        spread(theirs),
        ratio,
        word.to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_per_cent_either_way_agree() {
        for (change, expected) in [
            (1.0, true),
            (1.09, true),
            (0.92, true),
            (1.11, false),
            (0.9, false),
        ] {
            assert_eq!(agree(change), expected, "{change}");
        }
    }
}
