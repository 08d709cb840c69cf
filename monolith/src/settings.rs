//! What can be set: flags with their environment variables, all in `--help`.

use clap::Parser;
use conduit_runtime::settings::{DataArgs, DatabaseArgs, HttpArgs, LogArgs, TokenArgs};

/// Conduit as one process. Without DATABASE_URL it starts a PostgreSQL of its own.
#[derive(Clone, Debug, Parser)]
#[command(name = "monolith", version)]
pub struct Settings {
    /// The public API and the operations listener.
    #[command(flatten)]
    pub http: HttpArgs,
    /// Which PostgreSQL.
    #[command(flatten)]
    pub database: DatabaseArgs,
    /// Where an own one keeps its data.
    #[command(flatten)]
    pub data: DataArgs,
    /// What signs tokens.
    #[command(flatten)]
    pub tokens: TokenArgs,
    /// What is logged.
    #[command(flatten)]
    pub log: LogArgs,
}
