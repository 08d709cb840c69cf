//! How long requests take, all layouts under the same load.

use std::collections::BTreeSet;

use anyhow::Result;

use super::super::chart::{Line, Lines, Scale};
use super::super::data::{Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::told;
use crate::results::{Histogram, Key, Latency, Measurement, Mode, RouteOutcome};

/// Points of a curve for each tenfold of requests.
const POINTS: u32 = 16;

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let mut conditions = data.conditions(|key| matches!(key.mode, Mode::Rate { .. } | Mode::Users { .. }));
    let equal = !conditions.is_empty();
    if !equal {
        conditions = data.headline().into_iter().collect::<BTreeSet<_>>();
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    let mut section = Section::new("latency", "How long requests take").text(if equal {
        "All layouts get the same load, and times count from when a request was due, so that a stall is not hidden by the requests \
         that it held back. Curves are of all repetitions together."
    } else {
        "In a closed loop, each layout at its own pace: a slower one also gets fewer requests, so this says less than an equal \
         arrival rate would, which this plan does not have."
    });
    for conditions in conditions {
        section = section.part(part(data, &conditions)?);
        section.parts.extend(by_request(data, &conditions));
    }
    let late = "“Sent late” is by how much the generator itself was behind when it sent; where that is not far below the latencies, it is \
                the generator that was measured.";
    Ok(Some(section.note(late)))
}

fn part(data: &Data<'_>, conditions: &Key) -> Result<Part> {
    let groups = data.under(conditions);
    let mut lines = Vec::new();
    for group in &groups {
        let merged = Latency::merged(group.measurements().map(|m| &m.latency))?.histogram()?;
        lines.push(Line {
            name: group.key.layout.clone(),
            points: curve(&merged),
        });
    }
    let chart = Lines {
        title: "Latency".to_owned(),
        across: Scale::percentiles(),
        up: Scale::logarithmic("ms"),
        lines,
        marked: false,
    }
    .chart()?;
    let mut table = Table::new(&[
        "layout",
        "requests/s",
        "p50, ms",
        "p90, ms",
        "p95, ms",
        "p99, ms",
        "slowest, ms",
        "not 2xx",
        "sent late, p99, ms",
    ]);
    for group in groups {
        table.row(row(group));
    }
    Ok(Part {
        title: told(conditions),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

/// What a mix is made of; `None` for a profile of one kind of request.
fn by_request(data: &Data<'_>, conditions: &Key) -> Option<Part> {
    let mut table = Table::new(&["layout", "request", "2xx", "p50, ms", "p99, ms", "not 2xx"]);
    table.folded = true;
    for group in data.under(conditions) {
        let kinds: BTreeSet<&String> = group.measurements().flat_map(|m| m.routes.keys()).collect();
        if kinds.len() > 1 {
            kinds.into_iter().for_each(|kind| table.row(request(group, kind)));
        }
    }
    (!table.rows.is_empty()).then(|| Part {
        title: format!("By kind of request: {}", told(conditions)),
        charts: Vec::new(),
        table: Some(table),
    })
}

fn request(group: &Group<'_>, kind: &str) -> Vec<String> {
    let of = |figure: fn(&RouteOutcome) -> f64| group.median(|m| m.routes.get(kind).map(figure));
    vec![
        group.key.layout.clone(),
        kind.to_owned(),
        number::optional(of(|route| number::float(route.counts.completed))),
        number::optional(of(|route| number::milliseconds(route.latency.p50_us))),
        number::optional(of(|route| number::milliseconds(route.latency.p99_us))),
        number::percent(of(|route| route.counts.fault_share()).unwrap_or(0.0)),
    ]
}

fn row(group: &Group<'_>) -> Vec<String> {
    let times = [
        |m: &Measurement| m.latency.p50_us,
        |m: &Measurement| m.latency.p90_us,
        |m: &Measurement| m.latency.p95_us,
        |m: &Measurement| m.latency.p99_us,
        |m: &Measurement| m.latency.max_us,
    ];
    let times = times.map(|time| number::spread(group.spread(|m| Some(number::milliseconds(time(m))))));
    let mut row = vec![
        group.key.layout.clone(),
        number::optional(group.median(|m| Some(m.per_second()))),
    ];
    row.extend(times);
    row.push(number::percent(
        group.median(|m| Some(m.counts.fault_share())).unwrap_or(0.0),
    ));
    row.push(number::optional(
        group.median(|m| Some(number::milliseconds(m.late_p99_us))),
    ));
    row
}

/// From the median outwards, for as far as at least ten requests are slower.
fn curve(histogram: &Histogram) -> Vec<(f64, f64)> {
    let end = number::float(histogram.len()) / 10.0;
    let places = (0..=POINTS * 6).map(|step| 2.0 * 10_f64.powf(f64::from(step) / f64::from(POINTS)));
    let point = |place: f64| {
        let value = histogram.value_at_quantile(1.0 - 1.0 / place);
        (place, number::milliseconds(value).max(0.001))
    };
    places
        .take_while(|place| *place <= end.min(10_000.0))
        .map(point)
        .collect()
}
