//! The table of routes, and the regular expressions that nginx compares the raw target with.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// The table that ships with the repository.
const BUILT_IN: &str = include_str!("../../../routes.toml");

/// Which service answers which path: the first route that covers it, else the fallback.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteTable {
    /// The service for paths that no route covers.
    pub fallback: String,
    /// The routes, in the order in which they are compared.
    #[serde(rename = "route")]
    pub routes: Vec<Route>,
}

/// A path's beginning and the service that answers it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Segments; `*` is exactly one, whatever it is.
    pub pattern: String,
    /// The service's name.
    pub service: String,
}

/// What the templates take of the table.
#[derive(Debug, Serialize)]
pub(super) struct Expressions<'t> {
    fallback: &'t str,
    table: Vec<Expression<'t>>,
    services: BTreeSet<&'t str>,
}

#[derive(Debug, Serialize)]
struct Expression<'t> {
    expression: String,
    service: &'t str,
}

impl RouteTable {
    /// The repository's own table.
    ///
    /// # Errors
    /// The file that was compiled in is no route table.
    pub fn built_in() -> Result<Self> {
        Self::parse(BUILT_IN)
    }

    /// Reads a table from the text of a file.
    ///
    /// # Errors
    /// The text is no TOML of this form.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("the route table")
    }

    /// The names of all services in the table.
    #[must_use]
    pub fn services(&self) -> BTreeSet<&str> {
        let named = self.routes.iter().map(|route| route.service.as_str());
        named.chain([self.fallback.as_str()]).collect()
    }

    pub(super) fn expressions(&self) -> Result<Expressions<'_>> {
        let table = self
            .routes
            .iter()
            .map(|route| {
                Ok(Expression {
                    expression: expression(&route.pattern)?,
                    service: &route.service,
                })
            })
            .collect::<Result<_>>()?;
        Ok(Expressions {
            fallback: &self.fallback,
            table,
            services: self.services(),
        })
    }
}

/// The pattern as an expression over the whole target, query included.
fn expression(pattern: &str) -> Result<String> {
    let segments = pattern
        .strip_prefix('/')
        .with_context(|| format!("the pattern `{pattern}` does not begin with /"))?;
    let segments = segments.split('/').map(|segment| {
        let literal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ensure!(
            segment == "*" || (!segment.is_empty() && segment.bytes().all(literal)),
            "the pattern `{pattern}` has a segment that is neither * nor a plain word"
        );
        Ok(if segment == "*" { "[^/?]*" } else { segment })
    });
    let segments = segments.collect::<Result<Vec<_>>>()?;
    Ok(format!("~^/{}(?:[/?]|$)", segments.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_one_raw_segment() {
        let made = expression("/api/articles/*/comments").unwrap();
        assert_eq!(made, "~^/api/articles/[^/?]*/comments(?:[/?]|$)");
    }

    #[test]
    fn a_pattern_that_is_more_than_words_is_refused() {
        for pattern in ["api", "/api/a b", "/api//x", "/api/\"", "/api/**", "/a.b"] {
            assert!(expression(pattern).is_err(), "{pattern}");
        }
    }
}
