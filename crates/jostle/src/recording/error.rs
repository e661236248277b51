//! What can be wrong with a recording.

use std::{fmt, io};

/// Why a recording cannot be read, or not further.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file could not be read.
    Read(io::Error),
    /// The file does not begin as a recording does.
    NotARecording,
    /// Another version of the format.
    Version {
        /// The version of the file.
        found: u32,
    },
    /// The file ends without an end, as after a crash; everything before was read.
    CutOff {
        /// Number of whole steps.
        steps: u64,
    },
    /// A frame is not as it was written.
    Damaged {
        /// The frame, from 0.
        frame: u64,
        /// Number of whole steps before it.
        steps: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A call does not fit the boxes it is applied to.
    Misfit(String),
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingError::Read(error) => write!(f, "the recording cannot be read: {error}"),
            RecordingError::NotARecording => f.write_str("this is no recording"),
            RecordingError::Version { found } => write!(
                f,
                "this recording is of version {found}, and only version {} is understood; read it \
                 with the jostle that wrote it",
                crate::journal::VERSION
            ),
            RecordingError::CutOff { steps } => write!(
                f,
                "the recording breaks off after step {steps}; what was recording it ended early"
            ),
            RecordingError::Damaged { frame, steps, what } => {
                write!(f, "frame {frame} of the recording, after step {steps}, is damaged: {what}")
            }
            RecordingError::Misfit(what) => write!(f, "the recording contradicts itself: {what}"),
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RecordingError::Read(error) => Some(error),
            _ => None,
        }
    }
}
