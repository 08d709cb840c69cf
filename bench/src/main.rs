//! The command line of the measurement; `--help` says what it can do.

use std::process::ExitCode;

fn main() -> ExitCode {
    bench::cli::main()
}
