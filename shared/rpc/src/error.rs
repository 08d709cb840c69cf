//! The one error of a call between services.

use std::error::Error as StdError;
use std::sync::Arc;

use conduit_domain::Error;

/// A cause that is logged and never shown. Shared, because one failed batch answers several callers.
pub type Cause = Arc<dyn StdError + Send + Sync>;

/// Why there is no answer. Every variant becomes [`Error::Unavailable`], so 503 (contract 1.7): nothing that a peer says reaches a
/// client.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CallError {
    /// No connection, or one that closed before it answered.
    #[error("the peer cannot be reached")]
    Unreachable(#[source] Cause),
    /// The deadline or the call's own limit passed.
    #[error("the peer did not answer in time")]
    TimedOut,
    /// The peer does not accept our secret.
    #[error("the peer refuses the internal secret")]
    Refused,
    /// Undecodable, oversized, truncated or foreign: of the answer, or the peer says so of the request.
    #[error("the call or its answer makes no sense")]
    Nonsense(#[source] Cause),
    /// The peer says that it cannot answer now; for a `Local` peer: its own error.
    #[error("the peer failed")]
    Failed(#[source] Cause),
}

impl CallError {
    /// [`Self::Unreachable`] because of this.
    pub fn unreachable(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Unreachable(Arc::from(cause.into()))
    }

    /// [`Self::Nonsense`] because of this.
    pub fn nonsense(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Nonsense(Arc::from(cause.into()))
    }

    /// [`Self::Failed`] because of this.
    pub fn failed(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Failed(Arc::from(cause.into()))
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

/// What a `Local` peer's own store says.
impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Failed(Arc::new(error))
    }
}

/// The first error of this type among an error and its causes.
pub(crate) fn cause<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}
