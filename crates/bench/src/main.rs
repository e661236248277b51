//! The `jostle-bench` program.

#![forbid(unsafe_code)]

use std::io::stdout;
use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match jostle_bench::run(&jostle_bench::Program::parse(), &mut stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => ExitCode::from(failure.report()),
    }
}
