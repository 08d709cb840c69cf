//! What can be set: flags with their environment variables, all in `--help`.

use clap::Parser;
use conduit_process::HashingArgs;
use conduit_service::ServiceArgs;

/// The users service of Conduit: registration, log-in, one's own account.
#[derive(Clone, Debug, Parser)]
#[command(name = "users", version)]
pub struct Settings {
    /// What every service has.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// What hashing a password costs.
    #[command(flatten)]
    pub passwords: HashingArgs,
}
