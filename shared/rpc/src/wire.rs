//! The messages as both transports carry them, protobuf or JSON. Generated from `proto/`, which has the comments.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::semicolon_if_nothing_returned,
    reason = "generated"
)]

tonic::include_proto!("conduit.internal.v1");

/// The description of the services that reflection shows.
pub const DESCRIPTOR: &[u8] = tonic::include_file_descriptor_set!("descriptor");
