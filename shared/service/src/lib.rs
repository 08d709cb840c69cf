//! What the four services have in common: settings, four listeners, one set of parts per worker, the way to their peers.
//!
//! A service says which areas it answers for and what its peers may ask of it ([`Worker`]); [`build`] does the rest. Public and
//! internal listeners run on the same worker threads and share each worker's pool (performance page, rules 2 and 3). The monolith
//! never links this. Start reading at [`build`].

mod authors;
mod composition;
mod per_worker;
mod readiness;
mod server;
mod settings;

pub use authors::{authors, authors_besides, profile};
pub use composition::{Addresses, Parts, Service, Worker, build, build_with};
pub use readiness::{ArticlesReady, ProfilesReady, UsersReady};
pub use settings::{
    ArticlesPeer, InternalArgs, Peering, ProfilesPeer, RpcArgs, ServiceArgs, UsersPeer, parse,
};
