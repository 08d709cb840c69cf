//! The whole program against monoliths in this process: the catalogue, recording and comparing, random programs, reads
//! over a shared database, and deliberate faults that have to be found.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "../support/deployment.rs"]
mod deployment;
#[path = "../support/proxy.rs"]
mod proxy;

mod catalogue;
mod explore;
mod faults;
mod parity;
mod reads;
