//! The comments service over real tables, with peers in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod purger;
mod reads;
mod start;
mod world;
