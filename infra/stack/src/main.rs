//! `stack up LAYOUT`, `down`, `status`, `logs`, `render`.

mod cli;

use clap::Parser;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    cli::run(cli::Cli::parse()).await
}
