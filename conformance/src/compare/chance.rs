//! What is left of an answer when that which depends on chance is taken out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::json::{self, Json};
use crate::log::Exchange;

/// The shape of a body: names and types, without any value. `None` if it is no JSON.
pub(super) fn shape(body: &[u8]) -> Option<Vec<u8>> {
    let document = json::parse(readable(&String::from_utf8_lossy(body)).as_bytes()).ok()?;
    let mut out = String::new();
    write_skeleton(&document.value, "", &mut out, &|_, _| true);
    Some(out.into_bytes())
}

/// The body with the varying places and texts covered. Covered ids are no JSON: what cannot be read stays as it is.
pub(super) fn without(body: &[u8], varying: &BTreeSet<String>) -> String {
    let text = String::from_utf8_lossy(body).into_owned();
    let Ok(document) = json::parse(readable(&text).as_bytes()) else {
        return text;
    };
    let mut out = String::new();
    write_skeleton(&document.value, "", &mut out, &|path, value| {
        varying.contains(path)
            || value
                .text()
                .is_some_and(|text| varying.contains(&format!("={text}")))
    });
    out
}

/// Ids numbered by [`mask`] as JSON again: within a group their order is chance.
fn readable(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\"id\":<") {
        out.push_str(before);
        out.push_str("\"id\":0");
        rest = after.split_once('>').map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    out
}

/// Paths whose values differ among the group's answers of one status, and (as `=text`) the texts that only some of its
/// requests sent.
pub(super) fn varying(group: &[Arc<Exchange>]) -> BTreeSet<String> {
    let mut seen: BTreeMap<(u16, String), BTreeSet<String>> = BTreeMap::new();
    let mut sent: BTreeMap<String, usize> = BTreeMap::new();
    for exchange in group {
        if let Ok(response) = &exchange.outcome
            && let Ok(document) = json::parse(&response.body)
        {
            for (path, value) in leaves(&document.value) {
                seen.entry((response.status, path)).or_default().insert(value);
            }
        }
        let body = exchange
            .request
            .body
            .as_deref()
            .and_then(|body| json::parse(body).ok());
        let texts: BTreeSet<String> = body
            .iter()
            .flat_map(|document| leaves(&document.value))
            .map(|(_, value)| value)
            .collect();
        texts
            .into_iter()
            .for_each(|text| *sent.entry(text).or_insert(0) += 1);
    }
    let paths = seen
        .into_iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|((_, path), _)| path);
    let texts = sent
        .into_iter()
        .filter(|(_, times)| *times < group.len())
        .map(|(text, _)| format!("={text}"));
    paths.chain(texts).collect()
}

fn leaves(json: &Json) -> Vec<(String, String)> {
    let mut found = Vec::new();
    collect(json, "", &mut found);
    found
}

fn collect(json: &Json, path: &str, found: &mut Vec<(String, String)>) {
    match json {
        Json::Object(members) => {
            members
                .iter()
                .for_each(|(name, value)| collect(value, &format!("{path}.{name}"), found));
        }
        Json::List(items) => items
            .iter()
            .for_each(|item| collect(item, &format!("{path}[]"), found)),
        Json::Text(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), format!("{other:?}"))),
    }
}

fn write_skeleton(json: &Json, path: &str, out: &mut String, covered: &dyn Fn(&str, &Json) -> bool) {
    match json {
        Json::Object(members) => {
            out.push('{');
            for (name, value) in members {
                out.push_str(name);
                out.push(':');
                write_skeleton(value, &format!("{path}.{name}"), out, covered);
                out.push(',');
            }
            out.push('}');
        }
        // How many elements there are may depend on the race, too.
        Json::List(items) => {
            let kinds: BTreeSet<String> = items
                .iter()
                .map(|item| {
                    let mut kind = String::new();
                    write_skeleton(item, &format!("{path}[]"), &mut kind, covered);
                    kind
                })
                .collect();
            out.push_str(&format!("{kinds:?}"));
        }
        leaf if covered(path, leaf) => out.push_str(leaf.kind()),
        leaf => out.push_str(&format!("{leaf:?}")),
    }
}
