//! Articles: what is shown, and the two bodies that make and change them.

use crate::account::{NameKey, Profile};
use crate::clock::Timestamp;
use crate::error::{Field, Result};
use crate::ids::ArticleId;
use crate::input::Body;
use crate::tags::tag_list;
use crate::text::{ARTICLE_BODY, DESCRIPTION, TITLE};

/// An article as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleSummary {
    /// Permanent, not shown.
    pub id: ArticleId,
    /// Changes with the title (contract 3.1).
    pub slug: String,
    /// As typed, trimmed.
    pub title: String,
    /// As typed, trimmed.
    pub description: String,
    /// In ascending order of code points (contract 3.3).
    pub tag_list: Vec<String>,
    /// Never changes.
    pub created_at: Timestamp,
    /// Grows with every change.
    pub updated_at: Timestamp,
    /// Whether the viewer has it as a favorite.
    pub favorited: bool,
    /// How many accounts have.
    pub favorites_count: i64,
    /// Who wrote it.
    pub author: Profile,
}

/// An article as its own page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    /// All but the body.
    pub summary: ArticleSummary,
    /// As typed.
    pub body: String,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticlePage {
    /// The page, newest first.
    pub articles: Vec<ArticleSummary>,
    /// All matches, before limit and offset.
    pub total: i64,
}

/// Which articles a list holds; all that is given must hold (contract 3.6).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleFilter {
    /// Carries this tag, exactly. Never holds U+0000.
    pub tag: Option<String>,
    /// Written by this account.
    pub author: Option<NameKey>,
    /// A favorite of this account.
    pub favorited: Option<NameKey>,
}

impl ArticleFilter {
    /// Reads the three query parameters; `None` or an empty value counts as absent. `Ok(None)` when no article can match,
    /// because nobody can have such a name or tag.
    pub fn read(tag: Option<&str>, author: Option<&str>, favorited: Option<&str>) -> Option<Self> {
        let given = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
        let key = |text: Option<&str>| match given(text) {
            None => Some(None),
            Some(text) => NameKey::of(&text).map(Some),
        };
        let tag = match given(tag) {
            Some(text) if text.contains('\0') || text.trim().is_empty() => return None,
            tag => tag.map(|text| text.trim().to_owned()),
        };
        Some(Self {
            tag,
            author: key(author)?,
            favorited: key(favorited)?,
        })
    }
}

/// A valid new article (contract 2.11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewArticle {
    /// As typed, trimmed.
    pub title: String,
    /// As typed, trimmed.
    pub description: String,
    /// As typed.
    pub body: String,
    /// In ascending order of code points.
    pub tag_list: Vec<String>,
}

impl NewArticle {
    /// Reads `{"article":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) with every field at fault.
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::Article, "article")?;
        let title = fields.required("title", &TITLE);
        let description = fields.required("description", &DESCRIPTION);
        let body = fields.required("body", &ARTICLE_BODY);
        let tag_list = fields
            .member("tagList", Field::TagList, tag_list)
            .unwrap_or_default();
        let texts = title.zip(description).zip(body);
        fields.finish(texts.map(|((title, description), body)| Self {
            title,
            description,
            body,
            tag_list,
        }))
    }
}

/// A valid change of an article (contract 2.12). `None` leaves a field as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticleChanges {
    /// As typed, trimmed.
    pub title: Option<String>,
    /// As typed, trimmed.
    pub description: Option<String>,
    /// As typed.
    pub body: Option<String>,
    /// Replaces all tags.
    pub tag_list: Option<Vec<String>>,
}

impl ArticleChanges {
    /// Reads `{"article":{…}}`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) with every field at fault.
    pub fn parse(body: Body) -> Result<Self> {
        let mut fields = body.open(Field::Article, "article")?;
        let changes = Self {
            title: fields.changed("title", &TITLE),
            description: fields.changed("description", &DESCRIPTION),
            body: fields.changed("body", &ARTICLE_BODY),
            tag_list: fields.member("tagList", Field::TagList, tag_list),
        };
        fields.finish(Some(changes))
    }

    /// Whether nothing changes (contract 3.2).
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, Rule};

    fn body(text: &str) -> Body {
        Body::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn faults_come_in_the_order_of_the_contract() {
        let read = NewArticle::parse(body(
            r#"{"article":{"tagList":null,"title":5,"description":[],"body":{}}}"#,
        ));
        let Err(Error::Invalid(faults)) = read else {
            panic!("accepted")
        };
        let fields: Vec<_> = faults.iter().map(|f| (f.field, f.rule)).collect();
        let expected =
            [Field::Title, Field::Description, Field::Body, Field::TagList].map(|f| (f, Rule::Invalid));
        assert_eq!(fields, expected);
    }

    #[test]
    fn an_empty_change_is_a_change_of_nothing() {
        assert!(
            ArticleChanges::parse(body(r#"{"article":{"slug":"x"}}"#))
                .unwrap()
                .is_empty()
        );
        assert!(
            !ArticleChanges::parse(body(r#"{"article":{"tagList":[]}}"#))
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn empty_filters_are_absent_and_impossible_ones_match_nothing() {
        assert_eq!(
            ArticleFilter::read(Some(""), Some(""), None),
            Some(ArticleFilter::default())
        );
        let read = ArticleFilter::read(Some(" rust "), Some("Ann"), None).unwrap();
        assert_eq!(read.tag.as_deref(), Some("rust"));
        assert_eq!(read.author, NameKey::of("ann"));
        for (tag, author, fan) in [
            (Some("a\0"), None, None),
            (None, Some("\0"), None),
            (None, None, Some("\0")),
            (Some(" "), None, None),
        ] {
            assert_eq!(ArticleFilter::read(tag, author, fan), None);
        }
    }
}
