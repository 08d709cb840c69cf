//! Faults that people have met in systems like this one and that concern one process (B027 and so on), tried on both builds alike.
//! They keep a machine busy, so they run one after the other, and not beside the other tests.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

mod both;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../support/deployment.rs"]
mod deployment;
#[allow(dead_code, reason = "other tests use it")]
#[path = "../split/gate.rs"]
mod gate;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../split/split.rs"]
mod split;
#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../split/world.rs"]
mod world;

mod bodies;
mod pages;
mod passwords;
mod pool;
mod restart;
