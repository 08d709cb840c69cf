//! What a load costs, read from the kernel and from the processes' own counters; nothing here makes load.
//!
//! Processor time is user and system time of whole processes from `/proc`, whose grain is ten milliseconds at each end. PostgreSQL
//! counts with all its processes, also those that ended meanwhile; by service only with the sessions that are there at the end. Memory is resident memory; of PostgreSQL, whose processes share
//! most of theirs, it is the proportional share of each.

mod backends;
pub mod budget;
mod machine;
mod metrics;
mod noise;
mod processes;

pub use backends::Backends;
pub use machine::{Images, artifacts, machine};
pub use metrics::Counters;
pub use noise::{Quiet, load_average};
pub use processes::{Watched, Who, family};
