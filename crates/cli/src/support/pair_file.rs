//! [`PairFile`]: pairs written frame by frame as `.npy` or `.csv`, in constant memory.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::support::failure::Failure;
use crate::support::files::OutputFile;

/// Room for the header of a `.npy` file; it is written again when the number of rows is known.
const HEADER: usize = 128;

/// Columns `a, b`, or `frame, a, b` for a sequence.
pub struct PairFile {
    path: PathBuf,
    file: OutputFile,
    npy: bool,
    sequence: bool,
    rows: u64,
    bytes: Vec<u8>,
}

impl PairFile {
    /// Begins a file; its ending tells the format.
    pub fn create(path: &Path, sequence: bool) -> Result<PairFile, Failure> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let npy = match ending.to_ascii_lowercase().as_str() {
            "npy" => true,
            "csv" => false,
            _ => {
                let message = format!("{}: pairs are written as .npy or .csv", path.display());
                return Err(Failure::Input(message));
            }
        };
        let file = OutputFile::create(path)?;
        let bytes = Vec::with_capacity(1 << 16);
        let mut file = PairFile { path: path.to_owned(), file, npy, sequence, rows: 0, bytes };
        let start = file.start();
        file.write(&start)?;
        Ok(file)
    }

    fn start(&self) -> Vec<u8> {
        match (self.npy, self.sequence) {
            (true, _) => npy_header(self.rows, if self.sequence { 3 } else { 2 }),
            (false, true) => b"frame,a,b\n".to_vec(),
            (false, false) => b"a,b\n".to_vec(),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::unwritable(&self.path, error))
    }

    /// Writes the pairs of a frame.
    pub fn frame(&mut self, frame: usize, pairs: &[(u32, u32)]) -> Result<(), Failure> {
        let mut bytes = std::mem::take(&mut self.bytes);
        for some in pairs.chunks(4096) {
            bytes.clear();
            for &(a, b) in some {
                self.row(frame as u32, a, b, &mut bytes);
            }
            self.write(&bytes)?;
        }
        self.bytes = bytes;
        self.rows += pairs.len() as u64;
        Ok(())
    }

    fn row(&self, frame: u32, a: u32, b: u32, bytes: &mut Vec<u8>) {
        let columns = [frame, a, b];
        let columns = if self.sequence { &columns[..] } else { &columns[1..] };
        if self.npy {
            columns.iter().for_each(|column| bytes.extend_from_slice(&column.to_le_bytes()));
            return;
        }
        for (index, column) in columns.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            // Writing to a Vec cannot fail.
            let _ = write!(bytes, "{comma}{column}");
        }
        bytes.push(b'\n');
    }

    /// Gives the file its name.
    pub fn finish(mut self) -> Result<(), Failure> {
        if self.npy {
            let header = self.start();
            let written = self.file.overwrite_start(&header);
            written.map_err(|error| Failure::unwritable(&self.path, error))?;
        }
        self.file.finish()
    }
}

/// The header of a version 1.0 file of little-endian u32, padded so that it never changes length.
fn npy_header(rows: u64, columns: usize) -> Vec<u8> {
    let text =
        format!("{{'descr': '<u4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend_from_slice(&((HEADER - 10) as u16).to_le_bytes());
    header.extend_from_slice(text.as_bytes());
    header.resize(HEADER - 1, b' ');
    header.push(b'\n');
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let pairs: Vec<(u32, u32)> = (0..5000).map(|k| (k, k + 1)).collect();
        for name in ["p.npy", "p.csv"] {
            let path = folder.path().join(name);
            let mut file = PairFile::create(&path, false).unwrap();
            file.frame(0, &pairs).unwrap();
            file.finish().unwrap();
            assert_eq!(jostle_scenes::read_pairs(&path).unwrap(), pairs);
        }
    }

    #[test]
    fn a_sequence_has_a_column_for_the_frame() {
        let folder = tempfile::tempdir().unwrap();
        let (csv, npy) = (folder.path().join("p.csv"), folder.path().join("p.npy"));
        for path in [&csv, &npy] {
            let mut file = PairFile::create(path, true).unwrap();
            file.frame(0, &[(1, 2)]).unwrap();
            file.frame(1, &[]).unwrap();
            file.frame(2, &[(3, 4), (3, 5)]).unwrap();
            file.finish().unwrap();
        }
        assert_eq!(std::fs::read_to_string(&csv).unwrap(), "frame,a,b\n0,1,2\n2,3,4\n2,3,5\n");
        let bytes = std::fs::read(&npy).unwrap();
        assert!(String::from_utf8_lossy(&bytes[..HEADER]).contains("'shape': (3, 3)"));
        assert_eq!(bytes.len(), HEADER + 3 * 3 * 4);
    }

    #[test]
    fn other_endings_are_refused() {
        let Err(Failure::Input(message)) = PairFile::create(Path::new("p.txt"), false) else {
            panic!("accepted");
        };
        assert!(message.contains(".npy or .csv"), "{message}");
    }
}
