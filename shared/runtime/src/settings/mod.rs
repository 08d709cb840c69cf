//! Settings that several programs share, as groups of flags with their environment variables, ranges and defaults.
//!
//! A program flattens the groups it needs into its own `clap::Parser`. Every secret may also come from a file
//! (`…_FILE`), as container platforms hand them out. Secrets are read as text that cannot be wrong, and judged
//! afterwards: clap repeats a wrong value in its message.

mod data;
mod database;
mod http;
mod log;
mod parse;
mod secret;
mod token;

use std::path::PathBuf;
use std::time::Duration;

pub use self::data::{DataArgs, DataFolder};
pub use self::database::DatabaseArgs;
pub use self::http::{HttpArgs, Listen, ListenOrOff};
pub use self::log::{LogArgs, LogFormat, TraceArgs};
pub use self::parse::parse;
pub use self::secret::{secret_text, strong_secret};
pub use self::token::{TokenArgs, TokenSecrets};
use crate::database::InvalidDatabaseUrl;

/// A setting that is missing or refused. Never shows a secret.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Nothing was given.
    #[error("{name} is missing: set it, or {name}_FILE to a file that holds it")]
    Missing {
        /// The variable.
        name: &'static str,
    },
    /// Both the value and the file were given.
    #[error("{name} and {name}_FILE are both set: take one away")]
    Both {
        /// The variable.
        name: &'static str,
    },
    /// The file cannot be read.
    #[error("{name}_FILE names {}, which cannot be read: {source}", path.display())]
    File {
        /// The variable.
        name: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The secret can be guessed.
    #[error("{name} {reason}: use at least 32 random bytes, for instance what `openssl rand -hex 32` prints")]
    Weak {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The database's URL is not one.
    #[error("DATABASE_URL is {0}")]
    Url(#[from] InvalidDatabaseUrl),
    /// A folder for data can neither be found nor made.
    #[error("the data folder {} cannot be used: {source}", path.display())]
    Data {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A duration as people write it: `4s`, `500ms`, `60days`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text).map_err(|error| error.to_string())
}

/// A duration that is more than nothing.
pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be more than nothing".to_owned()),
        duration => Ok(duration),
    }
}
