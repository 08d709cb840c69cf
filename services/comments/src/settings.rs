//! What can be set: flags with their environment variables, all in `--help`.

use std::time::Duration;

use clap::{Args, Parser};
use conduit_service::{ArticlesPeer, ProfilesPeer, ServiceArgs, UsersPeer};

/// The comments service of Conduit: comments on articles.
#[derive(Clone, Debug, Parser)]
#[command(name = "comments", version)]
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
    /// Who knows the articles.
    #[command(flatten)]
    pub articles: ArticlesPeer,
    /// When the comments of deleted articles go.
    #[command(flatten)]
    pub purge: PurgeArgs,
}

/// When the comments of deleted articles go. Clients see nothing of it: an article's slug is gone at once.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comments of deleted articles")]
pub struct PurgeArgs {
    /// How often to ask for deleted articles
    #[arg(long, env = "CONDUIT_COMMENTS_PURGE_INTERVAL", value_name = "DURATION", default_value = "1s", value_parser = interval)]
    pub comments_purge_interval: Duration,
    /// When to remove an article's comments a second time, since one may have been under way; longer than any request and any
    /// statement takes
    #[arg(long, env = "CONDUIT_COMMENTS_PURGE_GRACE", value_name = "DURATION", default_value = "30s", value_parser = humantime::parse_duration)]
    pub comments_purge_grace: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text).map_err(|error| error.to_string())? {
        Duration::ZERO => Err("must be more than nothing".to_owned()),
        interval => Ok(interval),
    }
}
