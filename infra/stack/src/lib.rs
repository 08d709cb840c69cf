//! Starts whole deployments on this machine, for people, tests and the measurement: database, roles, migrations, secrets, the
//! processes of a layout, nginx in front.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use stack::{Binaries, Layout, Options, Stack};
//!
//! let binaries = Binaries::beside_this_program(false, true)?;
//! let mut stack = Stack::up(Layout::SplitGrpc, &Options::new("state", binaries)).await?;
//! stack.pause("users")?;
//! stack.down().await
//! # }
//! ```
//!
//! Decisions, with their reasons:
//!
//! - The programs are those that people run, with the variables that people set; nothing here is a way to start them that only we
//!   have.
//! - Every process leads a group of its own, so that Ctrl-C reaches us alone and the order of the stop is ours. A shell at a pipe
//!   ends them when we are gone, whatever ended us.
//! - Ports are chosen before the processes start, because each must be told where the others will be.
//! - A box is a network namespace: an address of its own, and a cable between any two processes.
//! - One folder holds all that is kept, and a lock in it says whether a stack runs there.
//!
//! Start reading at [`Stack::up`]. [`nginx`] renders the proxy's configuration, for other deployments too.

mod address;
mod build;
mod database;
mod files;
mod guard;
mod layout;
mod network;
pub mod nginx;
mod options;
mod plan;
mod process;
mod ready;
mod stack;
pub mod state;
mod summary;

pub use address::is_free;
pub use files::{make_folder, temporary_folder, write_private};
pub use guard::Guard;
pub use layout::{Layout, Program};
pub use network::Network;
pub use options::{Binaries, DatabaseChoice, Options, ProxyChoice};
pub use process::{Process, Start, tail_of};
pub use ready::{complaint, wait};
pub use stack::Stack;
pub use summary::{ProxyInfo, ServiceInfo, Summary};
