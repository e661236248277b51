//! `jostle devices`: where pairs can be looked for.

use std::io::{Write, stdout};

use clap::Args;

use crate::support::device;
use crate::support::failure::Failure;

/// Lists the devices that --device can name
#[derive(Args)]
#[command(after_help = device::ABOUT)]
pub(crate) struct DevicesArgs {}

/// Runs the command.
pub(crate) fn run(_: &DevicesArgs) -> Result<(), Failure> {
    for line in device::listed() {
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}
