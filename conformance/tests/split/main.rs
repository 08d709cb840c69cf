//! The four services in this process: the same application as the monolith, over either transport, and what becomes of it
//! when one of them stops.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

#[path = "../support/deployment.rs"]
mod deployment;
mod gate;
mod needs;
mod split;
mod table;
mod world;

mod alike;
mod calls;
mod equal;
mod idle;
mod large;
mod load;
mod peers;
