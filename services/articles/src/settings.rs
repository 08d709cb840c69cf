//! What can be set: flags with their environment variables, all in `--help`.

use clap::Parser;
use conduit_service::{ProfilesPeer, ServiceArgs, UsersPeer};

/// The articles service of Conduit: articles, lists, feeds, favorites and tags.
#[derive(Clone, Debug, Parser)]
#[command(name = "articles", version)]
pub struct Settings {
    /// What every service has.
    #[command(flatten)]
    pub service: ServiceArgs,
    /// Who knows the authors.
    #[command(flatten)]
    pub users: UsersPeer,
    /// Who knows whom the viewer follows.
    #[command(flatten)]
    pub profiles: ProfilesPeer,
}
