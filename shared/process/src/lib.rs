//! From settings to the parts that every process of either build has once, and what each of its workers makes of them: the pool of
//! connections, tokens, passwords, the clock, readiness, metrics.
//!
//! Composition roots (the monolith, and the services through `conduit-service`) start here and add their areas. It must not contain a
//! rule, a route or a statement.

mod common;
mod readiness;

pub use common::{Common, CommonArgs, HashingArgs};
pub use readiness::{AllReady, OwnStore};
