//! What the same request costs as the data grow.

use std::collections::BTreeSet;

use anyhow::Result;

use super::super::chart::{Line, Lines, Scale};
use super::super::data::{APP, DATABASE, Data, Group};
use super::super::number;
use super::super::section::{Part, Section, Table};
use super::told;
use crate::results::Key;

pub(super) fn section(data: &Data<'_>) -> Result<Option<Section>> {
    let mut section = Section::new("growth", "As the data grow")
        .text("A request must not cost more because there is more that it does not return: all but the depth of the indexes has to stay.");
    for family in families(data) {
        section = section.part(part(data, &family)?);
    }
    Ok((!section.parts.is_empty()).then_some(section))
}

fn sized(key: &Key, articles: u64) -> Key {
    Key {
        articles,
        ..key.clone()
    }
}

fn sizes(data: &Data<'_>, family: &Key) -> BTreeSet<u64> {
    let members = data.conditions(|key| key.articles > 0 && sized(&key.conditions(), 0) == *family);
    members.iter().map(|key| key.articles).collect()
}

/// Conditions that were measured with different amounts of data, by those at 0 articles.
fn families(data: &Data<'_>) -> BTreeSet<Key> {
    let all = data.conditions(|key| !key.mode.is_search());
    let families: BTreeSet<Key> = all.iter().map(|key| sized(key, 0)).collect();
    families
        .into_iter()
        .filter(|family| sizes(data, family).len() > 1)
        .collect()
}

fn part(data: &Data<'_>, family: &Key) -> Result<Part> {
    let sizes = sizes(data, family);
    let lines = data.layouts().iter().map(|layout| {
        let point = |&size: &u64| {
            Some((
                number::float(size),
                data.group(layout, &sized(family, size))?.median(DATABASE)?,
            ))
        };
        Line {
            name: layout.clone(),
            points: sizes.iter().filter_map(point).collect(),
        }
    });
    let name = told(family);
    let chart = Lines {
        title: "PostgreSQL's processor time per request".to_owned(),
        across: Scale::points(
            "articles",
            sizes.iter().map(|size| number::float(*size)).collect(),
        ),
        up: Scale::linear("µs per request"),
        lines: lines.collect(),
        marked: true,
    }
    .chart()?;
    let names: Vec<String> = sizes
        .iter()
        .map(|size| format!("{} articles", number::count(*size)))
        .collect();
    let head: Vec<&str> = ["layout"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain([
            "application, largest ÷ smallest",
            "PostgreSQL, largest ÷ smallest",
        ])
        .collect();
    let mut table = Table::new(&head);
    for layout in data.layouts() {
        let groups: Vec<_> = sizes
            .iter()
            .map(|&size| data.group(layout, &sized(family, size)))
            .collect();
        if groups.iter().any(Option::is_some) {
            table.row(row(layout, &groups));
        }
    }
    let allowed = allowed(&family.profile).map_or_else(String::new, |with| format!("; may grow with {with}"));
    Ok(Part {
        title: format!("{name}: application + PostgreSQL, µs{allowed}"),
        charts: chart.into_iter().collect(),
        table: Some(table),
    })
}

/// What a request may cost more with, as the design says; nothing of a mix, which is made of several kinds.
fn allowed(profile: &str) -> Option<&'static str> {
    match profile {
        "list" | "list-token" | "article" | "profile" | "comments" | "user" => {
            Some("nothing but the depth of the indexes")
        }
        "feed" => Some("the authors that the viewer follows"),
        "tags" => Some("the number of different tags"),
        "favorite" => Some("nothing"),
        _ => None,
    }
}

fn row(layout: &str, groups: &[Option<&Group<'_>>]) -> Vec<String> {
    let costs = groups.iter().map(|group| match group {
        Some(group) => format!(
            "{} + {}",
            number::optional(group.median(APP)),
            number::optional(group.median(DATABASE))
        ),
        None => number::NONE.to_owned(),
    });
    let ends = groups
        .first()
        .copied()
        .flatten()
        .zip(groups.last().copied().flatten());
    let grown = [APP, DATABASE].map(|metric| {
        let (smallest, largest) = ends?;
        Some(largest.median(metric)? / smallest.median(metric)?)
    });
    let grown = grown.map(|grown| grown.map_or_else(|| number::NONE.to_owned(), number::factor));
    std::iter::once(layout.to_owned())
        .chain(costs)
        .chain(grown)
        .collect()
}
