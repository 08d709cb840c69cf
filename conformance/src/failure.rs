//! Why a check did not pass, told so that a reader can repeat and see it.

use std::fmt;
use std::sync::Arc;

use crate::curl;
use crate::log::Exchange;

/// What a check ends with.
pub type Outcome = Result<(), Failure>;

/// A check that did not pass.
#[derive(Clone, Debug)]
pub enum Failure {
    /// It could not be made, for this reason. Never counts as passed.
    Skipped(String),
    /// The deployment did something else than the contract says.
    Failed(Box<Report>),
    /// The deployment did not answer, or not to the end.
    Unanswered(Box<Report>),
}

/// What is known about a failure.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was judged.
    pub what: String,
    /// What the contract wants there, if it can be said in bytes.
    pub expected: Option<Vec<u8>>,
    /// What came there.
    pub came: Option<Vec<u8>>,
    /// The exchange it is about.
    pub exchange: Option<Arc<Exchange>>,
}

impl Failure {
    /// A failure that is told by a sentence alone.
    pub fn told(what: impl Into<String>) -> Self {
        Self::Failed(Box::new(Report {
            what: what.into(),
            ..Report::default()
        }))
    }

    /// A failure where something else came than was expected.
    pub fn differs(what: impl Into<String>, expected: impl Into<Vec<u8>>, came: impl Into<Vec<u8>>) -> Self {
        let (expected, came) = (Some(expected.into()), Some(came.into()));
        Self::Failed(Box::new(Report {
            what: what.into(),
            expected,
            came,
            exchange: None,
        }))
    }

    /// The same failure, about this exchange unless it already is about one.
    #[must_use]
    pub fn about(mut self, exchange: &Arc<Exchange>) -> Self {
        if let Self::Failed(report) | Self::Unanswered(report) = &mut self {
            report.exchange.get_or_insert_with(|| Arc::clone(exchange));
        }
        self
    }

    /// The report, if the deployment is to blame.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Skipped(_) => None,
            Self::Failed(report) | Self::Unanswered(report) => Some(report),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skipped(why) => write!(f, "skipped: {why}"),
            Self::Failed(report) | Self::Unanswered(report) => report.fmt(f),
        }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(exchange) = &self.exchange {
            write!(f, "\n  request:  {}", curl::line(exchange))?;
        }
        if let Some(expected) = &self.expected {
            write!(f, "\n  expected: {}", shown(expected))?;
        }
        if let Some(came) = &self.came {
            write!(f, "\n  came:     {}", shown(came))?;
        }
        if let (Some(expected), Some(came)) = (&self.expected, &self.came) {
            write!(f, "\n  {}", first_difference(expected, came))?;
        }
        match self.exchange.as_deref().map(|exchange| &exchange.outcome) {
            Some(Ok(response)) => {
                write!(f, "\n  answer:   {}", response.status)?;
                for (name, value) in &response.headers.0 {
                    write!(f, " | {name}: {}", String::from_utf8_lossy(value))?;
                }
                write!(f, "\n            {}", shown(&response.body))
            }
            _ => Ok(()),
        }
    }
}

/// Where two byte strings part: the offset and what stands there on either side.
pub fn first_difference(expected: &[u8], came: &[u8]) -> String {
    let at = expected.iter().zip(came).take_while(|(a, b)| a == b).count();
    if at == expected.len() && at == came.len() {
        return "no difference in bytes".to_owned();
    }
    let start = at.saturating_sub(20);
    let piece = |bytes: &[u8]| match bytes.get(at) {
        None => format!("the end (after {} bytes)", bytes.len()),
        Some(byte) => format!("0x{byte:02x} in `{}`", window(bytes, start, at + 20)),
    };
    format!(
        "first difference at byte {at}: expected {}, came {}",
        piece(expected),
        piece(came)
    )
}

const SHOWN: usize = 700;

/// The bytes as text that a person can read, cut if there are many.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = window(bytes, 0, SHOWN);
    match bytes.len() {
        0 => "(no bytes)".to_owned(),
        length if length > SHOWN => format!("{text} … ({length} bytes)"),
        _ => text,
    }
}

/// A piece as text, with what is not UTF-8 or not printable escaped.
fn window(bytes: &[u8], start: usize, end: usize) -> String {
    let piece = bytes.get(start..end.min(bytes.len())).unwrap_or_default();
    let mut out = String::new();
    for chunk in piece.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c.is_control() {
                true => out.extend(c.escape_default()),
                false => out.push(c),
            }
        }
        chunk
            .invalid()
            .iter()
            .for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_byte_is_named() {
        let text = first_difference(b"{\"title\":\"a\"}", b"{\"title\":\"b\"}");
        assert!(
            text.starts_with("first difference at byte 10: expected 0x61"),
            "{text}"
        );
        let short = first_difference(b"abc", b"ab");
        assert!(short.ends_with("came the end (after 2 bytes)"), "{short}");
    }

    #[test]
    fn odd_bytes_are_shown_not_dropped() {
        assert_eq!(window(b"a\xff\n\xc3\xa9", 0, 5), "a\\xff\\né");
    }
}
