//! How the services of the split talk to each other: peer traits, and two transports that carry them, HTTP/JSON and gRPC. The
//! monolith never links this.
//!
//! Start reading at [`peers`] (what is asked) and [`error`] (the only way it can go wrong). A transport adds nothing of its own: no
//! status, no sentence and no validation crosses a service boundary. [`deadline`] travels with every call.

pub mod deadline;
pub mod error;
pub mod peers;
mod wire;

pub use error::CallError;
pub use peers::{ArticlesApi, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi};
