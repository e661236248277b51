//! [`Failure`]: why the command ends early, and with which exit code.

use std::fmt::Display;
use std::io;

use jostle_scenes::{FileError, SceneError};

/// Why the command ends early.
#[derive(Debug)]
pub enum Failure {
    /// A check found a difference: exit code 1.
    Check(String),
    /// Bad usage or bad input: exit code 2.
    Input(String),
    /// Nobody reads the output any more, as with `| head -1`: not an error.
    ClosedPipe,
    /// Stopped by the user, with what was finished: exit code 130.
    Stopped(String),
}

impl Failure {
    /// Bad usage or bad input in words.
    pub fn input(message: impl Display) -> Failure {
        Failure::Input(message.to_string())
    }

    /// A file that cannot be written, and why.
    pub fn unwritable(path: &std::path::Path, error: impl Display) -> Failure {
        Failure::Input(format!("{}: cannot be written: {error}", path.display()))
    }

    /// Says it on stderr and gives the exit code.
    pub fn report(&self) -> u8 {
        use std::io::Write;
        let (kind, message, code) = match self {
            Failure::Check(message) => ("check failed", message, 1),
            Failure::Input(message) => ("error", message, 2),
            Failure::ClosedPipe => return 0,
            Failure::Stopped(message) => ("stopped", message, 130),
        };
        // If stderr is closed too, there is nobody left to tell.
        let _ = writeln!(io::stderr(), "{kind}: {message}");
        code
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Input(format!("output cannot be written: {error}")),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        if error.is_closed_pipe() { Failure::ClosedPipe } else { Failure::input(error) }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Failure {
        Failure::input(error)
    }
}

impl From<jostle::Error> for Failure {
    fn from(error: jostle::Error) -> Failure {
        Failure::input(error)
    }
}

impl From<jostle::BoxError> for Failure {
    fn from(error: jostle::BoxError) -> Failure {
        Failure::input(error)
    }
}
