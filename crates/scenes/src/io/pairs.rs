//! Lists of pairs: `.npy` uint32 of shape (m, 2), or `.csv` with the columns a and b.

use super::output::Output;
use super::{FileError, Format, csv, npy, npy_header};
use std::path::Path;

/// Writes pairs, in the order given.
pub fn write_pairs(
    path: impl AsRef<Path>,
    pairs: impl ExactSizeIterator<Item = (u32, u32)>,
) -> Result<(), FileError> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    let mut output = Output::create(path)?;
    match format {
        Format::Csv => csv::write_pairs(&mut output, pairs)?,
        Format::Npy => write_npy(&mut output, pairs)?,
    }
    output.finish()
}

fn write_npy(
    output: &mut Output,
    pairs: impl ExactSizeIterator<Item = (u32, u32)>,
) -> Result<(), FileError> {
    output.write(&npy_header::write("<u4", &[pairs.len() as u64, 2]))?;
    for (a, b) in pairs {
        output.write(&(u64::from(a) | u64::from(b) << 32).to_le_bytes())?;
    }
    Ok(())
}

/// Reads a list of pairs as [`write_pairs`] writes it.
pub fn read_pairs(path: impl AsRef<Path>) -> Result<Vec<(u32, u32)>, FileError> {
    let path = path.as_ref();
    match Format::of(path)? {
        Format::Npy => npy::read_pairs(path),
        Format::Csv => csv::read_pairs(path),
    }
}
