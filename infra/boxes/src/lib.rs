//! Deploys Conduit over several boxes, by an inventory: which box runs what, with which share, in front of which database.
//!
//! There are two ways to run a deployment. On boxes, Docker contexts over SSH reach the Docker of each and the files in
//! `infra/compose` say what runs; nothing of ours is installed there. On one machine, network namespaces stand for the boxes: an
//! address and a cable each, which tests pull and the measurement lengthens. Everything above that is the same for both: addresses,
//! variables, nginx's configuration, the order of starting, restarting copy by copy.
//!
//! Start reading at [`Deployment::deploy`].

mod command;
pub mod deployment;
pub mod docker;
pub mod inventory;
pub mod namespaces;
pub mod plan;
pub mod rotation;
pub mod runner;
pub mod secrets;

pub use deployment::Deployment;
pub use docker::{Compose, Docker};
pub use inventory::{Inventory, Transport};
pub use namespaces::Namespaces;
pub use plan::Unit;
pub use rotation::Rotation;
pub use runner::Runner;
pub use secrets::Secrets;
