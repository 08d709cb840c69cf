//! What a handler is given: a request that has passed steps 0 to 5 of contract 1.8.

use std::borrow::Cow;

use conduit_app::ListQuery;
use conduit_domain::error::Resource;
use conduit_domain::{AccountId, Body, Error, Page, Result, Viewer};
use percent_encoding::percent_decode_str;

use crate::query::Query;
use crate::route::Names;

/// A request as its handler sees it. What the route's row does not ask for is not there.
pub(crate) struct Call<'r> {
    pub(crate) caller: Option<AccountId>,
    pub(crate) names: Names<'r>,
    pub(crate) query: Query<'r>,
    pub(crate) page: Option<Page>,
    pub(crate) body: Option<Body>,
}

impl<'r> Call<'r> {
    /// Who is signed in.
    ///
    /// # Errors
    /// [`Error::TokenMissing`]; not on routes that require a token.
    pub(crate) fn caller(&self) -> Result<AccountId> {
        self.caller.ok_or(Error::TokenMissing)
    }

    /// Who looks.
    pub(crate) fn viewer(&self) -> Viewer {
        self.caller.into()
    }

    /// The article that the path names.
    ///
    /// # Errors
    /// [`Error::NotFound`] if no article can have that name.
    pub(crate) fn slug(&self) -> Result<Cow<'r, str>> {
        self.name(0).ok_or(Error::NotFound(Resource::Article))
    }

    /// The account that the path names.
    ///
    /// # Errors
    /// [`Error::NotFound`] if no account can have that name.
    pub(crate) fn username(&self) -> Result<Cow<'r, str>> {
        self.name(0).ok_or(Error::NotFound(Resource::Profile))
    }

    /// The comment that the path names behind its article; empty, which is no comment's id, if it is no text. The article is
    /// judged first (contract 1.8, step 6), so this is not for here to refuse.
    pub(crate) fn comment_id(&self) -> Cow<'r, str> {
        self.name(1).unwrap_or_default()
    }

    /// The part of the list that is asked for.
    ///
    /// # Errors
    /// [`Error::Internal`] on a route whose row has no paging.
    pub(crate) fn page(&self) -> Result<Page> {
        self.page
            .ok_or_else(|| Error::Internal("the table gives this route no page".into()))
    }

    /// All that a list of articles can be asked for.
    ///
    /// # Errors
    /// [`Error::Internal`] on a route whose row has no paging.
    pub(crate) fn list_query(&mut self) -> Result<ListQuery> {
        let page = self.page()?;
        let Query {
            tag,
            author,
            favorited,
            ..
        } = std::mem::take(&mut self.query);
        let owned = |value: Option<Cow<'_, str>>| value.map(Cow::into_owned);
        Ok(ListQuery {
            tag: owned(tag),
            author: owned(author),
            favorited: owned(favorited),
            page,
        })
    }

    /// The body.
    ///
    /// # Errors
    /// [`Error::Internal`] on a route whose row has no input.
    pub(crate) fn body(&mut self) -> Result<Body> {
        self.body
            .take()
            .ok_or_else(|| Error::Internal("the table gives this route no input".into()))
    }

    /// The raw name, for files.
    pub(crate) fn raw_name(&self) -> Option<&'r str> {
        self.names.0.first().copied().flatten()
    }

    /// A name, percent-decoded once; `None` if that is not UTF-8 (contract 1.1).
    fn name(&self, index: usize) -> Option<Cow<'r, str>> {
        let raw = self.names.0.get(index).copied().flatten()?;
        percent_decode_str(raw).decode_utf8().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(first: &str) -> Call<'_> {
        let names = Names([Some(first), Some("%FF")]);
        Call {
            caller: None,
            names,
            query: Query::default(),
            page: None,
            body: None,
        }
    }

    #[test]
    fn names_are_decoded_once() {
        for (raw, name) in [
            ("plain", "plain"),
            ("Zo%C3%AB%20van", "Zoë van"),
            ("a+b", "a+b"),
            ("a%2Fb", "a/b"),
            ("%2500", "%00"),
            ("%252F", "%2F"),
            ("100%", "100%"),
            ("%EF%BF%BD", "\u{fffd}"),
            ("ü", "ü"),
            ("..", ".."),
        ] {
            assert_eq!(named(raw).username().unwrap(), name);
        }
    }

    #[test]
    fn what_is_not_utf8_names_nothing() {
        for raw in ["%FF", "a%C3", "%ED%A0%80"] {
            assert!(
                matches!(named(raw).slug(), Err(Error::NotFound(Resource::Article))),
                "{raw}"
            );
            assert!(
                matches!(named(raw).username(), Err(Error::NotFound(Resource::Profile))),
                "{raw}"
            );
        }
        assert_eq!(named("x").comment_id(), "");
    }
}
