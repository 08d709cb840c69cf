//! The stores and their pool against real databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod comments;
mod deletions;
mod names;
mod pool;
mod profiles;
mod proxy;
mod recount;
mod users;
