//! The HTML page: whole, well-formed, and without anything from elsewhere.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use bench::report::Report;

use super::fixture;

/// Elements that have no end.
const VOID: [&str; 4] = ["meta", "!doctype", "link", "br"];

fn page() -> &'static str {
    static PAGE: OnceLock<String> = OnceLock::new();
    PAGE.get_or_init(|| fixture::report().html().unwrap())
}

/// Names of tags in their order, an end with its `/`, nothing for those that end themselves.
fn tags(page: &str) -> Vec<(String, String)> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        let (inside, after) = after.split_once('>').unwrap();
        let name = inside.split_whitespace().next().unwrap_or_default();
        if !inside.ends_with('/') {
            tags.push((name.to_lowercase(), inside.to_owned()));
        }
        rest = after;
        if name == "style" {
            rest = rest.split_once("</style>").unwrap().1;
            tags.push(("/style".to_owned(), "/style".to_owned()));
        }
    }
    tags
}

#[test]
fn every_element_that_begins_ends_in_its_place() {
    let mut open: Vec<String> = Vec::new();
    for (name, inside) in tags(page()) {
        match name.strip_prefix('/') {
            Some(ended) => assert_eq!(open.pop().as_deref(), Some(ended), "<{inside}>"),
            None if VOID.contains(&name.as_str()) => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn nothing_comes_from_elsewhere() {
    let page = page();
    for (_, inside) in tags(page) {
        for loading in ["src=", "srcset=", "xlink:", "<script", "@import", " on"] {
            assert!(!inside.contains(loading), "<{inside}>");
        }
        if let Some((_, target)) = inside.split_once("href=\"") {
            assert!(target.starts_with('#'), "<{inside}>");
        }
    }
    let without_names = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for text in [
        "http://", "https://", "url(", "@import", "<script", "<link", "<iframe",
    ] {
        assert!(!without_names.contains(text), "{text}");
    }
}

#[test]
fn links_lead_to_parts_that_are_there() {
    let tags = tags(page());
    let named = |attribute: &str| -> BTreeSet<String> {
        let mark = format!("{attribute}=\"");
        let values = tags.iter().filter_map(|(_, inside)| inside.split_once(&mark));
        values
            .map(|(_, rest)| rest.split('"').next().unwrap().trim_start_matches('#').to_owned())
            .collect()
    };
    assert_eq!(named("href"), named("id"));
    assert!(named("id").len() > 12);
}

#[test]
fn what_others_wrote_is_text() {
    let page = page();
    assert!(page.contains("process articles &lt;ended&gt; with status 1"));
    assert!(page.contains("Test data &lt;not a processor&gt;"));
    assert!(!page.contains("<ended>") && !page.contains("<not a"));
    // Not escaped twice.
    assert!(!page.contains("&amp;lt;") && !page.contains("&lt;svg"));
}

#[test]
fn every_chart_has_a_name_and_only_inks_of_the_style_sheet() {
    let page = page();
    let drawings = page
        .matches("class=\"drawing\" role=\"img\" aria-label=\"")
        .count();
    assert_eq!(drawings, page.matches("<svg").count());
    assert!(drawings >= 8, "{drawings}");
    let svgs = page
        .split("<svg")
        .skip(1)
        .map(|rest| rest.split("</svg>").next().unwrap());
    for svg in svgs {
        for attribute in ["fill=\"#", "stroke=\"#"] {
            for colour in svg
                .split(attribute)
                .skip(1)
                .filter_map(|rest| rest.split('"').next())
            {
                assert!(
                    page.contains(&format!("svg [{attribute}{colour}\"]")),
                    "{attribute}{colour}"
                );
            }
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn what_was_not_measured_is_said_and_not_drawn() {
    let root = tempfile::tempdir().unwrap();
    let cells = fixture::closed(&[("monolith", &[100.0, 102.0, 104.0])]);
    let folder = fixture::folder(&root.path().join("a"), &fixture::run(), &cells);
    let page = Report::of(&folder).unwrap().html().unwrap();
    assert!(page.contains(
        "Not measured in this plan: users held, overload, processor quotas, growth of the data, batching"
    ));
    for id in ["capacity", "overload", "quotas", "growth"] {
        assert!(!page.contains(&format!("id=\"{id}\"")), "{id}");
    }
}

#[test]
fn a_run_without_a_single_cell_still_has_a_page() {
    let root = tempfile::tempdir().unwrap();
    let folder = fixture::folder(&root.path().join("a"), &fixture::run(), &[]);
    let page = Report::of(&folder).unwrap().html().unwrap();
    assert!(page.contains("id=\"method\"") && !page.contains("<svg"));
}
