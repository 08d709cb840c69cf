//! The messages as both transports carry them (protobuf or JSON), and their way from and to [`crate::peers`].

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    reason = "generated from proto/, which has the comments"
)]

tonic::include_proto!("conduit.internal.v1");
