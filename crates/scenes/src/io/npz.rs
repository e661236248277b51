//! An `.npz` file with one array: a zip archive around an `.npy` file, stored as `numpy.savez` does
//! or deflated as `numpy.savez_compressed` does.
//!
//! The crate zip reads the directory. The array itself is read here as a stream, frame by frame,
//! and its checksum is compared at the end. The directory's size must be what the array's header
//! asks for before a byte of the array is unpacked, so memory follows what is really there.

use super::npy::NpyFrames;
use super::{FileError, FileFault, Input};
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use zip::{CompressionMethod, ZipArchive};

/// Names shown of an archive that holds several arrays.
const SHOWN: usize = 5;

pub(super) fn open(path: &Path) -> Result<NpyFrames, FileError> {
    let file = File::open(path).map_err(FileError::io(path))?;
    start(file).map_err(|fault| FileError::new(path, fault))
}

fn start(file: File) -> Result<NpyFrames, FileFault> {
    let array = Array::find(&file)?;
    let mut file = file;
    file.seek(SeekFrom::Start(array.start)).map_err(FileFault::Io)?;
    let packed = file.take(array.packed);
    let unpacked: Input = match array.method {
        CompressionMethod::Stored => Box::new(packed),
        _ => Box::new(DeflateDecoder::new(packed)),
    };
    let checked = Checked { inner: unpacked, crc: Crc::new(), left: array.bytes, sum: array.sum };
    NpyFrames::start(Box::new(checked), Some(array.bytes))
}

/// Where the only array of an archive is.
struct Array {
    start: u64,
    packed: u64,
    bytes: u64,
    sum: u32,
    method: CompressionMethod,
}

impl Array {
    fn find(file: &File) -> Result<Array, FileFault> {
        let mut archive = ZipArchive::new(file).map_err(FileFault::archive)?;
        if archive.len() != 1 {
            let names =
                archive.file_names().flatten().take(SHOWN).map(|name| short(&name)).collect();
            return Err(FileFault::Arrays { count: archive.len(), names });
        }
        let entry = archive.by_index_raw(0).map_err(FileFault::archive)?;
        let method = entry.compression();
        if entry.encrypted() {
            return Err(FileFault::Archive("the array is encrypted".into()));
        }
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(FileFault::Archive(format!("the array is packed by {method}")));
        }
        let start = entry.data_start().ok_or_else(|| {
            FileFault::Archive("the archive does not say where the array begins".into())
        })?;
        Ok(Array {
            start,
            packed: entry.compressed_size(),
            bytes: entry.size(),
            sum: entry.crc32(),
            method,
        })
    }
}

/// A name from the archive, without its ending and without surprises.
fn short(name: &str) -> String {
    let name = name.strip_suffix(".npy").unwrap_or(name);
    name.chars().take(20).flat_map(char::escape_debug).collect()
}

/// Compares the checksum when the last byte is read.
struct Checked<R> {
    inner: R,
    crc: Crc,
    left: u64,
    sum: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = self.inner.read(&mut buffer[..most])?;
        self.crc.update(&buffer[..got]);
        self.left -= got as u64;
        if got > 0 && self.left == 0 && self.crc.sum() != self.sum {
            let text = "the array is damaged: its checksum differs; write or copy the file again";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(got)
    }
}
