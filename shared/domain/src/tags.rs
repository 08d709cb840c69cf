//! The tags of an article (contract 3.3).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::error::Rule;

const LONGEST_TAG: usize = 64;
const MOST_TAGS: usize = 100;

/// Reads a `tagList`: trimmed, without blank ones and duplicates, in ascending order of code points.
///
/// # Errors
/// [`Rule::Invalid`] for anything but an array of strings without U+0000, [`Rule::TooLong`] for a tag over 64 characters,
/// [`Rule::TooManyTags`] for more than 100 different tags; judged in that order.
pub fn tag_list(value: Value) -> Result<Vec<String>, Rule> {
    let Value::Array(elements) = value else {
        return Err(Rule::Invalid);
    };
    let texts = elements.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
    let tags: BTreeSet<String> = texts
        .iter()
        .map(|text| text.trim())
        .filter(|tag| !tag.is_empty())
        .map(str::to_owned)
        .collect();
    if tags.iter().any(|tag| tag.chars().count() > LONGEST_TAG) {
        return Err(Rule::TooLong(LONGEST_TAG));
    }
    if tags.len() > MOST_TAGS {
        return Err(Rule::TooManyTags(MOST_TAGS));
    }
    Ok(tags.into_iter().collect())
}

fn text(element: Value) -> Result<String, Rule> {
    match element {
        Value::String(text) if !text.contains('\0') => Ok(text),
        _ => Err(Rule::Invalid),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_are_trimmed_unique_and_in_order_of_code_points() {
        let read = tag_list(json!([
            "training", "dragons", "Zoo", "éclair", " a ", "a", "", "  "
        ]));
        assert_eq!(read.unwrap(), ["Zoo", "a", "dragons", "training", "éclair"]);
    }

    #[test]
    fn what_is_no_list_of_texts_is_invalid() {
        for value in [
            json!(null),
            json!("x"),
            json!(""),
            json!({}),
            json!(5),
            json!([1]),
            json!([null]),
            json!(["a\0"]),
        ] {
            assert_eq!(tag_list(value.clone()), Err(Rule::Invalid), "{value}");
        }
    }

    #[test]
    fn bounds_are_judged_in_order() {
        let many = |n: usize| json!((0..n).map(|i| format!("t{i}")).collect::<Vec<_>>());
        assert!(tag_list(many(100)).is_ok());
        assert_eq!(tag_list(many(101)), Err(Rule::TooManyTags(100)));
        assert_eq!(tag_list(json!(vec!["same"; 101])).unwrap(), ["same"]);
        assert_eq!(
            tag_list(json!([format!(" {} ", "é".repeat(64))])).unwrap().len(),
            1
        );
        assert_eq!(tag_list(json!(["é".repeat(65)])), Err(Rule::TooLong(64)));
        assert_eq!(tag_list(json!(["x".repeat(65), 5])), Err(Rule::Invalid));
    }
}
