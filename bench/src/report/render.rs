//! Sections into text.

use anyhow::{Context as _, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::chart::{COLOURS, style_sheet};
use super::data::Data;
use super::noise::complaints;
use super::section::{Section, Table};

/// What of a text would mean something in a table of Markdown, or as HTML in it.
const SPECIAL: [char; 7] = ['|', '\\', '`', '*', '_', '<', '>'];

pub(super) fn html(data: &Data<'_>, sections: &[Section], missing: &[&str]) -> Result<String> {
    render("page.html", data, sections, missing)
}

pub(super) fn markdown(data: &Data<'_>, sections: &[Section], missing: &[&str]) -> Result<String> {
    render("page.md", data, sections, missing)
}

pub(super) fn excerpt(data: &Data<'_>, sections: &[Section]) -> Result<String> {
    render("excerpt.md", data, sections, &[])
}

/// Tables alone, each under its title.
pub(crate) fn markdown_tables(title: &str, text: &[String], tables: &[(String, Table)]) -> Result<String> {
    let variables = context! { title, text => Serde(text), tables => Serde(tables) };
    Ok(tidy(
        &environment()?.get_template("tables.md")?.render(variables)?,
    ))
}

fn render(template: &str, data: &Data<'_>, sections: &[Section], missing: &[&str]) -> Result<String> {
    let run = data.run;
    let variables = context! {
        run => Serde(run),
        complaints => complaints(data),
        unfinished => run.finished.is_none(),
        sections => Serde(sections),
        missing => Serde(missing),
        style => style_sheet(),
        colours => COLOURS,
    };
    let environment = environment()?;
    let text = environment.get_template(template)?.render(variables);
    let text = text.with_context(|| format!("rendering {template}"))?;
    Ok(if template.ends_with(".md") {
        tidy(&text)
    } else {
        text.trim_start().to_owned()
    })
}

/// Never more than one empty line.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.trim().lines().map(str::trim_end) {
        if !(line.is_empty() && tidied.ends_with("\n\n")) {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.set_auto_escape_callback(|name| {
        if name.ends_with(".html") {
            AutoEscape::Html
        } else {
            AutoEscape::None
        }
    });
    environment.add_filter("cell", cell);
    for (name, text) in [
        ("page.html", include_str!("templates/page.html.j2")),
        ("style.css", include_str!("templates/style.css")),
        ("page.md", include_str!("templates/page.md.j2")),
        ("excerpt.md", include_str!("templates/excerpt.md.j2")),
        ("tables.md", include_str!("templates/tables.md.j2")),
        ("parts.md", include_str!("templates/parts.md.j2")),
    ] {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// A value that stays inside its cell of a Markdown table.
fn cell(value: &str) -> String {
    // Brackets alone are ranges, and are to be read in a terminal as well.
    let links = value.contains("](");
    let mut text = String::with_capacity(value.len());
    for character in value.chars() {
        if SPECIAL.contains(&character) || (links && character == '[') {
            text.push('\\');
        }
        text.push(if character.is_control() { ' ' } else { character });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stays_in_its_cell() {
        let table = [
            ("split-http", "split-http"),
            ("a|b", "a\\|b"),
            ("one\ntwo", "one two"),
            ("115 [112–119]", "115 [112–119]"),
            ("[a](b)", "\\[a](b)"),
            ("<script>", "\\<script\\>"),
        ];
        for (value, text) in table {
            assert_eq!(cell(value), text);
        }
    }
}
