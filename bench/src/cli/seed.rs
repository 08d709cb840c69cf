//! `seed`: data for a database.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use conduit_runtime::database::DatabaseUrl;
use indicatif::{ProgressBar, ProgressStyle};

use crate::seed::{PASSWORD, Seeding, accounts_for, email_of, fill};

/// What to fill with.
#[derive(Args, Debug)]
pub(super) struct Seed {
    /// Where: postgres://user:password@host:5432/database, made where it is missing; a superuser's login is the fastest
    database: DatabaseUrl,
    /// Articles; accounts are a tenth of that, and everything else follows
    #[arg(long, default_value = "10000", value_name = "COUNT")]
    scale: u64,
    /// The same data for the same number
    #[arg(long, default_value = "1", value_name = "NUMBER")]
    seed: u64,
    /// Remove what is there
    #[arg(long)]
    replace: bool,
}

impl Seed {
    pub(super) async fn run(self) -> Result<()> {
        let bar = bar();
        let seeding = Seeding {
            articles: self.scale,
            seed: self.seed,
            replace: self.replace,
        };
        let rows = fill(&self.database, &seeding, &bar).await?;
        bar.finish_and_clear();
        writeln!(
            std::io::stdout(),
            "{rows} rows: {} articles by {} accounts. Everybody's password is {PASSWORD}; the first account is {}.",
            self.scale,
            accounts_for(self.scale),
            email_of(&crate::seed::account_name(0)),
        )?;
        Ok(())
    }
}

/// Rows written, how long it takes yet, which table.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {human_pos}/{human_len} rows, {eta} left: {msg}");
    let bar = ProgressBar::no_length();
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
