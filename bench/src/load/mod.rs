//! Making load: one process, one thread, many connections.
//!
//! The engine is our own, on tokio, hyper and hdrhistogram. [goose](https://docs.rs/goose) 0.19 was looked at first and does not
//! fit: it has no arrivals at a fixed rate (its throttle only slows users down); it meets coordinated omission by inventing
//! samples after the fact, where ours starts the clock when a request was due; it rounds response times instead of keeping a
//! histogram; and its mode with several generator processes, whose results we must add up exactly, was taken out with 0.17.
//!
//! - A request belongs to the measurement if it was **due** while that was counted. It is then followed to its end, however late.
//!   So a server that stalls at the end of the time gains nothing, and in a steady state the requests that were under way at the
//!   beginning make up for those that still are at the end.
//! - Only a 2xx is an answer. Everything else is counted by its kind ([`Counts`](crate::results::Counts)).
//! - Profiles that write take back what they did, so that the data stay as large as they were.
//!
//! A [`Spec`] says what to do, [`generate`] is the process that does it, [`Generators`] runs several of these as one.

mod client;
mod closed;
mod generator;
mod generators;
mod profile;
mod rate;
mod request;
mod session;
mod spec;
mod tally;
mod timer;
mod users;
mod world;

pub use generator::generate;
pub use generators::{Event, Generators};
pub use profile::{Profile, READ};
pub use spec::{Offered, Spec};
pub use tally::Outcome;
pub use users::ARRIVAL;
pub use world::{Viewer, World};
