//! The checks are exactly those of the catalogue in `docs/api.md`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

use std::collections::BTreeMap;

use conformance::checks;

const CATALOGUE: &str = include_str!("../../docs/api.md");

/// The ids in the first column of section 5's tables, in their order.
fn catalogue() -> Vec<&'static str> {
    let cell = |line: &'static str| line.strip_prefix("| ")?.split(" |").next();
    let is_id = |cell: &&str| {
        cell.split_once('-').is_some_and(|(area, number)| {
            area.bytes().all(|b| b.is_ascii_lowercase()) && number.len() == 3 && number.parse::<u16>().is_ok()
        })
    };
    CATALOGUE.lines().filter_map(cell).filter(is_id).collect()
}

#[test]
fn every_row_of_the_catalogue_has_its_check_and_no_check_lacks_a_row() {
    let ids: Vec<&str> = checks::all().iter().map(|check| check.id).collect();
    assert_eq!(ids, catalogue());
    assert_eq!(ids.len(), 197);
}

#[test]
fn the_sums_of_the_areas_are_those_of_the_catalogue() {
    let mut areas: BTreeMap<&str, usize> = BTreeMap::new();
    checks::all()
        .iter()
        .for_each(|check| *areas.entry(check.area()).or_default() += 1);
    let mut sum = CATALOGUE
        .lines()
        .skip_while(|line| !line.starts_with("| http | auth |"));
    let cells = |line: &'static str| {
        line.trim_matches('|')
            .split('|')
            .map(str::trim)
            .collect::<Vec<_>>()
    };
    let (names, counts) = (cells(sum.next().unwrap()), cells(sum.nth(1).unwrap()));
    for (name, count) in names.iter().zip(&counts) {
        let expected = match *name {
            "total" => areas.values().sum(),
            area => areas[area],
        };
        assert_eq!(count.parse::<usize>().unwrap(), expected, "{name}");
    }
}

#[test]
fn titles_are_told_and_ids_are_unique() {
    let checks = checks::all();
    let mut ids: Vec<&str> = checks.iter().map(|check| check.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), checks.len());
    assert!(checks.iter().all(|check| !check.title.trim().is_empty()));
}
