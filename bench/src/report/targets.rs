//! What was aimed at before it was built: processor time per request of the read mix in a closed loop, and memory. Set on another
//! day on a machine of two cores, so the ratios say more than the absolute figures.

use super::data::{APP, DATABASE, Data, Group, Metric};
use super::number;
use super::section::Table;
use crate::load::READ;
use crate::results::{Key, Mode, ProcessKind};

/// An aim: what has to be reached, and what would be better still.
struct Target {
    figure: &'static str,
    must: f64,
    stretch: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Family {
    Monolith,
    Http,
    Grpc,
}

/// Of single kinds of requests, application and PostgreSQL in µs: in the monolith, over HTTP, over gRPC.
const REQUESTS: [(&str, [(f64, f64); 3]); 9] = [
    ("list", [(95.0, 200.0), (150.0, 170.0), (140.0, 160.0)]),
    ("list-token", [(95.0, 200.0), (150.0, 170.0), (140.0, 160.0)]),
    ("feed", [(110.0, 240.0), (200.0, 240.0), (190.0, 240.0)]),
    ("article", [(50.0, 85.0), (90.0, 90.0), (85.0, 90.0)]),
    ("comments", [(65.0, 110.0), (120.0, 120.0), (115.0, 120.0)]),
    ("tags", [(45.0, 60.0), (45.0, 60.0), (45.0, 60.0)]),
    ("user", [(60.0, 60.0), (60.0, 60.0), (60.0, 60.0)]),
    ("profile", [(60.0, 60.0), (125.0, 110.0), (120.0, 110.0)]),
    ("favorite", [(130.0, 190.0), (190.0, 220.0), (185.0, 220.0)]),
];

/// Of single kinds of requests in a closed loop of 16, everything else as in these conditions.
pub(super) fn requests(data: &Data<'_>, conditions: &Key) -> Table {
    let mut table = Table::new(&[
        "request",
        "layout",
        "application, µs",
        "target",
        "PostgreSQL, µs",
        "target",
        "reached",
    ]);
    for (profile, targets) in REQUESTS {
        let conditions = Key {
            profile: profile.to_owned(),
            mode: Mode::Closed { concurrency: 16 },
            ..conditions.clone()
        };
        for group in data.under(&conditions) {
            if let Some(row) = request(profile, group, targets) {
                table.row(row);
            }
        }
    }
    table
}

fn request(profile: &str, group: &Group<'_>, [monolith, http, grpc]: [(f64, f64); 3]) -> Option<Vec<String>> {
    let (app_target, database_target) = match family(&group.key.layout)? {
        Family::Monolith => monolith,
        Family::Http => http,
        Family::Grpc => grpc,
    };
    let (app, database) = (group.median(APP)?, group.median(DATABASE)?);
    let reached = match (app <= app_target, database <= database_target) {
        (true, true) => "both",
        (true, false) => "application only",
        (false, true) => "PostgreSQL only",
        (false, false) => "missed",
    };
    Some(vec![
        profile.to_owned(),
        group.key.layout.clone(),
        number::figure(app),
        number::figure_plain(app_target),
        number::figure(database),
        number::figure_plain(database_target),
        reached.to_owned(),
    ])
}

/// Of everything that is measured at these conditions and has a target.
pub(super) fn table(data: &Data<'_>, conditions: &Key) -> Table {
    let mut table = Table::new(&["layout", "figure", "measured", "must", "stretch", "reached"]);
    if conditions.profile != "read" {
        return table;
    }
    for group in data.under(conditions) {
        let Some(family) = family(&group.key.layout) else {
            continue;
        };
        let figures = figures(data, group, family);
        for (target, measured) in figures.into_iter().filter_map(|(t, m)| Some((t, m?))) {
            table.row(row(&group.key.layout, &target, measured));
        }
    }
    table
}

fn family(layout: &str) -> Option<Family> {
    match layout {
        "monolith" => Some(Family::Monolith),
        "split-http" | "split-rebalanced-http" => Some(Family::Http),
        "split-grpc" | "split-rebalanced-grpc" => Some(Family::Grpc),
        _ => None,
    }
}

fn figures(data: &Data<'_>, group: &Group<'_>, family: Family) -> Vec<(Target, Option<f64>)> {
    let ratio = data
        .beside_baseline(group, APP)
        .map(|comparison| comparison.ratio);
    let ratio_at_64 = at_64(data, group).and_then(|group| data.beside_baseline(group, APP));
    let mut figures = Vec::new();
    let mut aim = |figure, (must, stretch), measured| {
        figures.push((
            Target {
                figure,
                must,
                stretch,
            },
            measured,
        ));
    };
    if group.key.mode == (Mode::Closed { concurrency: 16 }) {
        let (app, beside, database) = match family {
            Family::Monolith => ((120.0, 80.0), None, (220.0, 150.0)),
            Family::Http => ((240.0, 130.0), Some((2.0, 1.7)), (200.0, 130.0)),
            Family::Grpc => ((240.0, 125.0), Some((2.0, 1.6)), (200.0, 130.0)),
        };
        aim("application, µs", app, group.median(APP));
        if let Some(beside) = beside {
            aim("application, × monolith", beside, ratio);
            let measured = ratio_at_64.map(|comparison| comparison.ratio);
            aim("the same at c=64", (1.6, 1.35), measured);
        }
        aim("PostgreSQL, µs", database, group.median(DATABASE));
        let ours = from_requests(data, group, APP);
        aim("application, µs, from its parts", app, ours);
        if let Some(beside) = beside {
            let baseline = data.group(data.baseline(), &group.key.conditions());
            let theirs = baseline.and_then(|baseline| from_requests(data, baseline, APP));
            let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
            aim("application, × monolith, from its parts", beside, ratio);
        }
        let parts = from_requests(data, group, DATABASE);
        aim("PostgreSQL, µs, from its parts", database, parts);
    }
    aim("memory of the largest process, MiB", (30.0, 15.0), largest(group));
    figures
}

/// What the mix would cost if each of its requests cost what it costs among its like: so the targets were computed. In the mix itself
/// fewer look-ups of a kind queue behind one another, so fewer leave together.
fn from_requests(data: &Data<'_>, group: &Group<'_>, metric: Metric) -> Option<f64> {
    let parts = READ.into_iter().map(|(share, profile)| {
        let conditions = Key {
            profile: profile.name().to_owned(),
            ..group.key.conditions()
        };
        let alone = data.group(&group.key.layout, &conditions)?;
        Some(f64::from(share) / 100.0 * alone.median(metric)?)
    });
    parts.sum()
}

fn at_64<'g, 'a>(data: &'g Data<'a>, group: &Group<'_>) -> Option<&'g Group<'a>> {
    let conditions = Key {
        mode: Mode::Closed { concurrency: 64 },
        ..group.key.conditions()
    };
    data.group(&group.key.layout, &conditions)
}

fn largest(group: &Group<'_>) -> Option<f64> {
    group.median(|measurement| {
        let peaks = measurement
            .of(ProcessKind::App)
            .map(|process| process.memory_peak_bytes);
        peaks.max().map(number::mebibytes)
    })
}

fn row(layout: &str, target: &Target, measured: f64) -> Vec<String> {
    let reached = if measured <= target.stretch {
        "stretch"
    } else if measured <= target.must {
        "must"
    } else {
        "missed"
    };
    vec![
        layout.to_owned(),
        target.figure.to_owned(),
        number::figure(measured),
        number::figure_plain(target.must),
        number::figure_plain(target.stretch),
        reached.to_owned(),
    ]
}
