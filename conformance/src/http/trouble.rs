//! What can go wrong between a request and its answer, told so that somebody can act on it.

use std::fmt;
use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::time::Instant;

/// The part of an exchange that went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Opening the connection.
    Connecting,
    /// Writing the request.
    Sending,
    /// Waiting for the status line and the header fields.
    AwaitingHead,
    /// Reading the body.
    ReadingBody,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connecting => "connecting",
            Self::Sending => "sending the request",
            Self::AwaitingHead => "waiting for the answer's head",
            Self::ReadingBody => "reading the answer's body",
        })
    }
}

/// No answer, or none that could be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Where the request went, host and port.
    pub address: String,
    /// The part that went wrong.
    pub step: Step,
    /// What happened.
    pub cause: String,
    /// What had come of the answer by then (at most the first 4 KiB).
    pub received: Vec<u8>,
    /// Whether the other side closed the connection before a single byte of an answer came.
    pub closed_before_answer: bool,
}

impl Trouble {
    pub(crate) fn new(step: Step, cause: impl fmt::Display) -> Self {
        Self {
            address: String::new(),
            step,
            cause: cause.to_string(),
            received: Vec::new(),
            closed_before_answer: false,
        }
    }

    pub(crate) fn at(mut self, address: &str) -> Self {
        self.address = address.to_owned();
        self
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.address, self.step, self.cause)?;
        if self.received.is_empty() {
            return Ok(());
        }
        write!(f, "; received so far: \"{}\"", self.received.escape_ascii())
    }
}

impl std::error::Error for Trouble {}

/// The moment by which an exchange has to be over.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    limit: Duration,
    at: Instant,
}

impl Deadline {
    /// So long from now.
    pub fn after(limit: Duration) -> Self {
        Self {
            limit,
            at: Instant::now() + limit,
        }
    }

    /// Waits for the future, at most until the deadline.
    ///
    /// # Errors
    /// The future's own error, or that the time is over, as trouble with the step named.
    pub async fn guard<T>(self, step: Step, work: impl Future<Output = io::Result<T>>) -> Result<T, Trouble> {
        match tokio::time::timeout_at(self.at, work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Trouble::new(step, error)),
            Err(_) => Err(Trouble::new(step, format!("not done after {:?}", self.limit))),
        }
    }
}
