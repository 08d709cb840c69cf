//! HTTP/1.1 as it is on the wire: what goes out is exactly what a check says, what comes back is kept as it came.
//!
//! No library client is used, because they normalise paths, merge headers and hide how a body was framed.

mod connection;
mod message;
mod read;
mod trouble;

pub use connection::Connection;
pub use message::{Headers, Request, Response};
pub use read::read_response;
pub use trouble::{Deadline, Step, Trouble};
