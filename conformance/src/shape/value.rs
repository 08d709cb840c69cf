//! Single values of a shape, each with the path to its place for the reader of a failure.

use super::Misfit;
use crate::json::Json;

pub(super) fn names<'a>(json: &'a Json, path: &str) -> Result<Vec<&'a str>, Misfit> {
    let Json::Object(members) = json else {
        return Err(format!("{path} is {}, not an object", json.kind()));
    };
    Ok(members.iter().map(|(name, _)| name.as_str()).collect())
}

pub(super) fn members<'a, const N: usize>(
    json: &'a Json,
    path: &str,
    wanted: [&str; N],
) -> Result<[&'a Json; N], Misfit> {
    let found = names(json, path)?;
    if found != wanted {
        return Err(format!(
            "{path} has the members {found:?}, not {wanted:?} in that order"
        ));
    }
    let values: Vec<&Json> = match json {
        Json::Object(members) => members.iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    values
        .try_into()
        .map_err(|_| format!("{path} has another number of members"))
}

pub(super) fn not_empty(path: &'static str) -> impl Fn(String) -> Result<String, Misfit> {
    move |value| {
        if value.is_empty() {
            Err(format!("{path} is empty"))
        } else {
            Ok(value)
        }
    }
}

pub(super) fn text(json: &Json, path: &str) -> Result<String, Misfit> {
    json.text()
        .map(str::to_owned)
        .ok_or_else(|| format!("{path} is {}, not a string", json.kind()))
}

pub(super) fn nullable(json: &Json, path: &str) -> Result<Option<String>, Misfit> {
    match json {
        Json::Null => Ok(None),
        Json::Text(text) => Ok(Some(text.clone())),
        other => Err(format!("{path} is {}, neither a string nor null", other.kind())),
    }
}

pub(super) fn flag(json: &Json, path: &str) -> Result<bool, Misfit> {
    let Json::Bool(value) = json else {
        return Err(format!("{path} is {}, not a boolean", json.kind()));
    };
    Ok(*value)
}

pub(super) fn integer(json: &Json, path: &str) -> Result<u64, Misfit> {
    let Json::Number(digits) = json else {
        return Err(format!("{path} is {}, not an integer", json.kind()));
    };
    digits
        .parse()
        .map_err(|_| format!("{path} is {digits}, not a non-negative integer"))
}

pub(super) fn list<'a>(json: &'a Json, path: &str) -> Result<&'a [Json], Misfit> {
    json.list()
        .ok_or_else(|| format!("{path} is {}, not an array", json.kind()))
}

pub(super) fn texts(json: &Json, path: &str) -> Result<Vec<String>, Misfit> {
    let read = |(i, item): (usize, &Json)| text(item, &format!("{path}[{i}]"));
    list(json, path)?.iter().enumerate().map(read).collect()
}

pub(super) fn time(json: &Json, path: &str) -> Result<String, Misfit> {
    let value = text(json, path)?;
    match is_time(&value) {
        true => Ok(value),
        false => Err(format!("{path} is {value:?}, not of the form of contract 1.6")),
    }
}

/// Whether the text is a time of contract 1.6: `0000-00-00T00:00:00.000Z` with any digits.
pub fn is_time(text: &str) -> bool {
    const FORM: &[u8] = b"0000-00-00T00:00:00.000Z";
    let fits = |(found, form): (u8, &u8)| {
        if *form == b'0' {
            found.is_ascii_digit()
        } else {
            found == *form
        }
    };
    text.len() == FORM.len() && text.bytes().zip(FORM).all(fits)
}
