//! What is logged, and how it looks.

use clap::{Args, ValueEnum};

/// Settings of the log, which goes to the standard error stream.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Log")]
pub struct LogArgs {
    /// What is logged: LEVEL or TARGET=LEVEL, separated by commas
    #[arg(
        long,
        env = "RUST_LOG",
        value_name = "FILTER",
        default_value = "info,actix_server=warn,sqlx=warn,reqwest_retry=error"
    )]
    pub log_filter: String,
    /// How it looks: text, json, or auto (text on a terminal, json elsewhere)
    #[arg(
        long,
        env = "CONDUIT_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "auto"
    )]
    pub log_format: LogFormat,
}

/// How an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}
