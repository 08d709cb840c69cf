//! The command line.

mod render;
mod running;
mod up;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};
use conduit_runtime::settings::DataArgs;

/// Starts a whole deployment of Conduit on this machine, and stops it again.
#[derive(Debug, Parser)]
#[command(name = "stack", version)]
pub(crate) struct Cli {
    /// Folder for data, secrets and logs [default: stack in the folder where the monolith keeps its own data]
    #[arg(long, global = true, value_name = "PATH")]
    state: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a layout; Ctrl-C stops it.
    Up(up::Up),
    /// Stop what runs.
    Down,
    /// Show what runs, and whether it is ready.
    Status,
    /// Show the logs.
    Logs(running::Logs),
    /// Print an nginx configuration for deployments elsewhere.
    Render(render::Render),
}

pub(crate) async fn run(cli: Cli) -> Result<()> {
    let state = match cli.state {
        Some(folder) => folder,
        None => DataArgs::default().folder()?.path().join("stack"),
    };
    match cli.command {
        Command::Up(up) => up.run(&state).await,
        Command::Down => running::down(&state).await,
        Command::Status => running::status(&state).await,
        Command::Logs(logs) => logs.run(&state),
        Command::Render(render) => render.run(),
    }
}
