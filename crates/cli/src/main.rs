//! The `jostle` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    jostle_cli::run()
}
