//! From a bound address to an orderly stop.
//!
//! A program binds its [`Listener`]s first (so that a port already taken is an error before anything else
//! happens, and the choice for port 0 is known), gives each to a server with the shared limits ([`serve`]), and
//! waits in [`run`] until it is told to stop ([`stop_signal`]).

pub mod health;
mod listener;
mod server;
mod stop;

pub use self::listener::Listener;
pub use self::server::{LINGER, serve};
pub use self::stop::{run, stop_signal, unless_stopped};
