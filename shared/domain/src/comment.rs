//! Comments: what is shown, and the body that makes one.

use crate::account::Profile;
use crate::clock::Timestamp;
use crate::error::{Field, Result};
use crate::ids::{ArticleId, CommentId};
use crate::input::Body;
use crate::text::COMMENT_BODY;

/// A comment. There is no editing, so one time serves for both that are shown (contract 3.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Shown.
    pub id: CommentId,
    /// When it was made.
    pub created_at: Timestamp,
    /// As typed.
    pub body: String,
    /// Who wrote it.
    pub author: Profile,
}

/// Where a comment is about to be put, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentTarget {
    /// The article.
    pub article: ArticleId,
    /// The caller as an author; `None` if the account does not exist any more.
    pub author: Option<Profile>,
}

/// A valid new comment (contract 2.15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// As typed.
    pub body: String,
}

impl NewComment {
    /// Reads `{"comment":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid).
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::Comment, "comment")?;
        let body = fields.required("body", &COMMENT_BODY);
        fields.finish(body.map(|body| Self { body }))
    }
}

/// Reads the id in a path: `^[1-9][0-9]*$` within the integer type; anything else names no comment (contract 3.10).
pub fn comment_id(text: &str) -> Option<CommentId> {
    let decimal = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    decimal.then(|| text.parse().ok()).flatten().map(CommentId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_positive_integer_names_a_comment() {
        for text in [
            "abc",
            "0",
            "-1",
            "1.0",
            "+1",
            "01",
            "",
            " 1",
            "1 ",
            "9223372036854775808",
            &"9".repeat(30),
        ] {
            assert_eq!(comment_id(text), None, "{text}");
        }
        assert_eq!(comment_id("9223372036854775807"), Some(CommentId(i64::MAX)));
        assert_eq!(comment_id("12"), Some(CommentId(12)));
    }
}
