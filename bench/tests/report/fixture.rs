//! Made-up results: plausible in shape, so that pages can be looked at, and of no meaning otherwise.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bench::report::Report;
use bench::results::{
    Artifact, ArtifactKind, Budget, Cell, Counts, DeployedProcess, Deployment, Folder, Key, Latency, Load,
    Machine, Measurement, Mode, NoiseGate, Outcome, PeerTraffic, Place, Plan, PoolWaits, ProcessKind,
    ProcessUse, RouteOutcome, Rules, Run, Search, Sockets, Split, Step, Variant, histogram,
};

pub(crate) const LAYOUTS: [&str; 4] = ["monolith", "split-http", "split-grpc", "split-rebalanced-grpc"];

/// How unlike its neighbours a repetition is: 1, a little less, a little more.
const SWAY: [f64; 3] = [1.0, 0.98, 1.03];

pub(crate) fn plain() -> Variant {
    Variant {
        batching: true,
        sockets: Sockets::Unix,
        budget: None,
        place: Place::Together,
        proxy: false,
    }
}

pub(crate) fn key(layout: &str, mode: Mode) -> Key {
    Key {
        layout: layout.to_owned(),
        profile: "read".to_owned(),
        mode,
        articles: 10_000,
        variant: plain(),
        repetition: 1,
    }
}

pub(crate) fn run() -> Run {
    Run {
        format: Run::FORMAT,
        plan: Plan {
            name: "test-data".to_owned(),
            text: "# Made up for a test.\nname = \"test-data\"\nlayouts = [\"monolith\", \"<b>&\"]\n"
                .to_owned(),
            cells: 400,
            repetitions: 3,
        },
        started: "2001-01-01T00:00:00Z".to_owned(),
        finished: Some("2001-01-01T00:10:00Z".to_owned()),
        machine: Machine {
            processor: "Test data <not a processor>".to_owned(),
            cores: 2,
            memory_bytes: 8 << 30,
            kernel: "none".to_owned(),
            postgres: "0.0".to_owned(),
            rustc: "0.0.0".to_owned(),
            profile: "release".to_owned(),
            revision: Some("0000000".to_owned()),
            dirty: true,
        },
        deployments: LAYOUTS.iter().map(|layout| deployment(layout)).collect(),
        artifacts: vec![Artifact {
            name: "monolith".to_owned(),
            kind: ArtifactKind::Binary,
            bytes: 12 << 20,
        }],
        gates: vec![gate(true)],
    }
}

pub(crate) fn gate(passed: bool) -> NoiseGate {
    NoiseGate {
        told: "ten equal pieces of work".to_owned(),
        spread: if passed { 0.02 } else { 0.5 },
        limit: 0.1,
        passed,
    }
}

fn deployment(layout: &str) -> Deployment {
    let process = |name: &str| DeployedProcess {
        name: name.to_owned(),
        workers: 1,
        pool: 16,
        transport: (name != "monolith").then(|| "http".to_owned()),
    };
    Deployment {
        layout: layout.to_owned(),
        variant: plain(),
        proxy: Some("nginx 0.0".to_owned()),
        processes: names(layout).into_iter().map(process).collect(),
        checks: Some(12),
    }
}

fn names(layout: &str) -> Vec<&'static str> {
    match layout {
        "monolith" => vec!["monolith"],
        "split-rebalanced-grpc" => vec!["users", "profiles", "articles", "articles-2", "comments"],
        _ => vec!["users", "profiles", "articles", "comments"],
    }
}

/// What a layout costs against the others, in this fiction.
fn weight(layout: &str) -> f64 {
    match layout {
        "monolith" => 1.0,
        "split-http" => 1.8,
        "split-grpc" => 1.7,
        _ => 1.6,
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small made-up numbers"
)]
fn whole(value: f64) -> u64 {
    value as u64
}

/// With a long tail.
fn latency(median_us: f64) -> Latency {
    let mut recorded = histogram().unwrap();
    for index in 1..=3_000_u32 {
        let place = f64::from(index) / 3_001.0;
        let slower = (place / (1.0 - place)).powf(0.45);
        recorded.record(whole(median_us * slower).max(1)).unwrap();
    }
    Latency::of(&recorded).unwrap()
}

fn process(name: &str, service: Option<&str>, kind: ProcessKind, cpu_us: f64, memory: u64) -> ProcessUse {
    ProcessUse {
        name: name.to_owned(),
        service: service.map(str::to_owned),
        kind,
        cpu_us: whole(cpu_us),
        memory_idle_bytes: memory << 20,
        memory_peak_bytes: (memory << 20) * 3 / 2,
        throttled_us: None,
    }
}

