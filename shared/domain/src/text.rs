//! The rules for one text field, in the order of contract 1.9: required, type, U+0000, blank, form, length. The first rule that
//! a value breaks is the one reported.

use serde_json::Value;

use crate::error::{Field, Rule};

/// What is kept of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    /// Without Unicode white space at both ends.
    Trimmed,
    /// Every character.
    AsSent,
}

/// A field with its rules. Lengths are Unicode code points of what is kept.
#[derive(Clone, Copy, Debug)]
pub struct TextField {
    /// The field.
    pub field: Field,
    keep: Keep,
    shortest: usize,
    longest: usize,
    well_formed: fn(&str) -> bool,
}

const fn trimmed(field: Field, longest: usize) -> TextField {
    TextField {
        field,
        keep: Keep::Trimmed,
        shortest: 0,
        longest,
        well_formed: any_form,
    }
}

const fn as_sent(field: Field, longest: usize) -> TextField {
    TextField {
        field,
        keep: Keep::AsSent,
        shortest: 0,
        longest,
        well_formed: any_form,
    }
}

/// `username`, shown as typed.
pub const USERNAME: TextField = TextField {
    well_formed: is_username,
    ..trimmed(Field::Username, 64)
};
/// `email`, shown as typed.
pub const EMAIL: TextField = TextField {
    well_formed: is_email,
    ..trimmed(Field::Email, 254)
};
/// `password`, before it is hashed.
pub const PASSWORD: TextField = TextField {
    shortest: 8,
    ..as_sent(Field::Password, 256)
};
/// `bio`
pub const BIO: TextField = as_sent(Field::Bio, 2000);
/// `image`, any text.
pub const IMAGE: TextField = trimmed(Field::Image, 2048);
/// `title`
pub const TITLE: TextField = trimmed(Field::Title, 255);
/// `description`
pub const DESCRIPTION: TextField = trimmed(Field::Description, 1000);
/// `body` of an article; only the size of a request bounds it.
pub const ARTICLE_BODY: TextField = as_sent(Field::Body, usize::MAX);
/// `body` of a comment.
pub const COMMENT_BODY: TextField = as_sent(Field::Body, 10_000);

impl TextField {
    /// Reads a field that must be there and not blank.
    ///
    /// # Errors
    /// The first rule broken.
    pub fn required(&self, value: Option<Value>) -> Result<String, Rule> {
        self.optional(value)?.ok_or(Rule::Blank)
    }

    /// Reads a field whose absence, `null` and blank all mean "nothing".
    ///
    /// # Errors
    /// The first rule broken.
    pub fn optional(&self, value: Option<Value>) -> Result<Option<String>, Rule> {
        let text = match value {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text,
            Some(_) => return Err(Rule::Invalid),
        };
        if text.contains('\0') {
            return Err(Rule::Invalid);
        }
        if text.trim().is_empty() {
            return Ok(None);
        }
        self.judge(self.kept(text)).map(Some)
    }

    fn kept(&self, text: String) -> String {
        if self.keep == Keep::AsSent || text.trim().len() == text.len() {
            return text;
        }
        text.trim().to_owned()
    }

    fn judge(&self, text: String) -> Result<String, Rule> {
        if !(self.well_formed)(&text) {
            return Err(Rule::Invalid);
        }
        let length = text.chars().count();
        if length < self.shortest {
            return Err(Rule::TooShort(self.shortest));
        }
        if length > self.longest {
            return Err(Rule::TooLong(self.longest));
        }
        Ok(text)
    }

    /// Whether a text has more code points than the field may have.
    pub(crate) fn is_too_long(&self, text: &str) -> bool {
        text.chars().count() > self.longest
    }
}

fn any_form(_: &str) -> bool {
    true
}

/// A username stands in paths, so it has nothing that a path would read as its own.
fn is_username(text: &str) -> bool {
    let forbidden = |c: char| c.is_control() || matches!(c, '/' | '\\' | '?' | '#' | '%');
    text != "." && text != ".." && !text.contains(forbidden)
}

fn is_email(text: &str) -> bool {
    let well_placed = text
        .rsplit_once('@')
        .is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
    well_placed && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_broken_is_reported() {
        let long = "x".repeat(65);
        let cases = [
            (USERNAME, json!(null), Err(Rule::Blank)),
            (USERNAME, json!(5), Err(Rule::Invalid)),
            (USERNAME, json!("a\0b"), Err(Rule::Invalid)),
            (USERNAME, json!(" \t\u{3000}"), Err(Rule::Blank)),
            (USERNAME, json!("a/b"), Err(Rule::Invalid)),
            (USERNAME, json!("a\\b"), Err(Rule::Invalid)),
            (USERNAME, json!("a?b"), Err(Rule::Invalid)),
            (USERNAME, json!("a#b"), Err(Rule::Invalid)),
            (USERNAME, json!("a%b"), Err(Rule::Invalid)),
            (USERNAME, json!(".."), Err(Rule::Invalid)),
            (USERNAME, json!("a\u{7}b"), Err(Rule::Invalid)),
            (USERNAME, json!(long), Err(Rule::TooLong(64))),
            (
                USERNAME,
                json!(" Zoë van\u{a0}X "),
                Ok("Zoë van\u{a0}X".to_owned()),
            ),
            (EMAIL, json!("plain"), Err(Rule::Invalid)),
            (EMAIL, json!("@x"), Err(Rule::Invalid)),
            (EMAIL, json!("x@"), Err(Rule::Invalid)),
            (EMAIL, json!("a b@c"), Err(Rule::Invalid)),
            (EMAIL, json!("a@b@c"), Ok("a@b@c".to_owned())),
            (PASSWORD, json!("        "), Err(Rule::Blank)),
            (PASSWORD, json!("1234567"), Err(Rule::TooShort(8))),
            (PASSWORD, json!("🦀🦀🦀🦀🦀🦀🦀"), Err(Rule::TooShort(8))),
            (PASSWORD, json!(" pass word "), Ok(" pass word ".to_owned())),
            (COMMENT_BODY, json!("  a\n "), Ok("  a\n ".to_owned())),
        ];
        for (field, value, expected) in cases {
            assert_eq!(field.required(Some(value.clone())), expected, "{value}");
        }
        assert_eq!(TITLE.required(None), Err(Rule::Blank));
    }

    #[test]
    fn length_counts_code_points_of_what_is_kept() {
        for (field, longest) in [(USERNAME, 64), (TITLE, 255), (DESCRIPTION, 1000), (IMAGE, 2048)] {
            let fits = format!("  {}  ", "é".repeat(longest));
            assert_eq!(field.required(Some(json!(fits))), Ok("é".repeat(longest)));
            assert_eq!(
                field.required(Some(json!("é".repeat(longest + 1)))),
                Err(Rule::TooLong(longest))
            );
        }
        assert_eq!(
            BIO.required(Some(json!(" ".repeat(1999) + "x!"))),
            Err(Rule::TooLong(2000))
        );
    }

    #[test]
    fn blank_bio_and_image_are_nothing() {
        for value in [json!(null), json!(""), json!("   ")] {
            assert_eq!(BIO.optional(Some(value.clone())), Ok(None));
            assert_eq!(IMAGE.optional(Some(value)), Ok(None));
        }
        assert_eq!(BIO.optional(Some(json!([]))), Err(Rule::Invalid));
        assert_eq!(IMAGE.optional(Some(json!(" x "))), Ok(Some("x".to_owned())));
    }
}
