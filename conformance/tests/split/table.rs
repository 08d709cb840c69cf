//! The table of ARCHITECTURE.md that says which public route makes which calls.

use std::collections::BTreeMap;

const PAGE: &str = include_str!("../../../ARCHITECTURE.md");
const HEADING: &str = "## Who calls whom";

/// How often each method is called; absent where it is not.
pub(crate) type Calls = BTreeMap<String, u64>;

pub(crate) struct Row {
    /// Method and path, as the table has them.
    pub(crate) route: String,
    /// For nobody and for an account; `None` where the token is missing.
    pub(crate) calls: [Option<Calls>; 2],
}

pub(crate) fn rows() -> Vec<Row> {
    let (_, section) = PAGE.split_once(HEADING).expect("no such section");
    let section = section.split("\n## ").next().unwrap();
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(row)
        .collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [route, anonymous, signed_in] = cells[..] else {
        panic!("not three cells: {line}")
    };
    Row {
        route: route.trim_matches('`').to_owned(),
        calls: [calls(anonymous), calls(signed_in)],
    }
}

fn calls(cell: &str) -> Option<Calls> {
    match cell {
        "401" => None,
        "none" => Some(Calls::new()),
        calls => Some(calls.split(", ").map(call).collect()),
    }
}

fn call(text: &str) -> (String, u64) {
    let (name, times) = text.split_once(" ×").unwrap_or((text, "1"));
    (name.trim_matches('`').to_owned(), times.parse().unwrap())
}
