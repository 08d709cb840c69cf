//! The command line: arguments in, tables and verdicts out. Exit codes: 0 all good, 1 something differs or fails, 2 it
//! could not be found out.
// Progress and errors of a program go where they can be seen.
#![allow(clippy::print_stderr)]

/// A line on standard output. Whoever reads it may stop reading (`| head`): that is no fault.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

mod args;
mod check;
mod explore;
mod parity;
mod progress;
mod reads;

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

use args::{Args, Command};

/// Whether everything was as it should be.
type Good = bool;

/// Runs the program.
pub fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> Result<Good> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("the runtime")?;
    match args.command {
        Command::Check(args) => runtime.block_on(check::run(args)),
        Command::Record(args) => runtime.block_on(parity::record(args)),
        Command::Compare(args) => parity::compare(&args),
        Command::Parity(args) => runtime.block_on(parity::live(args)),
        Command::Explore(args) => explore::run(&runtime, &args),
        Command::Reads(args) => runtime.block_on(reads::run(args)),
    }
}
