//! How the services of the split talk to each other: peer traits, and two transports that carry them, HTTP/JSON and gRPC. The
//! monolith never links this.
//!
//! Start reading at [`peers`] (what is asked) and [`error`] (the only way it can go wrong), then [`connect()`]. A transport adds
//! nothing of its own: no status, no sentence and no validation crosses a service boundary. [`deadline`] travels with every call.

pub mod address;
pub mod batch;
pub mod batched;
pub mod counts;
pub mod deadline;
pub mod error;
pub mod grpc;
pub mod http;
pub mod limits;
pub mod peers;
pub mod settings;

mod balance;
mod client;
mod clients;
mod connect;
mod convert;
mod methods;
mod serve;
mod trace;
mod wire;

pub use address::PeerAddress;
pub use batch::Batch;
pub use batched::{BatchedArticles, BatchedProfiles, BatchedUsers};
pub use connect::{Peers, connect};
pub use counts::Counts;
pub use error::CallError;
pub use peers::{ArticlesApi, Deletion, DeletionCursor, FindUsers, Follow, ProfilesApi, User, UsersApi};
pub use serve::Served;
pub use settings::{CallSettings, Secrets, Transport};
