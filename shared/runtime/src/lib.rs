//! What a process needs and no rule of the application cares about: settings, a prepared database, the log, the
//! clock, listeners and an orderly stop.
//!
//! It must not know a route, a table's columns or a peer; the pool of connections lives beside the statements,
//! in the store. Start reading at [`Database::open`], which turns the settings into a database that is ready, a
//! given one or our own; then [`process`], which serves until told to stop.

pub mod clock;
pub mod database;
#[cfg(feature = "embedded")]
pub mod embedded;
mod open;
pub mod process;
pub mod secrets;
pub mod settings;
pub mod telemetry;

pub use self::clock::SystemClock;
pub use self::open::{Database, OpenError};
pub use self::telemetry::Telemetry;
