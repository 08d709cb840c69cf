//! What can be set: flags with their environment variables, all in `--help`.

use clap::Parser;
use conduit_process::{CommonArgs, HashingArgs};
use conduit_runtime::settings::DataArgs;

/// Conduit as one process. Without DATABASE_URL it starts a PostgreSQL of its own.
#[derive(Clone, Debug, Parser)]
#[command(name = "monolith", version)]
pub struct Settings {
    /// Fill an empty store with a little content to look at; every account's password is conduit-demo
    #[arg(long, env = "CONDUIT_DEMO")]
    pub demo: bool,
    /// What every process has.
    #[command(flatten)]
    pub common: CommonArgs,
    /// What hashing a password costs.
    #[command(flatten)]
    pub passwords: HashingArgs,
    /// Where an own PostgreSQL keeps its data.
    #[command(flatten)]
    pub data: DataArgs,
}
