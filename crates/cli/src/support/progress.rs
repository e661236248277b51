//! A progress bar on stderr, only if stderr is a terminal.

use std::io::{IsTerminal, stderr, stdout};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over `steps` steps; it removes itself at the end.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for a command that prints at its end.
    pub fn new(steps: usize, what: &str) -> Progress {
        Progress::shown(steps, what, true)
    }

    /// A bar for a command that prints a line for each step: hidden if both would meet on the same
    /// terminal.
    pub fn with_printing(steps: usize, what: &str) -> Progress {
        Progress::shown(steps, what, !stdout().is_terminal())
    }

    fn shown(steps: usize, what: &str, wanted: bool) -> Progress {
        let target = if wanted && stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        let template = "{msg} {wide_bar:.cyan/dim} {pos}/{len} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        Progress { bar }
    }

    /// One more step is done.
    pub fn step(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
