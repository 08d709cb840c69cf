//! What is to be measured: a file in TOML, or one of those that come with the program (`bench/plans`).

mod check;
mod ready;

use std::path::Path;

use anyhow::{Context, Result};
pub use check::refusal;
pub use ready::{READY, ready};
use serde::Deserialize;
use stack::Layout;

use crate::load::Profile;
use crate::results::{Budget, Mode, Rules, Sockets};

/// What is to be measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Of each cell, 1 or more; three for a verdict.
    pub repetitions: u32,
    /// Articles in the database, one round for each; a group may have its own.
    #[serde(default = "default_articles")]
    pub articles: Vec<u64>,
    /// Sets the data and all that is drawn.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// How load is made.
    #[serde(default)]
    pub load: LoadPlan,
    /// How capacities are looked for.
    #[serde(default)]
    pub search: SearchPlan,
    /// What is deployed together and measured in turns.
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
}

/// How load is made.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoadPlan {
    /// Before anything is counted, in seconds.
    pub warm_up: f64,
    /// How long a cell is counted, in seconds.
    pub seconds: f64,
    /// When a request counts as not answered, in seconds.
    pub timeout: f64,
    /// How long readers think between two requests on average, in seconds: a thousand make some 265 requests a second.
    pub think: f64,
    /// Connections at most for arrivals at a rate.
    pub connections: u32,
    /// Accounts that sign in, one with many favorites and follows among them.
    pub viewers: u64,
    /// Processes that make load on this machine.
    pub generators: u32,
    /// Further ones elsewhere, each a command that starts `bench generate` there: `["ssh", "box", "bench", "generate"]`.
    pub elsewhere: Vec<Vec<String>>,
    /// How often to look for a quiet moment before each cell; 0 does not look.
    pub looks: u32,
    /// Cores of the generators, `2-3`; any if not given.
    pub generator_cores: Option<String>,
    /// Cores of the database; any if not given.
    pub database_cores: Option<String>,
}

/// How capacities are looked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchPlan {
    /// What is counted.
    pub unit: Unit,
    /// The first step.
    pub start: u32,
    /// The most that is tried.
    pub most: u32,
    /// How long each step is counted, in seconds.
    pub seconds: f64,
    /// 95 % of the answers are faster, in seconds.
    pub p95: f64,
    /// 99 % of the answers are faster, in seconds.
    pub p99: f64,
    /// Share of what is not 2xx that is allowed, below 1.
    pub errors: f64,
    /// The capacity is known to this share of itself.
    pub precision: f64,
    /// Multiples of the capacity for overload.
    pub factors: Vec<f64>,
    /// How much each step of a ramp adds to the first.
    pub ramp: u32,
}

/// What a capacity is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Readers with think time.
    Users,
    /// Arrivals a second.
    Rate,
}

/// What is deployed together and measured in turns.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Articles in the database; those of the plan if not given.
    #[serde(default)]
    pub articles: Vec<u64>,
    /// Layouts of `stack` on this machine.
    #[serde(default)]
    pub layouts: Vec<Layout>,
    /// Deployments elsewhere, filled by `bench seed`; what they cost there is not measured.
    #[serde(default)]
    pub remote: Vec<Remote>,
    /// Between the processes, and to the database.
    #[serde(default = "default_sockets")]
    pub sockets: Sockets,
    /// Whether each process has a network namespace and an address of its own; needs root. Calls between the services go over TCP, and
    /// the database is reached over its Unix socket, which no network namespace hides.
    #[serde(default)]
    pub boxes: bool,
    /// Whether look-ups that queue behind a call leave together.
    #[serde(default = "yes")]
    pub batching: bool,
    /// Whether nginx stands in front; without it, load goes to each service by the route table.
    #[serde(default)]
    pub proxy: bool,
    /// Worker threads of each process.
    #[serde(default = "default_workers")]
    pub workers: std::num::NonZeroUsize,
    /// What the application's processes share of the processor.
    #[serde(default)]
    pub budget: Option<Budget>,
    /// Cores of the application, `0-1`; any if not given.
    #[serde(default)]
    pub cores: Option<String>,
    /// How long each of its cells is counted, in seconds; as in `load` if not given.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Further variables of every process.
    #[serde(default)]
    pub environment: std::collections::BTreeMap<String, String>,
    /// What is asked for.
    pub profiles: Vec<Profile>,
    /// How the load is brought up.
    pub modes: Vec<Mode>,
}

/// A deployment elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    /// Its name in the results.
    pub name: String,
    /// `http://host:port`, or one address for each service as conformance takes them.
    pub address: String,
}

fn default_articles() -> Vec<u64> {
    vec![10_000]
}

fn default_seed() -> u64 {
    1
}

fn default_sockets() -> Sockets {
    Sockets::Unix
}

fn default_workers() -> std::num::NonZeroUsize {
    std::num::NonZeroUsize::MIN
}

fn yes() -> bool {
    true
}

impl Default for LoadPlan {
    fn default() -> Self {
        Self {
            warm_up: 1.0,
            seconds: 10.0,
            timeout: 5.0,
            think: 3.8,
            connections: 256,
            viewers: 32,
            generators: 1,
            elsewhere: Vec::new(),
            looks: 5,
            generator_cores: None,
            database_cores: None,
        }
    }
}

impl Default for SearchPlan {
    fn default() -> Self {
        Self {
            unit: Unit::Users,
            start: 500,
            most: 100_000,
            seconds: 30.0,
            p95: 0.5,
            p99: 1.0,
            errors: 0.01,
            precision: 0.05,
            factors: vec![1.2, 1.5, 2.0],
            ramp: 500,
        }
    }
}

impl SearchPlan {
    /// As results have them.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            seconds: self.seconds,
            p95_us: micros(self.p95),
            p99_us: micros(self.p99),
            errors: self.errors,
        }
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be some seconds"
)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

/// A plan's name and its text: a ready one's, or a file's.
///
/// # Errors
/// There is no such plan and no such file.
pub fn text(name_or_path: &str) -> Result<(String, String)> {
    if let Some(text) = ready(name_or_path) {
        return Ok((name_or_path.to_owned(), text.to_owned()));
    }
    let path = Path::new(name_or_path);
    let text = std::fs::read_to_string(path).with_context(|| {
        let names = READY.map(|(name, _)| name).join(", ");
        format!(
            "{name_or_path} is no plan that comes with the program ({names}) and no file that can be read"
        )
    })?;
    let name = path
        .file_stem()
        .map_or_else(|| "plan".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok((name, text))
}

/// Reads a plan.
///
/// # Errors
/// The text is no plan, with the line and what is wrong.
pub fn parse(text: &str) -> Result<Plan> {
    let plan: Plan = toml::from_str(text).context("the plan")?;
    check::sound(&plan)?;
    Ok(plan)
}
