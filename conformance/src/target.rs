//! Where requests go: one address, or one address per service and the route table that says which of them answers.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

/// The table that ships with the repository.
const ROUTES: &str = include_str!("../../infra/routes.toml");

/// The routing of the split, as `infra/routes.toml` has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouteTable {
    fallback: String,
    route: Vec<Route>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Route {
    pattern: String,
    service: String,
}

impl RouteTable {
    /// The repository's own table.
    ///
    /// # Errors
    /// The file that was compiled in is no route table.
    pub fn built_in() -> Result<Self> {
        Self::parse(ROUTES)
    }

    /// Reads a table from the text of a file.
    ///
    /// # Errors
    /// The text is no TOML of this form.
    pub fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("the route table")
    }

    /// The service for a request target: the first pattern whose segments the raw path starts with, else the fallback.
    pub fn service(&self, target: &str) -> &str {
        let path = target.split('?').next().unwrap_or_default();
        let covering = self.route.iter().find(|route| covers(&route.pattern, path));
        covering.map_or(&self.fallback, |route| &route.service)
    }

    /// The names of all services in the table.
    pub fn services(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.route.iter().map(|route| route.service.as_str()).collect();
        names.push(&self.fallback);
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn covers(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    pattern.split('/').all(|want| {
        segments
            .next()
            .is_some_and(|segment| want == "*" || want == segment)
    })
}

/// A deployment.
#[derive(Clone, Debug)]
pub struct Target {
    name: String,
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    One(String),
    PerService(RouteTable, BTreeMap<String, String>),
}

impl Target {
    /// Reads `http://host:port`, or `users=http://…,profiles=http://…,articles=http://…,comments=http://…` with one
    /// address for every service of the table.
    ///
    /// # Errors
    /// What is wrong with the text, naming the part.
    pub fn parse(text: &str, table: &RouteTable) -> Result<Self> {
        let place = match text.contains('=') {
            false => Place::One(address(text)?),
            true => Place::PerService(table.clone(), addresses(text, table)?),
        };
        Ok(Self {
            name: text.to_owned(),
            place,
        })
    }

    /// Host and port that answer this request target.
    pub fn address(&self, target: &str) -> &str {
        match &self.place {
            Place::One(address) => address,
            Place::PerService(table, addresses) => {
                addresses.get(table.service(target)).map_or("", String::as_str)
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn addresses(text: &str, table: &RouteTable) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for part in text.split(',') {
        let (service, url) = part
            .split_once('=')
            .with_context(|| format!("`{part}` is not `service=URL`"))?;
        ensure!(
            table.services().contains(&service),
            "no service `{service}` in the route table"
        );
        found.insert(service.to_owned(), address(url)?);
    }
    for service in table.services() {
        ensure!(
            found.contains_key(service),
            "no address for the service `{service}`"
        );
    }
    Ok(found)
}

fn address(url: &str) -> Result<String> {
    let Some(rest) = url.strip_prefix("http://") else {
        bail!(
            "`{url}` does not start with http:// (https is not spoken here: point at the port behind the proxy)"
        );
    };
    let authority = rest.strip_suffix('/').unwrap_or(rest);
    ensure!(
        !authority.is_empty() && !authority.contains(['/', '?', '#', '@']),
        "`{url}` is not http://host:port"
    );
    let port = authority
        .rsplit_once(':')
        .filter(|(_, port)| !port.contains(']'))
        .map(|(_, port)| port);
    match port {
        None => Ok(format!("{authority}:80")),
        Some(port) => {
            ensure!(port.parse::<u16>().is_ok(), "`{url}` has no valid port");
            Ok(authority.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use super::*;

    const SPLIT: &str = "users=http://127.0.0.1:1,profiles=http://127.0.0.1:2,articles=http://127.0.0.1:3,comments=http://127.0.0.1:4";

    #[test]
    fn every_path_has_its_service() {
        let target = Target::parse(SPLIT, &RouteTable::built_in().unwrap()).unwrap();
        let rows = [
            ("/api/users", "127.0.0.1:1"),
            ("/api/users/login", "127.0.0.1:1"),
            ("/api/user", "127.0.0.1:1"),
            ("/api/profiles/a%2Fb/follow", "127.0.0.1:2"),
            ("/api/articles", "127.0.0.1:3"),
            ("/api/articles?tag=/comments", "127.0.0.1:3"),
            ("/api/articles/feed?limit=1", "127.0.0.1:3"),
            ("/api/articles/x/favorite", "127.0.0.1:3"),
            ("/api/articles/x/comments", "127.0.0.1:4"),
            ("/api/articles/x/comments/7", "127.0.0.1:4"),
            ("/api/articles/comments", "127.0.0.1:3"),
            ("/api/articles/x/commentsx", "127.0.0.1:3"),
            ("/api/tags", "127.0.0.1:3"),
            ("/readyz", "127.0.0.1:4"),
            ("/api/articlesx", "127.0.0.1:3"),
            ("/nope", "127.0.0.1:3"),
        ];
        for (path, address) in rows {
            assert_eq!(target.address(path), address, "{path}");
        }
    }

    #[test]
    fn a_single_address_answers_everything() {
        let target = Target::parse("http://localhost:3000/", &RouteTable::built_in().unwrap()).unwrap();
        assert_eq!(target.address("/api/tags"), "localhost:3000");
    }

    #[test]
    fn a_bad_address_is_refused_by_name() {
        let table = RouteTable::built_in().unwrap();
        for text in [
            "localhost:3000",
            "https://x",
            "http://",
            "http://x/api",
            "http://x:y",
            "users=http://x:1",
        ] {
            assert!(Target::parse(text, &table).is_err(), "{text}");
        }
        let missing = Target::parse("users=http://x:1", &table).unwrap_err().to_string();
        assert!(missing.contains("no address for the service"), "{missing}");
    }
}
