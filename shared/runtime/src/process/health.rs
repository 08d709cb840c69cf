//! Asking a running process whether it is ready, for health checks in images that hold no other program.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::settings::{Listen, ListenOrOff};

/// How long to wait for each step; readiness itself is answered within the longest deadline (contract 4.5).
const WAIT: Duration = Duration::from_secs(5);

/// The head of an answer is far shorter.
const MOST_BYTES: u64 = 4096;

const REQUEST: &[u8] = b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

/// Why a process does not count as ready.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// There is nobody to ask.
    #[error("CONDUIT_OPS_LISTEN is off, so nobody says whether this process is ready")]
    Off,
    /// No answer.
    #[error("nobody answers at {address}: {source}")]
    Silent {
        /// Where we asked.
        address: Listen,
        /// What the system said.
        source: io::Error,
    },
    /// Another answer than 200.
    #[error("{address} says that it is not ready: {said}")]
    Said {
        /// Where we asked.
        address: Listen,
        /// The first line of the answer.
        said: String,
    },
}

/// Asks `/readyz` of the operations listener at `address`: ready while the process's own store answers.
///
/// # Errors
/// [`NotReady`], for a person to read.
pub fn ask(address: &ListenOrOff) -> Result<(), NotReady> {
    let address = address.0.clone().ok_or(NotReady::Off)?;
    let answer = match &address {
        Listen::Tcp(text) => connect(text).and_then(exchange),
        Listen::Unix(path) => UnixStream::connect(path).and_then(|stream| {
            stream.set_read_timeout(Some(WAIT))?;
            exchange(stream)
        }),
    };
    match answer {
        Ok(said) if said.split(' ').nth(1) == Some("200") => Ok(()),
        Ok(said) => Err(NotReady::Said { address, said }),
        Err(source) => Err(NotReady::Silent { address, source }),
    }
}

fn connect(text: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::AddrNotAvailable, "the name has no address");
    for address in text.to_socket_addrs()? {
        match TcpStream::connect_timeout(&reachable(address), WAIT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(WAIT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Who listens at every address of the machine is asked at its loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

fn exchange(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(REQUEST)?;
    let mut answer = Vec::new();
    stream.take(MOST_BYTES).read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// Answers one connection after the whole request has come.
    fn answer(mut stream: impl Read + Write, with: &str) {
        let mut request = [0; REQUEST.len()];
        stream.read_exact(&mut request).unwrap();
        assert_eq!(request, REQUEST);
        stream.write_all(with.as_bytes()).unwrap();
    }

    fn asked(listen: &str, answer: &'static str) -> Result<(), String> {
        let listener = TcpListener::bind(listen).unwrap();
        let address = ListenOrOff(Some(Listen::Tcp(listener.local_addr().unwrap().to_string())));
        let server = thread::spawn(move || self::answer(listener.accept().unwrap().0, answer));
        let told = ask(&address).map_err(|error| error.to_string());
        server.join().unwrap();
        told
    }

    #[test]
    fn only_200_is_ready() {
        assert_eq!(asked("127.0.0.1:0", "HTTP/1.1 200 OK\r\n\r\n"), Ok(()));
        assert_eq!(asked("0.0.0.0:0", "HTTP/1.1 200 OK\r\n\r\n"), Ok(()));
        let told = asked("127.0.0.1:0", "HTTP/1.1 503 Service Unavailable\r\n\r\n").unwrap_err();
        assert!(
            told.ends_with("not ready: HTTP/1.1 503 Service Unavailable"),
            "{told}"
        );
        assert!(asked("127.0.0.1:0", "").is_err());
        assert!(asked("127.0.0.1:0", "nonsense 2000 200").is_err());
    }

    #[test]
    fn sockets_are_asked_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ops");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || answer(listener.accept().unwrap().0, "HTTP/1.1 200 OK\r\n\r\n"));
        ask(&ListenOrOff(Some(Listen::Unix(path)))).unwrap();
        server.join().unwrap();
    }

    #[test]
    fn nobody_there_is_not_ready() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let told = ask(&ListenOrOff(Some(Listen::Tcp(free.to_string()))));
        assert!(matches!(told, Err(NotReady::Silent { .. })), "{told:?}");
        assert!(matches!(ask(&ListenOrOff(None)), Err(NotReady::Off)));
    }
}
