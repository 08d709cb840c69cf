//! What the split costs on your machine: measures layouts beside each other and reports it.
//!
//! One folder holds a run: [`results::Folder`]. The measurement writes it, the report and the comparison read it, and nothing else
//! passes between them; so a report can be made anew from the raw results at any time, by anybody who has them.

pub mod account;
pub mod cli;
pub mod compare;
pub mod load;
pub mod plan;
pub mod report;
pub mod results;
pub mod run;
pub mod seed;
pub mod stats;
