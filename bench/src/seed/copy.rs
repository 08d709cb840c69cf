//! Rows as `copy … from stdin` takes them.

use std::fmt::Write as _;

/// Rows in `copy`'s text format.
#[derive(Default)]
pub(super) struct Rows {
    text: String,
    count: u64,
}

/// A row that is being written.
pub(super) struct Row<'a> {
    rows: &'a mut Rows,
    first: bool,
}

impl Rows {
    pub(super) fn row(&mut self) -> Row<'_> {
        Row {
            rows: self,
            first: true,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// All rows so far and how many, which then are no longer here.
    pub(super) fn take(&mut self) -> (Vec<u8>, u64) {
        let count = std::mem::take(&mut self.count);
        (std::mem::take(&mut self.text).into_bytes(), count)
    }
}

impl Row<'_> {
    pub(super) fn number(mut self, number: i64) -> Self {
        self.next();
        let _ = write!(self.rows.text, "{number}");
        self
    }

    pub(super) fn texts<const N: usize>(mut self, texts: [&str; N]) -> Self {
        for text in texts {
            self.next();
            escape(text, &mut self.rows.text);
        }
        self
    }

    pub(super) fn optional(mut self, text: Option<&str>) -> Self {
        if let Some(text) = text {
            return self.texts([text]);
        }
        self.next();
        self.rows.text.push_str("\\N");
        self
    }

    pub(super) fn end(self) {
        self.rows.text.push('\n');
        self.rows.count += 1;
    }

    fn next(&mut self) {
        if !std::mem::take(&mut self.first) {
            self.rows.text.push('\t');
        }
    }
}

fn escape(text: &str, to: &mut String) {
    for letter in text.chars() {
        match letter {
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            other => to.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_what_copy_reads() {
        let mut rows = Rows::default();
        rows.row()
            .number(7)
            .texts(["a\tb\\", "c\nd"])
            .optional(None)
            .end();
        rows.row().optional(Some("x")).number(-1).end();
        let (bytes, count) = rows.take();
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "7\ta\\tb\\\\\tc\\nd\t\\N\nx\t-1\n"
        );
        assert_eq!((count, rows.take().1), (2, 0));
    }
}
