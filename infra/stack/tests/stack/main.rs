//! Whole deployments of real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod command_line;
mod layouts;
mod monolith;
mod support;
