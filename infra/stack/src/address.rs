//! Where the processes listen.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Ports that are tried. Below those that the system gives to outgoing connections, so that none of these takes one between our
/// choice and the process's start.
const PORTS: std::ops::Range<u16> = 20_000..32_000;

/// How many ports are tried before giving up.
const TRIES: usize = 1000;

/// A Unix socket's path has 108 bytes on Linux and 104 elsewhere, with the zero at its end.
const SOCKET_PATH_BYTES: usize = 103;

/// A place to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl Place {
    /// As `CONDUIT_HTTP_LISTEN` and nginx have it.
    pub(crate) fn listen(&self) -> String {
        match self {
            Self::Tcp(address) => address.to_string(),
            Self::Unix(path) => format!("unix:{}", path.display()),
        }
    }

    /// As peers and people have it.
    pub(crate) fn url(&self) -> String {
        match self {
            Self::Tcp(address) => format!("http://{address}"),
            Self::Unix(_) => self.listen(),
        }
    }
}

/// Chooses places, and keeps its ports to itself until they are needed.
#[derive(Debug, Default)]
pub(crate) struct Reserved(Vec<TcpListener>);

impl Reserved {
    /// A free port of 127.0.0.1.
    pub(crate) fn any_port(&mut self) -> Result<Place> {
        for _ in 0..TRIES {
            if let Ok(listener) = bind(rand::random_range(PORTS)) {
                let address = listener.local_addr().context("a port")?;
                self.0.push(listener);
                return Ok(Place::Tcp(address));
            }
        }
        bail!("no port from {} to {} is free", PORTS.start, PORTS.end)
    }

    /// This port of 127.0.0.1.
    pub(crate) fn port(&mut self, port: u16) -> Result<Place> {
        let listener = bind(port).with_context(|| format!("port {port} of 127.0.0.1 cannot be used"))?;
        let address = listener.local_addr().context("a port")?;
        self.0.push(listener);
        Ok(Place::Tcp(address))
    }

    /// A socket in the folder.
    pub(crate) fn socket(folder: &Path, name: &str) -> Result<Place> {
        let path = folder.join(name);
        if path.as_os_str().len() > SOCKET_PATH_BYTES {
            bail!(
                "{} is too long for a socket's path: set TMPDIR to a shorter folder",
                path.display()
            );
        }
        Ok(Place::Unix(path))
    }
}

/// Whether the port can be listened at.
#[must_use]
pub fn is_free(port: u16) -> bool {
    bind(port).is_ok()
}

fn bind(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_port_is_given_once() {
        let mut reserved = Reserved::default();
        let Place::Tcp(first) = reserved.any_port().unwrap() else {
            panic!("no port")
        };
        assert!(!is_free(first.port()));
        assert!(reserved.port(first.port()).is_err());
    }
}