/// A cell's measurement: `app` microseconds of the application per request, before the layout's weight.
pub(crate) fn measurement(key: &Key, app: f64) -> Measurement {
    let sway = SWAY[(key.repetition as usize - 1) % SWAY.len()];
    let weight = weight(&key.layout);
    let completed = whole(60_000.0 / weight / sway);
    #[allow(clippy::cast_precision_loss, reason = "small made-up numbers")]
    let all = completed as f64 * sway;
    let names = names(&key.layout);
    let share = all * app * weight / f64::from(u32::try_from(names.len()).unwrap());
    let mut processes: Vec<ProcessUse> = names
        .iter()
        .map(|name| {
            let service = name.trim_end_matches("-2");
            let service = (service != "monolith").then_some(service);
            ProcessUse {
                throttled_us: key.variant.budget.map(|_| 1_500_000),
                ..process(name, service, ProcessKind::App, share, 9)
            }
        })
        .collect();
    let database = all * 200.0 / weight.sqrt();
    processes.extend([
        process("nginx", None, ProcessKind::Proxy, all * 14.0, 6),
        process("postgres", None, ProcessKind::Database, database, 180),
        process("generator", None, ProcessKind::Generator, all * 30.0, 25),
    ]);
    let split = key.layout != "monolith";
    Measurement {
        seconds: 10.0,
        counts: Counts {
            completed,
            statuses: if split { [(503, 7)].into() } else { [].into() },
            ..Counts::default()
        },
        latency: latency(900.0 * weight * sway),
        processes,
        peers: split.then_some(PeerTraffic {
            calls: completed / 2,
            bytes: Some(completed * 900),
        }),
        load_before: 0.4,
        load_after: 1.9,
        gate: Some(gate(true)),
        search: None,
        routes: routes(completed, 900.0 * weight * sway),
        late_p99_us: 40,
        waiting: Some(1),
        pool_waits: Some(PoolWaits {
            count: completed / 50,
            us: completed / 50 * 120,
        }),
        database_us: names
            .iter()
            .filter(|name| !name.ends_with("-2"))
            .map(|name| ((*name).to_owned(), whole(database * 0.9 / 4.0)))
            .collect(),
    }
}

fn routes(completed: u64, median_us: f64) -> BTreeMap<String, RouteOutcome> {
    let route = |share, factor: f64| RouteOutcome {
        counts: Counts {
            completed: completed / share,
            ..Counts::default()
        },
        latency: latency(median_us * factor),
    };
    [
        ("list".to_owned(), route(3, 1.2)),
        ("tags".to_owned(), route(6, 0.4)),
    ]
    .into()
}

fn step(offered: Load, completed_per_second: f64, factor: Option<f64>, broke: Option<&str>) -> Step {
    let completed = whole(completed_per_second * 30.0);
    let lost = whole(offered.amount() * 30.0).saturating_sub(completed);
    Step {
        offered,
        factor,
        seconds: 30.0,
        counts: Counts {
            completed,
            statuses: [(503, if factor.is_some() { lost / 2 } else { 0 })].into(),
            dropped: if factor.is_some() { lost / 2 } else { 0 },
            ..Counts::default()
        },
        latency: latency(2_000.0 * factor.unwrap_or(offered.amount() / 1_000.0).powi(4)),
        broke: broke.map(str::to_owned),
    }
}

fn capacity(key: &Key) -> Search {
    let held = 2400.0 / weight(&key.layout) / SWAY[(key.repetition as usize - 1) % 3];
    let users = |factor: f64| Load::Users(u32::try_from(whole(held * factor)).unwrap());
    Search {
        rules: Some(Rules {
            seconds: 300.0,
            p95_us: 500_000,
            p99_us: 1_000_000,
            errors: 0.01,
        }),
        held: Some(users(1.0)),
        steps: vec![
            step(users(0.5), held * 0.13, None, None),
            step(users(1.5), held * 0.3, None, Some("p95 612 ms")),
            step(users(1.0), held * 0.26, None, None),
        ],
    }
}

fn ramp(key: &Key) -> Search {
    let mut search = capacity(key);
    search
        .steps
        .sort_by(|a, b| a.offered.amount().total_cmp(&b.offered.amount()));
    search
}

