//! Files of boxes and of pairs.
//!
//! A box file is an array (`.npy`, or `.npz` with one array), read frame by frame, so that a
//! sequence larger than memory works; or text (`.csv`, `.tsv`, `.txt`) with one frame. Standard
//! input is told apart by its first bytes. Every number and shape that can hold boxes is read,
//! exactly or rounded outward: [`npy_number`], [`npy_layout`] and [`csv`] say which. Written are
//! `.npy` in float32 of shape (frames, n, 6) and `.csv`. Writing goes to a temporary file in the
//! same folder that takes the final name at the end: no reader ever sees half a file.

mod csv;
mod error;
mod npy;
mod npy_header;
mod npy_layout;
mod npy_number;
mod npz;
mod output;
mod pairs;
mod read;
mod write;

pub use error::{FileError, FileFault};
pub use output::OutputFile;
pub use pairs::{PairWriter, read_pairs, write_pairs};
pub use read::{FrameReader, Invalid, SkippedRow, read_boxes};
pub use write::{FrameWriter, write_boxes};

use std::io::Read;
use std::path::Path;

/// Where bytes come from.
type Input = Box<dyn Read + Send>;

/// The kinds of files, told apart by the ending of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    Npz,
    Text,
}

impl Format {
    /// What a file can be read as.
    fn to_read(path: &Path) -> Result<Format, FileError> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let fault = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npy") => return Ok(Format::Npy),
            Some("npz") => return Ok(Format::Npz),
            Some("csv" | "tsv" | "txt") => return Ok(Format::Text),
            Some("gz") => FileFault::Compressed("gunzip -c"),
            Some("zst") => FileFault::Compressed("zstd -dc"),
            Some("xz") => FileFault::Compressed("xz -dc"),
            Some("bz2") => FileFault::Compressed("bunzip2 -c"),
            _ => FileFault::Ending,
        };
        Err(FileError::new(path, fault))
    }

    /// What a file is to be written as.
    fn to_write(path: &Path) -> Result<Format, FileError> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("csv") => Ok(Format::Text),
            _ => Err(FileError::new(path, FileFault::OutputEnding)),
        }
    }
}
