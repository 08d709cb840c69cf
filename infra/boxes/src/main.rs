//! `boxes deploy INVENTORY`, `rolling-restart`, `status`, `rollback`, `rotate`, `logins`, `try`.

mod cli;

use clap::Parser;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    cli::Cli::parse().run().await
}
