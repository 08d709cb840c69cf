//! One event per request, written where the response is made (performance page, rule 19), and the id that it has there.

use std::error::Error as StdError;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use conduit_domain::Error;

/// The header that the id of a request comes and goes in.
pub(crate) const REQUEST_ID: &str = "x-request-id";
const LONGEST_ID: usize = 128;

/// How loud requests that went well are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Clients' requests.
    Info,
    /// Probes, which come every few seconds.
    Debug,
}

/// What is known of a request once it is answered.
pub(crate) struct Report<'r> {
    pub(crate) request: &'r HttpRequest,
    /// The pattern of its route; never the path, which clients choose.
    pub(crate) pattern: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
}

macro_rules! event {
    ($level:ident, $report:expr, $id:expr $(, $field:ident = $value:expr)*) => {
        tracing::$level!(
            method = $report.request.method().as_str(),
            route = $report.pattern,
            status = $report.status.as_u16(),
            duration_us = $report.microseconds(),
            request_id = %$id
            $(, $field = %$value)*,
            "request"
        )
    };
}

impl Report<'_> {
    /// Writes the event: failures of ours with every cause, faults of clients for whoever looks for them, the rest as loud as
    /// the listener is.
    pub(crate) fn log(&self, id: &RequestId, error: Option<&Error>, severity: Severity) {
        let id = id.as_str();
        match error {
            Some(error) if self.status.is_server_error() => {
                event!(error, self, id, error = Causes(error));
            }
            Some(error) => event!(debug, self, id, error = error),
            None if severity == Severity::Debug => event!(debug, self, id),
            None => event!(info, self, id),
        }
    }

    fn microseconds(&self) -> u64 {
        u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX)
    }
}

/// What a request is called in the log, in its trace and in the response: 1 to 128 visible ASCII characters.
pub(crate) struct RequestId(HeaderValue);

/// Different for every process, and in it for every request.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("conduit"));
static REQUESTS: AtomicU64 = AtomicU64::new(0);

impl RequestId {
    /// The id that a proxy or the client gave, if it is one that a log can hold, or a new one.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let given = request.headers().get(REQUEST_ID);
        let usable = |id: &&HeaderValue| {
            (1..=LONGEST_ID).contains(&id.len()) && id.as_bytes().iter().all(u8::is_ascii_graphic)
        };
        given.filter(usable).cloned().map_or_else(Self::new, Self)
    }

    fn new() -> Self {
        let request = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:016x}-{request:x}", *PROCESS);
        // Hexadecimal digits are no bad value.
        Self(HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("unknown")))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

impl From<RequestId> for HeaderValue {
    fn from(id: RequestId) -> Self {
        id.0
    }
}

/// An error with all that led to it.
struct Causes<'e>(&'e Error);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            f.write_str(": ")?;
            write!(f, "{error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    fn id(header: Option<&str>) -> String {
        let mut request = TestRequest::default();
        if let Some(value) = header {
            request = request.insert_header((REQUEST_ID, value));
        }
        RequestId::of(&request.to_http_request()).as_str().to_owned()
    }

    #[test]
    fn a_given_id_is_kept() {
        assert_eq!(id(Some("abc-123")), "abc-123");
    }

    #[test]
    fn an_id_that_a_log_cannot_hold_is_replaced_by_a_new_one() {
        let made = [
            None,
            Some(""),
            Some("a b"),
            Some("a\tb"),
            Some("x".repeat(129).as_str()),
        ]
        .map(id);
        let distinct: std::collections::BTreeSet<_> = made.iter().collect();
        assert_eq!(distinct.len(), made.len());
        assert!(
            made.iter().all(|id| id.len() > 16 && id.contains('-')),
            "{made:?}"
        );
    }

    #[test]
    fn every_cause_is_written() {
        #[derive(Debug)]
        struct Outer(std::num::ParseIntError);
        impl fmt::Display for Outer {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("reading a number")
            }
        }
        impl StdError for Outer {
            fn source(&self) -> Option<&(dyn StdError + 'static)> {
                Some(&self.0)
            }
        }
        let error = Error::Internal(Box::new(Outer("x".parse::<i32>().unwrap_err())));
        assert_eq!(
            Causes(&error).to_string(),
            "internal error: reading a number: invalid digit found in string"
        );
    }
}
