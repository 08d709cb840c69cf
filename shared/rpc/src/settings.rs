//! What a caller and a callee can be told. One struct for both transports, so that they are compared on equal terms.

use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;

use crate::counts::Counts;

/// How long a server keeps an idle connection. A client's [`CallSettings::idle_timeout`] has to be shorter, or a request can be sent
/// on a connection that is being closed.
pub const SERVER_KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How calls are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transport {
    /// HTTP/1.1 with JSON.
    Http,
    /// HTTP/2 with protobuf.
    Grpc,
}

impl std::str::FromStr for Transport {
    type Err = UnknownTransport;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "http" => Ok(Self::Http),
            "grpc" => Ok(Self::Grpc),
            _ => Err(UnknownTransport),
        }
    }
}

/// The text names no transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a transport is `http` or `grpc`")]
pub struct UnknownTransport;

/// How one service calls another.
#[derive(Clone, Debug)]
pub struct CallSettings {
    /// Upper bound of one call with its retry; the request's deadline may shorten it.
    pub call_timeout: Duration,
    /// Upper bound of making a connection. A copy that was silent for this long counts as failing, too.
    pub connect_timeout: Duration,
    /// When an unused connection is given up; below [`SERVER_KEEP_ALIVE`].
    pub idle_timeout: Duration,
    /// Calls under way to one copy from one worker: connections over HTTP/1.1, streams of one connection over gRPC. Further calls
    /// wait, within their deadline.
    pub max_connections: usize,
    /// Whether a call is made once more when its connection failed before the first byte of an answer.
    pub retry: bool,
    /// Whether look-ups that queue behind a call under way leave together.
    pub batching: bool,
    /// What proves to the peer that we belong to the deployment. Visible ASCII.
    pub secret: SecretString,
    /// Where calls are counted.
    pub counts: Arc<Counts>,
}

impl CallSettings {
    /// The defaults with this secret.
    pub fn new(secret: SecretString) -> Self {
        Self {
            call_timeout: Duration::from_secs(2),
            connect_timeout: Duration::from_millis(500),
            idle_timeout: Duration::from_secs(30),
            max_connections: 64,
            retry: true,
            batching: true,
            secret,
            counts: Arc::default(),
        }
    }
}

/// What a callee accepts. Two during a rotation: first every callee learns the new one, then the callers use it.
#[derive(Clone, Debug)]
pub struct Secrets {
    /// The one in use.
    pub current: SecretString,
    /// The one that is going out of use.
    pub previous: Option<SecretString>,
}

impl Secrets {
    /// Compared in constant time; only the length of a secret could be learnt.
    pub(crate) fn accept(&self, offered: &[u8]) -> bool {
        let equal = |secret: &SecretString| secret.expose_secret().as_bytes().ct_eq(offered);
        let current = equal(&self.current);
        let previous = self.previous.as_ref().map_or(0.into(), equal);
        (current | previous).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_secrets_are_accepted_during_a_rotation() {
        let mut secrets = Secrets {
            current: "new".into(),
            previous: None,
        };
        assert!(secrets.accept(b"new"));
        assert!(!secrets.accept(b"old") && !secrets.accept(b"ne") && !secrets.accept(b""));
        secrets.previous = Some("old".into());
        assert!(secrets.accept(b"new") && secrets.accept(b"old") && !secrets.accept(b"older"));
    }
}
