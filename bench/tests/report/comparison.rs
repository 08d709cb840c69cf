//! Two runs beside each other.

use bench::compare::compare;
use bench::results::Cell;

use super::fixture;

fn told(a: &[Cell], b: &[Cell]) -> String {
    let root = tempfile::tempdir().unwrap();
    let folder = |name, cells| fixture::folder(&root.path().join(name), &fixture::run(), cells);
    compare(&folder("a", a), &folder("b", b)).unwrap()
}

/// The line on a layout's application.
fn line<'t>(text: &'t str, layout: &str) -> &'t str {
    let wanted = |line: &&str| line.starts_with(&format!("| {layout} ")) && line.contains("application");
    text.lines().find(wanted).unwrap()
}

#[test]
fn equal_builds_tie_and_a_slowed_one_does_not() {
    let a = fixture::closed(&[
        ("monolith", &[100.0, 102.0, 104.0]),
        ("split-http", &[200.0, 202.0, 204.0]),
    ]);
    let b = fixture::closed(&[
        ("monolith", &[103.0, 101.0, 99.0]),
        ("split-http", &[240.0, 242.0, 244.0]),
    ]);
    let text = told(&a, &b);
    assert!(line(&text, "monolith").ends_with("| tie |"), "{text}");
    assert!(line(&text, "split-http").ends_with("| slower |"), "{text}");
    assert!(
        line(&told(&b, &a), "split-http").ends_with("| faster |"),
        "{text}"
    );
    let agreement = |text: &str| {
        text.lines()
            .find(|line| line.starts_with("| split-http "))
            .unwrap()
            .to_owned()
    };
    assert!(agreement(&text).ends_with("| no |"), "{text}");
    assert!(agreement(&told(&a, &a)).ends_with("| yes |"), "{text}");
}

#[test]
fn too_few_repetitions_get_no_verdict() {
    let few = fixture::closed(&[("monolith", &[100.0, 102.0])]);
    let text = told(&few, &fixture::closed(&[("monolith", &[200.0, 202.0, 204.0])]));
    assert!(
        line(&text, "monolith").ends_with("| too few repetitions |"),
        "{text}"
    );
}

#[test]
fn cells_that_only_one_run_has_are_left_out() {
    let a = fixture::closed(&[("monolith", &[100.0, 102.0, 104.0])]);
    let b = fixture::closed(&[("split-http", &[100.0, 102.0, 104.0])]);
    let text = told(&a, &b);
    assert!(!text.contains("application, µs"), "{text}");
}
