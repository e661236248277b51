//! Lists of pairs: `.npy` uint32 of shape (m, 2), or `.csv` with the columns a and b. Of a sequence
//! there is a column in front: frame, a, b.

use super::output::is_standard;
use super::{FileError, Format, OutputFile, csv, npy, npy_header};
use std::io::Write;
use std::path::Path;

/// Writes pairs frame by frame, in constant memory.
///
/// The file appears under its name at [`finish`](PairWriter::finish). The name `-` is standard
/// output, as `.csv`.
#[derive(Debug)]
pub struct PairWriter {
    output: OutputFile,
    format: Format,
    sequence: bool,
    rows: u64,
    chunk: Vec<u8>,
}

impl PairWriter {
    /// Begins a file; its ending tells the format.
    pub fn create(path: impl AsRef<Path>, sequence: bool) -> Result<PairWriter, FileError> {
        let path = path.as_ref();
        let format = if is_standard(path) { Format::Text } else { Format::to_write(path)? };
        let output = OutputFile::create(path)?;
        let mut writer = PairWriter { output, format, sequence, rows: 0, chunk: Vec::new() };
        let start = writer.start();
        writer.output.put(&start)?;
        Ok(writer)
    }

    fn start(&self) -> Vec<u8> {
        match (self.format, self.sequence) {
            (Format::Text, true) => b"frame,a,b\n".to_vec(),
            (Format::Text, false) => b"a,b\n".to_vec(),
            (_, sequence) => npy_header::write("<u4", &[self.rows, if sequence { 3 } else { 2 }]),
        }
    }

    /// Writes the pairs of a frame, in the order given.
    pub fn write_frame(
        &mut self,
        frame: usize,
        pairs: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<(), FileError> {
        for (a, b) in pairs {
            self.push_row(frame as u32, a, b);
            self.rows += 1;
            if self.chunk.len() >= 1 << 16 {
                self.flush_chunk()?;
            }
        }
        self.flush_chunk()
    }

    fn flush_chunk(&mut self) -> Result<(), FileError> {
        self.output.put(&self.chunk)?;
        self.chunk.clear();
        Ok(())
    }

    fn push_row(&mut self, frame: u32, a: u32, b: u32) {
        let columns = [frame, a, b];
        let columns = if self.sequence { &columns[..] } else { &columns[1..] };
        for (index, column) in columns.iter().enumerate() {
            if self.format != Format::Text {
                self.chunk.extend_from_slice(&column.to_le_bytes());
                continue;
            }
            let separator = if index + 1 == columns.len() { "\n" } else { "," };
            // Writing to a Vec cannot fail.
            let _ = write!(self.chunk, "{column}{separator}");
        }
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), FileError> {
        if self.format != Format::Text && self.output.is_regular() {
            let header = self.start();
            self.output.rewrite_start(&header)?;
        }
        self.output.finish()
    }
}

/// Writes one list of pairs, in the order given.
pub fn write_pairs(
    path: impl AsRef<Path>,
    pairs: impl IntoIterator<Item = (u32, u32)>,
) -> Result<(), FileError> {
    let mut writer = PairWriter::create(path, false)?;
    writer.write_frame(0, pairs)?;
    writer.finish()
}

/// Reads a list of pairs as [`write_pairs`] writes it.
pub fn read_pairs(path: impl AsRef<Path>) -> Result<Vec<(u32, u32)>, FileError> {
    let path = path.as_ref();
    match Format::to_write(path)? {
        Format::Text => csv::read_pairs(path),
        _ => npy::read_pairs(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_has_a_column_for_the_frame() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, npy) = (folder.path().join("p.csv"), folder.path().join("p.npy"));
        for path in [&csv, &npy] {
            let mut writer = PairWriter::create(path, true).unwrap();
            writer.write_frame(0, [(1, 2)]).unwrap();
            writer.write_frame(1, []).unwrap();
            writer.write_frame(2, [(3, 4), (3, 5)]).unwrap();
            writer.finish().unwrap();
        }
        assert_eq!(std::fs::read_to_string(&csv).unwrap(), "frame,a,b\n0,1,2\n2,3,4\n2,3,5\n");
        let bytes = std::fs::read(&npy).unwrap();
        assert!(String::from_utf8_lossy(&bytes[..128]).contains("'shape': (3, 3)"));
        assert_eq!(bytes.len(), 128 + 3 * 3 * 4);
    }
}
