//! What a report is made of. The HTML page and the Markdown text show the same sections; charts are on the page only, and each
//! has its figures in a table.

use serde::Serialize;

/// A part of the report.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Section {
    /// Where links lead.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Before the figures.
    pub(crate) text: Vec<String>,
    pub(crate) parts: Vec<Part>,
    /// A title and a text that is shown as it is, when asked for.
    pub(crate) verbatim: Option<(&'static str, String)>,
    /// After the figures.
    pub(crate) notes: Vec<String>,
}

/// Figures that belong together.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) title: String,
    pub(crate) charts: Vec<Chart>,
    pub(crate) table: Option<Table>,
}

/// A drawing.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// Also what is read to those who do not see it.
    pub(crate) title: String,
    /// The drawing itself, already escaped.
    pub(crate) svg: String,
    /// Names of the colours, from 0.
    pub(crate) legend: Vec<String>,
}

/// Figures.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Which columns hold words; the others hold figures.
    pub(crate) words: Vec<bool>,
    /// Whether it is shown only when asked for.
    pub(crate) folded: bool,
}

impl Section {
    pub(crate) fn new(id: &'static str, title: &'static str) -> Self {
        Self {
            id,
            title,
            ..Self::default()
        }
    }

    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.text.push(text.into());
        self
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// A table alone.
    pub(crate) fn table(self, title: impl Into<String>, table: Table) -> Self {
        self.part(Part {
            title: title.into(),
            charts: Vec::new(),
            table: Some(table),
        })
    }
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|name| (*name).to_owned()).collect(),
            ..Self::default()
        }
    }

    pub(crate) fn row(&mut self, row: impl IntoIterator<Item = String>) {
        let row: Vec<String> = row.into_iter().collect();
        self.words.resize(self.words.len().max(row.len()), false);
        for (words, value) in self.words.iter_mut().zip(&row) {
            *words |= value.starts_with(char::is_alphabetic);
        }
        self.rows.push(row);
    }
}
