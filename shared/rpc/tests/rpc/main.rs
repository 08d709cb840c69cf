//! The contract of the peer traits over every way to reach a peer, and over peers that fail in every way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod batching;
mod broken;
mod contract;
mod guard;
mod restart;
mod server;
mod world;

use std::time::Duration;

/// No test waits for this long; it only ends one that would hang.
async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(60), future)
        .await
        .expect("the test hangs")
}
