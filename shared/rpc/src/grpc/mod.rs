//! HTTP/2 with protobuf: tonic at both ends, hyper under the answering one.

pub(crate) mod client;
pub mod server;

mod connection;
