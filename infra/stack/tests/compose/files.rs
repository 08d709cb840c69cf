//! The files, with what they extend.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use yaml_serde::{Mapping, Value};

pub(crate) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../compose");

/// The file that the others are made of.
pub(crate) const COMMON: &str = "common";

/// The name of each file without its ending, and its text.
pub(crate) fn texts() -> BTreeMap<String, String> {
    let paths = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "yml"));
    files
        .map(|path: PathBuf| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The services of each file that is started, with everything that they extend.
pub(crate) fn services() -> Vec<(String, String, Mapping)> {
    let common = parsed(&fs::read_to_string(Path::new(FOLDER).join("common.yml")).unwrap());
    let mut all = Vec::new();
    for (file, text) in texts() {
        if file == COMMON {
            continue;
        }
        for (name, service) in parsed(&text)["services"].as_mapping().unwrap() {
            let own = service.as_mapping().unwrap();
            assert_eq!(own["extends"]["file"], "common.yml", "{file}");
            let mut whole = common["services"][&own["extends"]["service"]]
                .as_mapping()
                .unwrap()
                .clone();
            whole.extend(own.clone());
            all.push((file.clone(), name.as_str().unwrap().to_owned(), whole));
        }
    }
    assert!(all.len() > 10, "the files are gone");
    all
}

fn parsed(text: &str) -> Value {
    let mut value: Value = yaml_serde::from_str(text).unwrap();
    value.apply_merge().unwrap();
    value
}

/// The entries of a list in a service; none where it has no such list.
pub(crate) fn list(service: &Mapping, key: &str) -> Vec<String> {
    let entries = service.get(key).and_then(Value::as_sequence);
    entries
        .into_iter()
        .flatten()
        .map(|entry| entry.as_str().unwrap().to_owned())
        .collect()
}
