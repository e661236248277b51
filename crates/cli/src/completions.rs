//! `jostle completions`: a script that completes the command's words in a shell.

use std::io::{Write, stdout};

use clap::Args;
use clap_complete::Shell;

use crate::support::failure::Failure;

/// Prints a script that completes jostle's words in a shell
#[derive(Args)]
#[command(after_help = "Example:\n  \
        jostle completions bash > ~/.local/share/bash-completion/completions/jostle")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "jostle", &mut script);
    stdout().write_all(&script)?;
    Ok(())
}
