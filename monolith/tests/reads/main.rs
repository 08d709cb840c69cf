//! The monolith's read ports against a model of the contract, and against growth.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod articles;
mod comments;
mod growth;
mod lists;
mod profiles;
mod world;
