//! A run says itself when it cannot be trusted.

use bench::report::Report;
use bench::results::{Cell, Outcome, Run};

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
    if let Outcome::Measured(measurement) = &mut cells[1].outcome {
        measurement.gate = Some(fixture::gate(false));
    }
    assert!(told(&run, &cells).contains("not quiet before 1 of 3 measurements"));
    run.gates.push(fixture::gate(false));
    assert!(told(&run, &fixture::closed(&calm)).contains("ten equal pieces of work"));
}

#[test]
fn one_restless_moment_among_many_does_not_make_a_run_noisy() {
    let mut cells = fixture::closed(&[("monolith", &[100.0; 10])]);
    for (restless, noisy) in [(1, false), (2, true)] {
        if let Outcome::Measured(measurement) = &mut cells[restless].outcome {
            measurement.gate = Some(fixture::gate(false));
        }
        assert_eq!(
            told(&fixture::run(), &cells).contains("noisy"),
            noisy,
            "{restless}"
        );
    }
}

#[test]
fn the_worst_pairs_are_named_and_the_others_counted() {
    let restless: &[f64] = &[200.0, 250.0];
    let monolith: &[f64] = &[100.0, 100.0];
    let names: Vec<String> = (1..=7).map(|number| format!("split-{number}")).collect();
    let mut costs = vec![("monolith", monolith)];
    costs.extend(names.iter().map(|name| (name.as_str(), restless)));
    let text = told(&fixture::run(), &fixture::closed(&costs));
    assert_eq!(text.matches("the ratios of the repetitions").count(), 5, "{text}");
    assert!(text.contains("2 further pairs"), "{text}");
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
