//! Paging (contract 3.6, 3.10).

use crate::error::{Error, Fault, Field, Result, Rule};

/// The part of a list that a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// At most this many elements, 1 or more.
    pub limit: i64,
    /// After this many, 0 or more.
    pub offset: i64,
}

/// The bounds of one kind of list.
#[derive(Clone, Copy, Debug)]
pub struct PageRules {
    default_limit: i64,
    largest_limit: i64,
}

/// Articles: 20 unless asked, never over 100 (contract 3.6).
pub const ARTICLES: PageRules = PageRules {
    default_limit: 20,
    largest_limit: 100,
};
/// Comments: the newest 1 000 (contract 3.10).
pub const COMMENTS: PageRules = PageRules {
    default_limit: 1000,
    largest_limit: 1000,
};

impl PageRules {
    /// Reads the two query parameters; `None` or an empty value counts as absent.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming each parameter that is no number or too small.
    pub fn page(self, limit: Option<&str>, offset: Option<&str>) -> Result<Page> {
        let limit = number(Field::Limit, limit, self.default_limit, 1);
        let offset = number(Field::Offset, offset, 0, 0);
        match (limit, offset) {
            (Ok(limit), Ok(offset)) => Ok(Page {
                limit: limit.min(self.largest_limit),
                offset,
            }),
            (limit, offset) => Err(Error::Invalid(
                [limit.err(), offset.err()].into_iter().flatten().collect(),
            )),
        }
    }
}

fn number(field: Field, text: Option<&str>, default: i64, least: i64) -> Result<i64, Fault> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(default);
    };
    let value = integer(text).ok_or(Fault {
        field,
        rule: Rule::NotANumber,
    })?;
    if value < least {
        return Err(Fault {
            field,
            rule: Rule::Below(least),
        });
    }
    Ok(value)
}

/// `^-?[0-9]+$`; what the type cannot hold is the nearest value that it can.
fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let nearest = if digits.len() == text.len() {
        i64::MAX
    } else {
        i64::MIN
    };
    Some(text.parse().unwrap_or(nearest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(limit: &str, offset: &str) -> Result<Page, Vec<(Field, Rule)>> {
        ARTICLES
            .page(Some(limit), Some(offset))
            .map_err(|error| match error {
                Error::Invalid(faults) => faults.into_iter().map(|f| (f.field, f.rule)).collect(),
                _ => Vec::new(),
            })
    }

    #[test]
    fn absent_and_empty_are_the_defaults() {
        assert_eq!(ARTICLES.page(None, None).unwrap(), Page { limit: 20, offset: 0 });
        assert_eq!(read("", ""), Ok(Page { limit: 20, offset: 0 }));
        assert_eq!(COMMENTS.page(None, None).unwrap().limit, 1000);
    }

    #[test]
    fn too_large_acts_as_the_nearest() {
        let digits = "9".repeat(30);
        assert_eq!(
            read("5000", &digits),
            Ok(Page {
                limit: 100,
                offset: i64::MAX
            })
        );
        assert_eq!(
            read(&digits, "007"),
            Ok(Page {
                limit: 100,
                offset: 7
            })
        );
        assert_eq!(
            read(&format!("-{digits}"), "0"),
            Err(vec![(Field::Limit, Rule::Below(1))])
        );
        assert_eq!(read("-0", "0"), Err(vec![(Field::Limit, Rule::Below(1))]));
    }

    #[test]
    fn both_faults_are_reported() {
        assert_eq!(
            read("x", "-1"),
            Err(vec![
                (Field::Limit, Rule::NotANumber),
                (Field::Offset, Rule::Below(0))
            ])
        );
        for text in ["abc", "1.5", "+1", " 1", "-", "１"] {
            assert_eq!(
                read(text, "0"),
                Err(vec![(Field::Limit, Rule::NotANumber)]),
                "{text}"
            );
        }
    }
}