fn overload(key: &Key) -> Search {
    let capacity = (8000.0 / weight(&key.layout)).round();
    let falls = if key.layout == "monolith" { 0.02 } else { 0.2 };
    let steps = [1.0_f64, 1.25, 1.5, 2.0].map(|factor| {
        let completed = capacity * (1.0 - falls * (factor - 1.0));
        step(Load::PerSecond(capacity * factor), completed, Some(factor), None)
    });
    Search {
        rules: None,
        held: None,
        steps: steps.into(),
    }
}

/// All kinds of cells that a plan can have.
pub(crate) fn cells() -> &'static [Cell] {
    static CELLS: OnceLock<Vec<Cell>> = OnceLock::new();
    CELLS.get_or_init(made_up)
}

fn made_up() -> Vec<Cell> {
    let mut keys = Vec::new();
    for repetition in 1..=3 {
        for layout in LAYOUTS {
            keys.extend(all_of(layout).into_iter().map(|key| Key { repetition, ..key }));
        }
    }
    let cells = keys.into_iter().zip(1..).map(|(key, order)| Cell {
        order,
        started: "2001-01-01T00:00:00Z".to_owned(),
        outcome: outcome(&key),
        key,
    });
    cells.collect()
}

fn all_of(layout: &str) -> Vec<Key> {
    let closed = |concurrency| key(layout, Mode::Closed { concurrency });
    let mut keys = vec![closed(1), closed(4), closed(16), closed(64)];
    keys.extend([1_000, 100_000, 1_000_000].map(|articles| Key {
        articles,
        ..closed(16)
    }));
    keys.extend(["list", "article"].map(|profile| Key {
        profile: profile.to_owned(),
        ..closed(16)
    }));
    let variants = [
        Variant {
            batching: false,
            ..plain()
        },
        Variant {
            sockets: Sockets::Tcp,
            ..plain()
        },
        budget(Split::Shared),
        budget(Split::Even),
        budget(Split::Measured),
    ];
    keys.extend(variants.map(|variant| Key {
        variant,
        ..closed(16)
    }));
    let modes = [
        Mode::Rate { per_second: 500 },
        Mode::Capacity,
        Mode::Ramp,
        Mode::Overload,
    ];
    keys.extend(modes.map(|mode| key(layout, mode)));
    keys
}

fn budget(split: Split) -> Variant {
    Variant {
        budget: Some(Budget {
            millicores: 1500,
            split,
        }),
        ..plain()
    }
}

fn outcome(key: &Key) -> Outcome {
    if key.layout == "split-http" && key.mode == Mode::Ramp && key.repetition == 3 {
        return Outcome::Failed("process articles <ended> with status 1 | see its log".to_owned());
    }
    let app = match key.mode {
        Mode::Closed { concurrency: 1 } => 180.0,
        Mode::Closed { concurrency: 4 } => 120.0,
        Mode::Closed { concurrency: 64 } => 75.0,
        _ if !key.variant.batching && key.layout != "monolith" => 130.0,
        _ => 90.0,
    };
    let mut measurement = measurement(key, app);
    measurement.search = match key.mode {
        Mode::Capacity => Some(capacity(key)),
        Mode::Ramp => Some(ramp(key)),
        Mode::Overload => Some(overload(key)),
        _ => None,
    };
    Outcome::Measured(Box::new(measurement))
}

/// A folder with these results.
pub(crate) fn folder(path: &std::path::Path, run: &Run, cells: &[Cell]) -> Folder {
    let folder = Folder::create(path).unwrap();
    folder.write_run(run).unwrap();
    for cell in cells {
        folder.write_cell(cell).unwrap();
    }
    folder
}

/// The report of all of it.
pub(crate) fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        let root = tempfile::tempdir().unwrap();
        Report::of(&folder(&root.path().join("a"), &run(), cells())).unwrap()
    })
}

/// Closed loops of 16 alone, each layout at its own cost per repetition.
pub(crate) fn closed(costs: &[(&str, &[f64])]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (layout, costs) in costs {
        for (cost, repetition) in costs.iter().zip(1..) {
            let key = Key {
                repetition,
                ..key(layout, Mode::Closed { concurrency: 16 })
            };
            let mut measurement = measurement(&key, 1.0);
            measurement
                .processes
                .retain(|process| process.kind == ProcessKind::Database);
            measurement.counts.completed = 1_000;
            measurement
                .processes
                .push(process(layout, None, ProcessKind::App, cost * 1_000.0, 9));
            cells.push(Cell {
                order: u32::try_from(cells.len()).unwrap() + 1,
                started: "2001-01-01T00:00:00Z".to_owned(),
                outcome: Outcome::Measured(Box::new(measurement)),
                key,
            });
        }
    }
    cells
}
