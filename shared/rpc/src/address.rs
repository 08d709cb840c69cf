//! Where the copies of a peer are.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use http::Uri;

/// A peer's address: `http://host:port`, `unix:/path.sock`, a comma-separated list of these, each with an optional weight
/// (`http://a:1*3,http://b:1`), or `dns:name:port`, every address of the name, asked for again every few seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub(crate) Source);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    List(Vec<Weighted>),
    Name { host: String, port: u16 },
}

/// One copy and its share of the calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Weighted {
    pub(crate) endpoint: Endpoint,
    /// 1 to 100.
    pub(crate) weight: u32,
}

/// One copy of a peer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Endpoint {
    /// `host:port`
    Tcp(String),
    Unix(PathBuf),
}

/// What is wrong with the text of an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no peer address: {problem}")]
pub struct AddressError {
    text: String,
    problem: &'static str,
}

const HEAVIEST: u32 = 100;

impl FromStr for PeerAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let source = match text.strip_prefix("dns:") {
            Some(name) => named(name),
            None => text
                .split(',')
                .map(|item| weighted(item.trim()))
                .collect::<Result<_, _>>()
                .map(Source::List),
        };
        source.map(Self).map_err(|problem| AddressError {
            text: text.to_owned(),
            problem,
        })
    }
}

impl From<SocketAddr> for PeerAddress {
    fn from(address: SocketAddr) -> Self {
        let endpoint = Endpoint::Tcp(address.to_string());
        Self(Source::List(vec![Weighted { endpoint, weight: 1 }]))
    }
}

fn named(name: &str) -> Result<Source, &'static str> {
    let (host, port) = name
        .rsplit_once(':')
        .ok_or("a name needs its port: dns:name:port")?;
    let port = port.parse().map_err(|_| "the port is no number of 16 bits")?;
    if host.is_empty() || host.contains([',', '/', '*']) {
        return Err("dns: takes one name and its port");
    }
    Ok(Source::Name {
        host: host.to_owned(),
        port,
    })
}

fn weighted(item: &str) -> Result<Weighted, &'static str> {
    let (place, weight) = match item.rsplit_once('*') {
        Some((place, weight)) => (
            place,
            weight.parse().map_err(|_| "a weight is a number from 1 to 100")?,
        ),
        None => (item, 1),
    };
    if weight == 0 || weight > HEAVIEST {
        return Err("a weight is a number from 1 to 100");
    }
    Ok(Weighted {
        endpoint: endpoint(place)?,
        weight,
    })
}

fn endpoint(place: &str) -> Result<Endpoint, &'static str> {
    if let Some(path) = place.strip_prefix("unix:") {
        let path = PathBuf::from(path);
        return if path.is_absolute() {
            Ok(Endpoint::Unix(path))
        } else {
            Err("a socket's path is absolute")
        };
    }
    let uri: Uri = place
        .parse()
        .map_err(|_| "neither http://host:port nor unix:/path")?;
    if uri.scheme_str() != Some("http") {
        return Err("neither http://host:port nor unix:/path");
    }
    match (uri.authority(), uri.path(), uri.query()) {
        (Some(authority), "/", None)
            if authority.port_u16().is_some() && !authority.as_str().contains('@') =>
        {
            Ok(Endpoint::Tcp(authority.to_string()))
        }
        _ => Err("http://host:port has a port and nothing behind it"),
    }
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Name { host, port } => write!(f, "dns:{host}:{port}"),
            Source::List(copies) => {
                let items: Vec<_> = copies.iter().map(Weighted::to_string).collect();
                f.write_str(&items.join(","))
            }
        }
    }
}

impl fmt::Display for Weighted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.weight {
            1 => self.endpoint.fmt(f),
            weight => write!(f, "{}*{weight}", self.endpoint),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(authority) => write!(f, "http://{authority}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_addresses_read_and_show_alike() {
        for text in [
            "http://users:4001",
            "http://127.0.0.1:4001,http://127.0.0.1:4002",
            "http://[::1]:4001*3,unix:/run/users.sock",
            "unix:/run/users.sock*2",
            "dns:users.internal:4001",
        ] {
            assert_eq!(text.parse::<PeerAddress>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn bad_addresses_are_refused() {
        for text in [
            "",
            ",",
            "users:4001",
            "https://users:4001",
            "http://users",
            "http://users:4001/path",
            "http://a@users:4001",
            "http://users:4001*0",
            "http://users:4001*101",
            "http://users:4001*x",
            "unix:users.sock",
            "dns:users",
            "dns::1",
            "dns:users:70000",
            "dns:a:1,dns:b:1",
        ] {
            let error = text.parse::<PeerAddress>().expect_err(text);
            assert!(error.to_string().contains("is no peer address"), "{error}");
        }
    }
}
