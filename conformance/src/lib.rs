//! The conformance checks of the Conduit API: a program that anyone can point at a deployment.
//!
//! It proves two things: that one deployment does what the contract says (the 197 checks of its section 5), and that
//! several deployments are the same application (recording and comparing, random programs, reads over a shared store).
//!
//! It is a black box: it speaks raw HTTP/1.1 and compares raw bytes. It uses none of the application's own crates,
//! because a bug that both sides share would hide. Its integration tests alone start deployments.
//!
//! Start reading in [`checks`], which tells how a check is written; [`http`] is the client below it, [`target`] where
//! requests go, [`shape`] and [`rules`] what every answer is held against.

pub mod answer;
pub mod arrange;
pub mod call;
pub mod checks;
pub mod cli;
pub mod compare;
pub mod ctx;
pub mod curl;
pub mod explore;
pub mod failure;
pub mod forge;
pub mod http;
pub mod json;
pub mod log;
pub mod mask;
pub mod parity;
pub mod reads;
pub mod recording;
pub mod report;
pub mod rules;
pub mod runner;
pub mod session;
pub mod shape;
pub mod target;
pub mod texts;
