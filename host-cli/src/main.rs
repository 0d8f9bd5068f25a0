//! `strata`: parses the command line, runs the command, maps its outcome to an exit status.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    strata_cli::commands::main()
}
