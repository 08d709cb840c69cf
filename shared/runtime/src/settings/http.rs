//! Listeners and the limits of connections and requests.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use super::{duration, positive_duration};

/// The longest time within which a request is answered (contract 4.5).
const LONGEST_DEADLINE: Duration = Duration::from_secs(5);

/// Settings of the public server and of the operations server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "HTTP")]
pub struct HttpArgs {
    /// Where the public API listens: HOST:PORT, or unix:/path
    #[arg(
        long,
        env = "CONDUIT_HTTP_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:3000"
    )]
    pub http_listen: Listen,
    /// Where probes and metrics listen: HOST:PORT, unix:/path, or off. Not for the public
    #[arg(
        long,
        env = "CONDUIT_OPS_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:3001"
    )]
    pub ops_listen: ListenOrOff,
    /// Worker threads [default: one per core for the monolith, though not more than it has database connections; one for a service]
    #[arg(long, env = "CONDUIT_HTTP_WORKERS", value_name = "COUNT")]
    pub http_workers: Option<NonZeroUsize>,
    /// How long a request may take before it is answered 503; at most 5s
    #[arg(long, env = "CONDUIT_REQUEST_DEADLINE", value_name = "DURATION", default_value = "4s", value_parser = deadline)]
    pub request_deadline: Duration,
    /// How long an idle connection is kept; longer than the proxy in front keeps it
    #[arg(long, env = "CONDUIT_HTTP_KEEP_ALIVE", value_name = "DURATION", default_value = "75s", value_parser = positive_duration)]
    pub http_keep_alive: Duration,
    /// How long a client may take to send a request's headers
    #[arg(long, env = "CONDUIT_HTTP_HEADER_WAIT", value_name = "DURATION", default_value = "10s", value_parser = positive_duration)]
    pub http_header_wait: Duration,
    /// At a stop, how long to go on serving after readiness is off, so that balancers notice
    #[arg(long, env = "CONDUIT_HTTP_DRAIN", value_name = "DURATION", default_value = "0s", value_parser = duration)]
    pub http_drain: Duration,
    /// At a stop, how long requests in flight may take
    #[arg(long, env = "CONDUIT_HTTP_STOP_WAIT", value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub http_stop_wait: Duration,
}

impl HttpArgs {
    /// The number of worker threads: as set, else `default`.
    #[must_use]
    pub fn workers(&self, default: NonZeroUsize) -> NonZeroUsize {
        self.http_workers.unwrap_or(default)
    }
}

fn deadline(text: &str) -> Result<Duration, String> {
    match positive_duration(text)? {
        long if long > LONGEST_DEADLINE => Err("must not be more than 5s".to_owned()),
        duration => Ok(duration),
    }
}

/// An address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Host and port, as in `127.0.0.1:3000`; port 0 is any free one.
    Tcp(String),
    /// A Unix socket's path.
    Unix(PathBuf),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.starts_with('/') {
                Ok(Self::Unix(path.into()))
            } else {
                Err("the path after unix: must begin with /".to_owned())
            };
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Self::Tcp(text.to_owned()))
            }
            _ => Err("expected HOST:PORT or unix:/path".to_owned()),
        }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => formatter.write_str(address),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

/// An address to listen at, or `off`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenOrOff(pub Option<Listen>);

impl FromStr for ListenOrOff {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.eq_ignore_ascii_case("off") {
            return Ok(Self(None));
        }
        text.parse().map(Some).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_host_and_port_or_a_socket() {
        for good in [
            "127.0.0.1:3000",
            "[::1]:0",
            "localhost:80",
            "unix:/run/conduit.sock",
        ] {
            assert_eq!(good.parse::<Listen>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "3000",
            ":3000",
            "localhost",
            "localhost:70000",
            "unix:relative",
        ] {
            assert!(bad.parse::<Listen>().is_err(), "{bad}");
        }
        assert_eq!("OFF".parse(), Ok(ListenOrOff(None)));
    }

    #[test]
    fn a_deadline_stays_below_the_contracts() {
        assert_eq!(deadline("4s"), Ok(Duration::from_secs(4)));
        assert!(deadline("0s").is_err() && deadline("6s").is_err() && deadline("4").is_err());
    }
}
