//! The proxy: what is rendered, and what nginx makes of it. Where nginx is not installed the tests that need it say so and pass.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod errors;
mod extras;
mod rendering;
mod retries;
mod routing;
mod support;
