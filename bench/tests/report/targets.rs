//! What is measured beside what was aimed at.

use bench::load::READ;
use bench::report::Report;
use bench::results::{Cell, Key};

use super::fixture;

/// A closed loop of this profile in both layouts.
fn closed(profile: &str, monolith: f64, split: f64) -> Vec<Cell> {
    let cells = fixture::closed(&[("monolith", &[monolith]), ("split-http", &[split])]);
    let of = |cell: Cell| Cell {
        key: Key {
            profile: profile.to_owned(),
            ..cell.key
        },
        ..cell
    };
    cells.into_iter().map(of).collect()
}

fn text(cells: &[Cell]) -> String {
    let root = tempfile::tempdir().unwrap();
    let folder = fixture::folder(&root.path().join("a"), &fixture::run(), cells);
    Report::of(&folder).unwrap().headline().unwrap()
}

#[test]
fn the_mix_is_put_together_from_its_parts_where_all_of_them_were_measured() {
    let mut cells = closed("read", 130.0, 300.0);
    // Articles are a quarter of the mix.
    for (_, profile) in READ {
        let split = if profile.name() == "article" { 260.0 } else { 180.0 };
        cells.extend(closed(profile.name(), 100.0, split));
    }
    let whole = text(&cells);
    for row in [
        "| monolith | application, µs | 130 | 120 | 80 | missed |",
        "| monolith | application, µs, from its parts | 100 | 120 | 80 | must |",
        "| split-http | application, × monolith | 2.31 | 2 | 1.7 | missed |",
        "| split-http | application, µs, from its parts | 200 | 240 | 130 | must |",
        "| split-http | application, × monolith, from its parts | 2.00 | 2 | 1.7 | must |",
    ] {
        assert!(whole.contains(row), "{row}\n{whole}");
    }
    cells.retain(|cell| cell.key.profile != "tags");
    assert!(!text(&cells).contains("from its parts"), "a part is missing");
}
