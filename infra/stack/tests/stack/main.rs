//! Whole deployments of real processes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

#[path = "../../../../conformance/tests/split/needs.rs"]
#[allow(dead_code, reason = "the other tests ask more")]
mod needs;
#[path = "../../../../conformance/tests/split/table.rs"]
mod table;
#[path = "../../../../conformance/tests/split/world.rs"]
#[allow(dead_code, reason = "the other tests ask more")]
mod world;

mod command_line;
mod crowd;
mod health;
mod layouts;
mod monolith;
mod peers;
mod support;
