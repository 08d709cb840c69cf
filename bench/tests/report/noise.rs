//! A run says itself when it cannot be trusted.

use bench::report::Report;
use bench::results::{Cell, Run};

use super::fixture;

fn told(run: &Run, cells: &[Cell]) -> String {
    let root = tempfile::tempdir().unwrap();
    let folder = fixture::folder(&root.path().join("a"), run, cells);
    Report::of(&folder).unwrap().headline().unwrap()
}

#[test]
fn ratios_that_disagree_make_a_run_noisy() {
    let monolith: (&str, &[f64]) = ("monolith", &[100.0, 110.0, 120.0]);
    let table: [(&[f64], bool); 3] = [
        // The machine became slower, and both with it.
        (&[200.0, 220.0, 240.0], false),
        (&[200.0, 238.0, 240.0], false),
        // Only one did.
        (&[200.0, 244.0, 240.0], true),
    ];
    for (split, noisy) in table {
        let text = told(
            &fixture::run(),
            &fixture::closed(&[monolith, ("split-http", split)]),
        );
        assert_eq!(text.contains("This run is noisy"), noisy, "{split:?}: {text}");
    }
}

#[test]
fn a_restless_machine_makes_a_run_noisy() {
    let calm: [(&str, &[f64]); 1] = [("monolith", &[100.0, 100.0, 100.0])];
    let mut run = fixture::run();
    let mut cells = fixture::closed(&calm);
    assert!(!told(&run, &cells).contains("noisy"));
    if let bench::results::Outcome::Measured(measurement) = &mut cells[1].outcome {
        measurement.gate = Some(fixture::gate(false));
    }
    assert!(told(&run, &cells).contains("not quiet before 1 of 3 measurements"));
    run.gates.push(fixture::gate(false));
    assert!(told(&run, &fixture::closed(&calm)).contains("ten equal pieces of work"));
}

#[test]
fn a_run_that_was_interrupted_says_so() {
    let run = Run {
        finished: None,
        ..fixture::run()
    };
    let text = told(&run, &fixture::closed(&[("monolith", &[100.0])]));
    assert!(text.contains("not finished"), "{text}");
    assert!(text.contains("nothing can be compared"), "{text}");
}

#[test]
fn programs_that_were_not_optimised_are_no_measurement() {
    let cells = fixture::closed(&[("monolith", &[100.0])]);
    let mut run = fixture::run();
    assert!(!told(&run, &cells).contains("--release"));
    run.machine.profile = "debug".to_owned();
    let text = told(&run, &cells);
    assert!(text.contains("profile debug"), "{text}");
}
