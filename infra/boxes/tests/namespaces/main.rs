//! Network namespaces as boxes: nginx in its own, each box with its own address, real processes on one database. Where rights for
//! namespaces are missing, CI fails and says what it needs; anybody else is told that nothing was tried.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod bodies;
mod cut_off;
mod idle;
mod layouts;
mod load;
mod moving;
mod once;
mod restarts;
mod rotations;
mod support;
