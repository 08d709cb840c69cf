//! The report of made-up runs. Nothing in here was measured.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test has nothing better to do when its surroundings fail"
)]

mod comparison;
mod fixture;
mod folder;
mod noise;
mod page;
mod targets;
mod text;
