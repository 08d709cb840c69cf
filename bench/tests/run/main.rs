//! A whole run of a tiny plan: seeded, deployed, loaded, interrupted, resumed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods
)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use bench::results::{Cell, Folder, Mode, Outcome, ProcessKind};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Two groups on one database: one that works, and one whose processes do not start.
const PLAN: &str = r#"
repetitions = 1
articles = [200]

[load]
warm_up = 0.1
seconds = 0.4
timeout = 60.0
think = 0.05
viewers = 2
looks = 0

[search]
start = 2
most = 2
seconds = 0.3
p95 = 50.0
p99 = 50.0
factors = [1.5]

[[group]]
layouts = ["monolith"]
profiles = ["read", "mixed"]
modes = [{ closed = { concurrency = 2 } }]

[[group]]
layouts = ["monolith"]
sockets = "tcp"
environment = { CONDUIT_DATABASE_WAIT = "no duration" }
profiles = ["list"]
modes = [{ closed = { concurrency = 1 } }]

[[group]]
layouts = ["monolith"]
batching = false
profiles = ["browse"]
modes = ["capacity", "overload"]
"#;

fn bench(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.arg("run").args(arguments).env_remove("DATABASE_URL");
    command
}

fn said(output: &Output) -> String {
    let (out, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    format!("{out}{told}")
}

fn cell<'a>(cells: &'a [Cell], profile: &str, mode: Mode) -> &'a Cell {
    let found = cells
        .iter()
        .find(|cell| cell.key.profile == profile && cell.key.mode == mode);
    found.unwrap_or_else(|| panic!("no {profile} {mode}: {cells:?}"))
}

/// Starts the run and interrupts it after its first cell.
fn interrupted(plan: &Path, state: &Path, output: &Path) {
    let arguments = [plan, Path::new("--state"), state, Path::new("--output"), output];
    let arguments = arguments.map(|argument| argument.to_str().unwrap());
    let mut run = bench(&arguments)
        .arg("--no-build")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let first = lines.find(|line| line.as_ref().unwrap().starts_with("[1/"));
    let first = first.expect("it ended before its first cell").unwrap();
    assert!(first.contains("CPU per request"), "{first}");
    kill(Pid::from_raw(run.id().try_into().unwrap()), Signal::SIGINT).unwrap();
    lines.for_each(drop);
    assert_eq!(run.wait().unwrap().code(), Some(2));
}

#[test]
fn an_interrupted_run_goes_on_and_says_what_failed() {
    let home = tempfile::tempdir().unwrap();
    // The accounts of PostgreSQL have to get through.
    fs::set_permissions(home.path(), Permissions::from_mode(0o711)).unwrap();
    let (plan, state) = (home.path().join("tiny.toml"), home.path().join("state"));
    fs::write(&plan, PLAN).unwrap();
    let output = home.path().join("results");
    interrupted(&plan, &state, &output);
    let folder = Folder::open(&output).unwrap();
    let before = folder.cells().unwrap();
    assert!(!before.is_empty() && before.len() < 5, "{}", before.len());
    assert_eq!(folder.run().unwrap().finished, None);

    let resumed = bench(&["--resume", output.to_str().unwrap(), "--no-build"])
        .arg("--state")
        .arg(&state)
        .output()
        .unwrap();
    assert!(resumed.status.success(), "{}", said(&resumed));
    let cells = folder.cells().unwrap();
    assert_eq!(cells.len(), 5);
    assert_eq!(cells[0], before[0]);
    let run = folder.run().unwrap();
    assert!(run.finished.is_some());
    assert_eq!((run.plan.name.as_str(), run.plan.cells), ("tiny", 5));
    assert!(run.deployments[0].checks.unwrap() >= 10);
    assert!(run.machine.postgres.starts_with(|c: char| c.is_ascii_digit()));

    let page = fs::read_to_string(output.join("report.html")).unwrap();
    assert!(page.contains("monolith"));

    let mixed = cell(&cells, "mixed", Mode::Closed { concurrency: 2 });
    let measured = mixed.measured().unwrap();
    assert_eq!(measured.counts.faults(), 0, "{:?}", measured.counts);
    let names: Vec<_> = measured
        .processes
        .iter()
        .map(|process| process.name.as_str())
        .collect();
    assert_eq!(names, ["monolith", "postgres", "generator-1"]);
    assert!(
        measured
            .of(ProcessKind::App)
            .all(|process| process.memory_peak_bytes > 1 << 20)
    );
    assert_eq!(measured.peers, None);
    assert!(measured.pool_waits.is_some());
    let served: Vec<_> = measured.database_us.keys().map(String::as_str).collect();
    assert_eq!(served, ["monolith"]);

    let broken = cell(&cells, "list", Mode::Closed { concurrency: 1 });
    assert!(
        matches!(&broken.outcome, Outcome::Failed(why) if why.contains("no duration")),
        "{broken:?}"
    );

    let capacity = cell(&cells, "browse", Mode::Capacity)
        .measured()
        .unwrap()
        .search
        .as_ref()
        .unwrap();
    assert!(capacity.held.is_some(), "{capacity:?}");
    let overload = cell(&cells, "browse", Mode::Overload)
        .measured()
        .unwrap()
        .search
        .as_ref()
        .unwrap();
    assert_eq!(overload.steps[0].factor, Some(1.5));
}

#[test]
fn a_plan_that_cannot_be_met_is_refused_before_anything_is_started() {
    let home = tempfile::tempdir().unwrap();
    let plan = home.path().join("wide.toml");
    let text = PLAN.replacen(
        "sockets = \"tcp\"",
        "budget = { millicores = 9000000, split = \"even\" }",
        1,
    );
    fs::write(&plan, text).unwrap();
    let output = home.path().join("results");
    let refused = bench(&[plan.to_str().unwrap(), "--output", output.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let told = said(&refused);
    assert!(
        told.contains("cannot be met here") && told.contains("measure on a larger one"),
        "{told}"
    );
    assert!(!output.exists());
    let unknown = bench(&["slow"]).output().unwrap();
    assert!(
        said(&unknown).contains("quick, standard, full"),
        "{}",
        said(&unknown)
    );
}
