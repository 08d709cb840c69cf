//! The arguments.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, ensure};
use clap::{Parser, Subcommand};

use crate::ctx::Run;
use crate::forge::Secret;
use crate::target::{RouteTable, Target};

/// Checks of the Conduit API: does a deployment do what the contract says, are several the same application?
///
/// A deployment is `http://host:port`, or, for a split without a proxy in front, one address per service:
/// `users=http://…,profiles=http://…,articles=http://…,comments=http://…`.
#[derive(Debug, Parser)]
#[command(version)]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make the 197 checks of the contract.
    Check(CheckArgs),
    /// Make the checks one after the other and keep every request and answer in a file.
    Record(RecordArgs),
    /// Compare two recordings made with one seed on stores that were equal.
    Compare(CompareArgs),
    /// Make the checks on several deployments in step and compare every answer.
    Parity(ParityArgs),
    /// Play random programs on several deployments and compare every answer.
    Explore(ExploreArgs),
    /// Compare every read over what is there, for deployments that share one database.
    Reads(ReadsArgs),
}

/// How deployments are spoken to.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    /// How long one exchange may take, in seconds.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Another route table than the one built in (`infra/routes.toml`).
    #[arg(long, value_name = "FILE")]
    routes: Option<PathBuf>,
}

/// The secret that forged tokens are signed with; without it those checks are skipped.
#[derive(Debug, clap::Args)]
pub(super) struct SecretArgs {
    /// The deployment's token secret; once for all deployments, or once for each, in their order.
    #[arg(
        long,
        env = "CONDUIT_TOKEN_SECRET",
        hide_env_values = true,
        conflicts_with = "token_secret_file"
    )]
    token_secret: Vec<String>,
    /// A file that holds the token secret (white space around it is dropped); as often as the above.
    #[arg(long, value_name = "FILE", env = "CONDUIT_TOKEN_SECRET_FILE")]
    token_secret_file: Vec<PathBuf>,
    /// Exit 0 even if checks were skipped because the secret is not known.
    #[arg(long)]
    pub(super) allow_skips: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// The deployment.
    #[arg(required_unless_present = "list")]
    pub(super) url: Option<String>,
    /// Only checks of this area, or with this id (several: separated by commas).
    #[arg(long, value_delimiter = ',')]
    pub(super) filter: Vec<String>,
    /// Print the ids and titles, make no check.
    #[arg(long)]
    pub(super) list: bool,
    /// How many checks run at the same time.
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(super) jobs: u16,
    /// Sets the random texts; a fresh one if it is not given.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Write the outcome as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Write the outcome as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(super) struct RecordArgs {
    /// The deployment.
    pub(super) url: String,
    /// Sets the random texts: recordings are comparable if it is equal.
    #[arg(long)]
    pub(super) seed: u64,
    /// Where to.
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,
    /// Only checks of this area, or with this id (several: separated by commas).
    #[arg(long, value_delimiter = ',')]
    pub(super) filter: Vec<String>,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(super) struct CompareArgs {
    /// One recording.
    pub(super) left: PathBuf,
    /// The other.
    pub(super) right: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ParityArgs {
    /// The deployments; their stores must be equal at the start (freshly made ones are).
    #[arg(required = true, num_args = 2..)]
    pub(super) urls: Vec<String>,
    /// Sets the random texts; a fresh one if it is not given.
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Only checks of this area, or with this id (several: separated by commas).
    #[arg(long, value_delimiter = ',')]
    pub(super) filter: Vec<String>,
    #[command(flatten)]
    pub(super) secret: SecretArgs,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExploreArgs {
    /// The deployments, each with a store of its own.
    #[arg(required = true, num_args = 2..)]
    pub(super) urls: Vec<String>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
    /// How many seeds, from the first one on.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(super) seeds: u64,
    /// How many steps a program has.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub(super) steps: u16,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Debug, clap::Args)]
pub(super) struct ReadsArgs {
    /// The deployments, all on one database.
    #[arg(required = true, num_args = 2..)]
    pub(super) urls: Vec<String>,
    /// At most so many articles are read one by one.
    #[arg(long, default_value_t = 1000)]
    pub(super) most: usize,
    #[command(flatten)]
    pub(super) common: Common,
}

/// A number that no run before had.
pub(super) fn fresh_seed() -> u64 {
    // The time is only a number here; no crate of the application, and so no clock of it, is used.
    #[allow(clippy::disallowed_methods)]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // JSON readers take whole numbers up to 2^53.
    u64::try_from(now.as_nanos() % (1 << 53)).unwrap_or_default()
}

/// The runs against these deployments.
///
/// # Errors
/// An address or file is wrong; there are neither one nor as many secrets as deployments.
pub(super) fn runs(
    urls: &[String],
    seed: u64,
    secret: Option<&SecretArgs>,
    common: &Common,
) -> Result<Vec<Run>> {
    let table = match &common.routes {
        None => RouteTable::built_in()?,
        Some(path) => RouteTable::parse(
            &std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?,
        )?,
    };
    let secrets = secret.map_or(Ok(Vec::new()), secrets)?;
    ensure!(
        secrets.len() <= 1 || secrets.len() == urls.len(),
        "{} secrets for {} deployments: give one for all, or one for each",
        secrets.len(),
        urls.len()
    );
    let run = |(place, url): (usize, &String)| {
        Ok(Run {
            target: Target::parse(url, &table)?,
            seed,
            secret: secrets.get(place).or(secrets.first()).cloned(),
            patience: Duration::from_secs(common.timeout),
        })
    };
    urls.iter().enumerate().map(run).collect()
}

fn secrets(args: &SecretArgs) -> Result<Vec<Secret>> {
    // The flag that names a file wins over a variable that may be left over in somebody's shell.
    if args.token_secret_file.is_empty() {
        let given = args.token_secret.iter().filter(|text| !text.trim().is_empty());
        return Ok(given.map(|text| Secret::new(text.trim())).collect());
    }
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        ensure!(!text.trim().is_empty(), "{} is empty", path.display());
        Ok(Secret::new(text.trim()))
    };
    args.token_secret_file.iter().map(read).collect()
}
