//! What becomes of a layout that gets more than it can do.

use anyhow::Result;

use super::super::chart::{Line, Lines, Scale};
use super::super::data::{Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::told;
use crate::results::{Counts, Key, Mode, Step};
use crate::stats::Spread;

/// The same step in every repetition.
struct Steps<'a> {
    factor: f64,
    steps: Vec<&'a Step>,
}

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let mut section = Section::new("overload", "More than it can do").text(
        "Each layout is offered multiples of what it held itself. A good one goes on completing about what it can, and refuses the \
         rest; a bad one completes less the more it is offered.",
    );
    for conditions in data.conditions(|key| key.mode == Mode::Overload) {
        section = section.part(part(data, &conditions)?);
    }
    Ok((!section.parts.is_empty()).then_some(section))
}

fn part(data: &Data<'_>, conditions: &Key) -> Result<Part> {
    let mut table = Table::new(&[
        "layout",
        "× capacity",
        "offered",
        "completed/s",
        "p99, ms",
        "refused or failed",
        "timed out",
        "broken",
        "not sent",
    ]);
    let mut lines = Vec::new();
    for group in data.under(conditions) {
        let all = steps(group);
        lines.push(Line {
            name: group.key.layout.clone(),
            points: all
                .iter()
                .filter_map(|steps| Some((steps.factor, steps.completed()?.median)))
                .collect(),
        });
        for steps in &all {
            table.row(steps.row(&group.key.layout));
        }
    }
    let factors = lines
        .iter()
        .flat_map(|line: &Line| &line.points)
        .map(|point| point.0);
    let mut factors: Vec<f64> = factors.collect();
    factors.sort_by(f64::total_cmp);
    factors.dedup();
    let chart = Lines {
        title: "Completed a second".to_owned(),
        across: Scale::points("offered, × capacity", factors),
        up: Scale::linear("completed a second"),
        lines,
        marked: true,
    }
    .chart()?;
    Ok(Part {
        title: told(conditions),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

fn steps<'a>(group: &Group<'a>) -> Vec<Steps<'a>> {
    let mut all: Vec<Steps<'a>> = Vec::new();
    let steps = group
        .measurements()
        .filter_map(|m| m.search.as_ref())
        .flat_map(|search| &search.steps);
    for step in steps {
        let Some(factor) = step.factor else {
            continue;
        };
        match all.iter_mut().find(|steps| (steps.factor - factor).abs() < 1e-9) {
            Some(steps) => steps.steps.push(step),
            None => all.push(Steps {
                factor,
                steps: vec![step],
            }),
        }
    }
    all.sort_by(|a, b| a.factor.total_cmp(&b.factor));
    all
}

impl Steps<'_> {
    fn completed(&self) -> Option<Spread> {
        Spread::of(self.steps.iter().map(|step| step.per_second()))
    }

    fn share(&self, part: impl Fn(&Counts) -> u64) -> String {
        let shares = self.steps.iter().map(|step| {
            let all = step.counts.arrivals().max(1);
            number::float(part(&step.counts)) / number::float(all)
        });
        number::percent(Spread::of(shares).map_or(0.0, |spread| spread.median))
    }

    fn row(&self, layout: &str) -> Vec<String> {
        let offered = Spread::of(self.steps.iter().map(|step| step.offered.amount()));
        let p99 = Spread::of(
            self.steps
                .iter()
                .map(|step| number::milliseconds(step.latency.p99_us)),
        );
        vec![
            layout.to_owned(),
            number::figure_plain(self.factor),
            number::optional(offered.map(|spread| spread.median)),
            number::spread(self.completed()),
            number::optional(p99.map(|spread| spread.median)),
            self.share(|counts| counts.statuses.values().sum()),
            self.share(|counts| counts.timeouts),
            self.share(|counts| counts.broken),
            self.share(|counts| counts.dropped),
        ]
    }
}
