//! Files of boxes and of pairs, by their ending: `.npy` or `.csv`.
//!
//! A box file holds rows of six numbers, min x y z and max x y z: as `.npy` float32 or float64 of
//! shape (n, 6) or (frames, n, 6), as `.csv` one frame. Frames are read and written one at a
//! time, so a sequence larger than memory works. Writing goes to a temporary file in the same
//! folder that takes the final name at the end: no reader ever sees half a file.

mod csv;
mod error;
mod npy;
mod npy_header;
mod output;
mod pairs;
mod read;
mod write;

pub use error::{FileError, FileFault};
pub use pairs::{read_pairs, write_pairs};
pub use read::{FrameReader, Invalid, SkippedRow, read_boxes};
pub use write::{FrameWriter, write_boxes};

use std::path::Path;

/// The kinds of files, told apart by the ending of the name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
}

impl Format {
    fn of(path: &Path) -> Result<Format, FileError> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("csv") => Ok(Format::Csv),
            _ => Err(FileError::new(path, FileFault::Ending)),
        }
    }
}
