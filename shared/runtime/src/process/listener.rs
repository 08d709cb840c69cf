//! A bound address.

use std::fs::{self, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use socket2::{Domain, Protocol, Socket, Type};

use crate::settings::Listen;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

/// An address that is ours: connections wait in it from now on.
#[derive(Debug)]
pub enum Listener {
    /// Host and port.
    Tcp(TcpListener),
    /// A Unix socket and its path.
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Takes the address. A Unix socket that nobody answers at any more is replaced.
    ///
    /// # Errors
    /// The system's, with the address in it.
    pub fn bind(address: &Listen) -> io::Result<Self> {
        let bound = match address {
            Listen::Tcp(text) => bind_tcp(text).map(Self::Tcp),
            Listen::Unix(path) => bind_unix(path).map(|listener| Self::Unix(listener, path.clone())),
        };
        bound.map_err(|error| io::Error::new(error.kind(), format!("cannot listen at {address}: {error}")))
    }

    /// The address as people type it: `http://127.0.0.1:3000`, or `unix:/path`.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Tcp(listener) => listener
                .local_addr()
                .map_or_else(|error| error.to_string(), |address| format!("http://{address}")),
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// The address and port, with the one that the system chose for port 0. None for Unix sockets.
    #[must_use]
    pub fn socket_address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix(..) => None,
        }
    }
}

fn bind_tcp(text: &str) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address");
    for address in text.to_socket_addrs()? {
        match bind_address(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bind_address(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A restart must not wait for connections of the process before.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err() {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // As open as a port of this machine is: a proxy under another account must reach it. Its folder says who may.
    fs::set_permissions(path, Permissions::from_mode(0o666))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_is_an_error_with_the_address() {
        let first = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let taken = first.socket_address().unwrap().to_string();
        let told = Listener::bind(&taken.parse().unwrap()).unwrap_err().to_string();
        assert!(told.contains(&taken), "{told}");
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_one_in_use_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let listen = Listen::Unix(folder.path().join("s"));
        let first = Listener::bind(&listen).unwrap();
        assert!(Listener::bind(&listen).is_err());
        drop(first);
        Listener::bind(&listen).unwrap();
    }
}
