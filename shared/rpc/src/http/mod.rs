//! HTTP/1.1 with JSON: reqwest calls, actix answers.

pub(crate) mod client;
pub mod server;

/// The header with the milliseconds that the caller has left.
const DEADLINE_HEADER: &str = "x-conduit-deadline-ms";
