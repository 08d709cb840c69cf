//! The command line. Exit codes: 0 done, 2 it could not be done.
// Errors of a program go where they can be seen.
#![allow(clippy::print_stderr)]

/// A line on standard output. Whoever reads it may stop reading (`| head`): that is no fault.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

mod run;
mod seed;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::compare::compare;
use crate::load;
use crate::report::Report;
use crate::results::Folder;

/// Says what the split costs on this machine.
#[derive(Debug, Parser)]
#[command(name = "bench", version)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fill a database with data that look like people made them.
    Seed(seed::Seed),
    /// Measure what a plan asks for.
    Run(run::Run),
    /// Makes report.html and report.md of a run's raw results.
    Report {
        /// The run's folder.
        folder: PathBuf,
        /// Print the main tables as Markdown instead.
        #[arg(long)]
        markdown: bool,
    },
    /// Puts two runs beside each other, cell by cell, as Markdown that a terminal shows as well.
    Compare {
        /// A run's folder.
        a: PathBuf,
        /// Another run's folder, which is judged by the first.
        b: PathBuf,
    },
    /// Make load, told how on the standard input: what the measurement starts, here or on other machines.
    #[command(hide = true)]
    Generate,
}

/// Runs the program.
pub fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> Result<()> {
    match args.command {
        Command::Seed(seed) => block_on(seed.run()),
        Command::Run(run) => block_on(run.run()),
        Command::Report { folder, markdown } => report(folder, markdown),
        Command::Compare { a, b } => {
            let text = compare(&Folder::open(a)?, &Folder::open(b)?)?;
            say!("{}", text.trim_end());
            Ok(())
        }
        Command::Generate => block_on(load::generate()),
    }
}

fn block_on(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(work)
}

fn report(folder: PathBuf, markdown: bool) -> Result<()> {
    let folder = Folder::open(folder)?;
    let report = Report::of(&folder)?;
    if markdown {
        say!("{}", report.headline()?.trim_end());
        return Ok(());
    }
    for path in report.write(&folder)? {
        say!("{}", path.display());
    }
    Ok(())
}
