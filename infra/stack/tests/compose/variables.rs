//! `.env.example` has every variable of the files, with the same default, and no other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::files::{FOLDER, texts};

/// The variables that the files name, with their defaults.
fn used() -> BTreeMap<String, String> {
    let mut used = BTreeMap::new();
    for (file, text) in texts() {
        for piece in text.split("${").skip(1) {
            let (variable, _) = piece.split_once('}').unwrap();
            let (name, default) = variable.split_once(":-").unwrap_or((variable, ""));
            let before = used.insert(name.to_owned(), default.to_owned());
            assert!(
                before.is_none_or(|before| before == default),
                "{file}: {name} has two defaults"
            );
        }
        // Handed on as they are.
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_suffix(':')
                && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
            {
                used.entry(name.to_owned()).or_default();
            }
        }
    }
    used
}

/// The variables of the example, with what stands there.
fn explained() -> BTreeMap<String, String> {
    let text = fs::read_to_string(Path::new(FOLDER).join(".env.example")).unwrap();
    let lines = text.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
    let pairs = lines.filter_map(|line| line.split_once('='));
    pairs
        .filter(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn the_example_has_every_variable_and_its_default() {
    let (used, explained) = (used(), explained());
    for (name, default) in &used {
        let told = explained
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not in .env.example"));
        assert!(
            default.is_empty() || default == told,
            "{name} is {default:?}, and {told:?} in .env.example"
        );
    }
    for name in explained.keys().filter(|name| *name != "COMPOSE_PROJECT_NAME") {
        assert!(used.contains_key(name), "nobody reads {name}");
    }
}
