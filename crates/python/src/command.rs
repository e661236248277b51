//! `python -m jostle`: the command, in this process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these arguments and returns its exit code.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let program = OsString::from("python -m jostle");
        jostle_cli::run_with(std::iter::once(program).chain(arguments))
    })
}
