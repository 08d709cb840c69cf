//! The public API over a real database, byte for byte; the files are called as the URLs are. The clock stands still and accounts
//! count from a known number, so that nothing needs to be masked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod app;

mod articles;
mod articles_comments;
mod articles_favorite;
mod articles_feed;
mod articles_slug;
mod hashing;
mod profiles;
mod system;
mod tags;
mod user;
mod users;
