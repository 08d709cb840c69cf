//! Query strings as form data (contract 1.1).

use std::borrow::Cow;

use conduit_domain::page::PageRules;
use conduit_domain::{Page, Result};

/// The parameters that routes know. Decoded; the last one of a name counts; bytes that are not UTF-8 are U+FFFD. Empty ones are
/// kept: whoever reads them takes them for absent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Query<'r> {
    pub(crate) tag: Option<Cow<'r, str>>,
    pub(crate) author: Option<Cow<'r, str>>,
    pub(crate) favorited: Option<Cow<'r, str>>,
    limit: Option<Cow<'r, str>>,
    offset: Option<Cow<'r, str>>,
}

impl<'r> Query<'r> {
    /// Reads what stands behind the `?`.
    pub(crate) fn parse(text: &'r str) -> Self {
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let parameter = match &*name {
                "tag" => &mut query.tag,
                "author" => &mut query.author,
                "favorited" => &mut query.favorited,
                "limit" => &mut query.limit,
                "offset" => &mut query.offset,
                _ => continue,
            };
            *parameter = Some(value);
        }
        query
    }

    /// The part of a list that is asked for.
    ///
    /// # Errors
    /// [`Error::Invalid`](conduit_domain::Error::Invalid).
    pub(crate) fn page(&self, rules: PageRules) -> Result<Page> {
        rules.page(self.limit.as_deref(), self.offset.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use conduit_domain::page::ARTICLES;

    use super::*;

    #[test]
    fn values_are_form_data() {
        for (text, tag) in [
            ("tag=web+dev", "web dev"),
            ("tag=C%2B%2B", "C++"),
            ("tag=%C3%BCn%C3%AF", "ünï"),
            ("tag=a%FFb", "a\u{fffd}b"),
            ("tag=%00", "\0"),
            ("tag=a&tag=b", "b"),
            ("tag=a&tag=", ""),
            ("tag", ""),
            ("%74ag=x", "x"),
            ("tag=100%", "100%"),
            ("tag=a=b", "a=b"),
            ("&&x=1&tag=a;b", "a;b"),
        ] {
            assert_eq!(Query::parse(text).tag.as_deref(), Some(tag), "{text}");
        }
        assert_eq!(Query::parse("").tag, None);
        assert_eq!(Query::parse("Tag=x&tags=y"), Query::default());
    }

    #[test]
    fn paging_counts_the_last_one_and_takes_empty_for_absent() {
        let page = |text| Query::parse(text).page(ARTICLES).ok();
        assert_eq!(page(""), Some(Page { limit: 20, offset: 0 }));
        assert_eq!(page("limit=&offset="), Some(Page { limit: 20, offset: 0 }));
        assert_eq!(page("limit=5&limit="), Some(Page { limit: 20, offset: 0 }));
        assert_eq!(
            page("limit=1&offset=7&limit=2"),
            Some(Page { limit: 2, offset: 7 })
        );
        assert_eq!(page("limit=+1"), None);
        assert_eq!(page("limit=x"), None);
    }
}
