//! What can be set: flags with their environment variables, all in `--help`.

use clap::Parser;
use conduit_service::{ServiceArgs, UsersPeer};

/// The profiles service of Conduit: accounts as others see them, and who follows whom.
#[derive(Clone, Debug, Parser)]
#[command(name = "profiles", version)]
pub struct Settings {
    /// What every service has.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// Who knows the accounts.
    #[command(flatten)]
    pub users: UsersPeer,
}
