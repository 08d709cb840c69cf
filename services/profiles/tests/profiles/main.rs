//! The profiles service over real tables, with its peer in memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod internal;
mod reads;
mod start;
