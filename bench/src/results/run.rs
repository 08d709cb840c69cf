//! What was measured, on what, how deployed.

use serde::{Deserialize, Serialize};

use super::Variant;

/// What was measured, on what, how deployed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The form of these files; [`Run::FORMAT`].
    pub format: u32,
    /// What was to be measured.
    pub plan: Plan,
    /// RFC 3339, UTC.
    pub started: String,
    /// The same, of the end; `None` while it runs, or if it was interrupted.
    pub finished: Option<String>,
    /// Where.
    pub machine: Machine,
    /// How each layout was deployed.
    pub deployments: Vec<Deployment>,
    /// Sizes of what is shipped.
    pub artifacts: Vec<Artifact>,
    /// Each look at whether the machine was quiet, apart from those that belong to a cell.
    pub gates: Vec<NoiseGate>,
}

/// What was to be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// `quick`.
    pub name: String,
    /// The plan's file as it was.
    pub text: String,
    /// Measurements that the plan asks for, repetitions counted.
    pub cells: u32,
    /// Of each cell.
    pub repetitions: u32,
}

/// The machine, as far as it decides figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// As `/proc/cpuinfo` calls it.
    pub processor: String,
    /// Cores that the run could use.
    pub cores: u32,
    /// Memory that the run could use.
    pub memory_bytes: u64,
    /// As `uname` calls it.
    pub kernel: String,
    /// The server's version.
    pub postgres: String,
    /// The compiler's version.
    pub rustc: String,
    /// Cargo's profile of the programs, `release`; empty where nobody knows.
    #[serde(default)]
    pub profile: String,
    /// The commit that was built; `None` outside a repository.
    pub revision: Option<String>,
    /// Whether the tree had changes that are in no commit.
    pub dirty: bool,
}

/// How a layout was deployed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    /// As in the cells' keys.
    pub layout: String,
    /// As in the cells' keys.
    pub variant: Variant,
    /// What stands in front, with its version; `None` if nothing does.
    pub proxy: Option<String>,
    /// The application's processes.
    pub processes: Vec<DeployedProcess>,
    /// Smoke checks of the conformance program that passed before it was measured; `None` if they were not run.
    pub checks: Option<u32>,
}

/// How a process was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeployedProcess {
    /// `articles-2`.
    pub name: String,
    /// Worker threads.
    pub workers: u32,
    /// Database connections at most.
    pub pool: u32,
    /// How it asks its peers, `http` or `grpc`; `None` if it has none.
    pub transport: Option<String>,
}

/// Something that is shipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// `monolith`.
    pub name: String,
    /// What it is.
    pub kind: ArtifactKind,
    /// Its size, stripped of what is shipped apart.
    pub bytes: u64,
}

/// What an artifact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactKind {
    /// A program.
    Binary,
    /// A container image.
    Image,
}

/// One look at whether the machine was quiet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NoiseGate {
    /// What was looked at and seen, for people.
    pub told: String,
    /// How far equal pieces of work lay apart: (slowest - fastest) / fastest.
    pub spread: f64,
    /// What would still have passed.
    pub limit: f64,
    /// Whether it did.
    pub passed: bool,
}

impl Run {
    /// Of the files that this version writes and reads.
    pub const FORMAT: u32 = 1;
}
