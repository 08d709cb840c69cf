//! The command line of the conformance checks; `--help` says what it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    conformance::cli::main()
}
