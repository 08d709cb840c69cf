//! What tests need: a database of their own, accounts and articles in it, and clocks that do what they are told. Only ever a
//! dev-dependency.
//!
//! ```no_run
//! # async fn example() {
//! use conduit_testkit::TestDatabase;
//!
//! let database = TestDatabase::new().await;
//! let seed = database.seed();
//! let ann = seed.account("ann").await;
//! let article = seed.article(ann.id, "Bread notes", &["baking"]).await;
//! # }
//! ```
//!
//! The first test of a process starts PostgreSQL (see [`conduit_runtime::embedded`]) and migrates a template there; every test
//! gets a clone of it. Nothing is left running: the server goes with the process.

#![allow(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test has nothing better to do when its surroundings fail"
)]

mod bulk;
mod clock;
mod cluster;
mod database;
mod running;
mod seed;
mod server;
mod template;

pub use bulk::{Bulk, BulkArticle, BulkIds};
pub use clock::{FixedClock, SteppingClock};
pub use database::{Session, TestDatabase};
pub use running::{Running, Terms, get};
pub use seed::Seed;

/// Says that nothing is tried for want of this; in CI, where everything has to be, the end of the test.
///
/// # Panics
/// Where the variable `CI` is `true`.
#[allow(
    clippy::disallowed_methods,
    reason = "no setting of ours: the variable of whoever runs tests for others"
)]
pub fn skip(missing: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{missing}");
    eprintln!("SKIPPED: {missing}");
}

/// What was asked for, or the end of the test with the whole chain of causes.
fn or_panic<T>(outcome: anyhow::Result<T>) -> T {
    outcome.unwrap_or_else(|error| panic!("{error:?}"))
}
