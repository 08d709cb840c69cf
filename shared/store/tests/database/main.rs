//! The stores and their pool against real databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod comments;
mod pool;
mod profiles;
mod recount;
mod users;
