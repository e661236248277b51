//! Boxes out of an `.npy` file, frame by frame, and arrays into one.
//!
//! float32 and float64 of either byte order, shape (n, 6) or (frames, n, 6), C order. float64 is
//! rounded outward. Memory is one frame and one chunk, and is only taken as data arrives: a
//! header that lies about its size costs nothing.

use super::npy_header::{self, fill};
use super::output::Output;
use super::{FileError, FileFault};
use jostle::Aabb;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

const COLUMNS: usize = 6;
const CHUNK_ROWS: usize = 4096;

/// Frames without boxes cost no bytes, so a header could promise any number of them.
const MOST_EMPTY_FRAMES: u64 = 1_000_000;

/// How a number is stored.
#[derive(Clone, Copy)]
struct Number {
    bytes: usize,
    big_endian: bool,
}

/// A file opened for reading.
pub(super) struct NpyFrames {
    reader: BufReader<File>,
    number: Number,
    pub(super) frames: usize,
    pub(super) boxes: usize,
    pub(super) sequence: bool,
    /// Bytes from the start of the file, for messages.
    wanted: u64,
    read: u64,
    chunk: Vec<u8>,
}

impl NpyFrames {
    pub(super) fn open(path: &Path) -> Result<NpyFrames, FileError> {
        let file = File::open(path).map_err(FileError::io(path))?;
        let about = file.metadata().map_err(FileError::io(path))?;
        // A pipe has no length; it is found out while reading.
        let length = about.is_file().then_some(about.len());
        NpyFrames::start(file, length).map_err(|fault| FileError::new(path, fault))
    }

    fn start(file: File, length: Option<u64>) -> Result<NpyFrames, FileFault> {
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let header = npy_header::read(&mut reader)?;
        let number = Number::of(&header.descr)?;
        let (sequence, frames, boxes) = frame_shape(&header.shape)?;
        if header.fortran_order {
            return Err(FileFault::FortranOrder);
        }
        let bytes = [frames, boxes, COLUMNS as u64, number.bytes as u64];
        let data = bytes.iter().try_fold(1u64, |product, &size| product.checked_mul(size));
        let wanted = data.and_then(|data| data.checked_add(header.length)).unwrap_or(u64::MAX);
        if let Some(found) = length.filter(|&found| found != wanted) {
            return Err(FileFault::Length { wanted, found });
        }
        let (frames, boxes) = (frames as usize, boxes as usize);
        let (read, chunk) = (header.length, vec![0; CHUNK_ROWS * COLUMNS * number.bytes]);
        Ok(NpyFrames { reader, number, frames, boxes, sequence, wanted, read, chunk })
    }

    /// Appends the next frame's boxes as they are stored.
    pub(super) fn read_frame(&mut self, out: &mut Vec<Aabb>) -> Result<(), FileFault> {
        let row_bytes = COLUMNS * self.number.bytes;
        let mut rows = self.boxes;
        while rows > 0 {
            let now = rows.min(CHUNK_ROWS);
            let chunk = &mut self.chunk[..now * row_bytes];
            let got = fill(&mut self.reader, chunk)?;
            self.read += got as u64;
            if got < chunk.len() {
                return Err(FileFault::Length { wanted: self.wanted, found: self.read });
            }
            let number = self.number;
            out.extend(chunk.chunks_exact(row_bytes).map(|row| number.decode(row)));
            rows -= now;
        }
        Ok(())
    }
}

/// Whether it is a sequence, and the numbers of frames and boxes.
fn frame_shape(shape: &[u64]) -> Result<(bool, u64, u64), FileFault> {
    let (sequence, frames, boxes) = match *shape {
        [boxes, 6] => (false, 1, boxes),
        [frames, boxes, 6] => (true, frames, boxes),
        _ => return Err(bad_shape(shape, "(n, 6) or (frames, n, 6)")),
    };
    if boxes > u64::from(u32::MAX) {
        return Err(bad_shape(shape, "at most 4294967295 boxes per frame"));
    }
    if boxes == 0 && frames > MOST_EMPTY_FRAMES || usize::try_from(frames).is_err() {
        return Err(bad_shape(shape, "at most a million frames if they hold no boxes"));
    }
    Ok((sequence, frames, boxes))
}

fn bad_shape(shape: &[u64], wanted: &'static str) -> FileFault {
    FileFault::Shape { found: shape.to_vec(), wanted }
}

impl Number {
    fn of(descr: &str) -> Result<Number, FileFault> {
        match descr {
            "<f4" => Ok(Number { bytes: 4, big_endian: false }),
            "<f8" => Ok(Number { bytes: 8, big_endian: false }),
            ">f4" => Ok(Number { bytes: 4, big_endian: true }),
            ">f8" => Ok(Number { bytes: 8, big_endian: true }),
            _ => Err(FileFault::Type {
                found: descr.to_owned(),
                wanted: "float32 or float64 with astype",
            }),
        }
    }

    /// The box of one row.
    #[inline]
    fn decode(self, row: &[u8]) -> Aabb {
        if self.bytes == 4 {
            let value = |at: usize| self.f32_at(row, at);
            return Aabb::new([value(0), value(1), value(2)], [value(3), value(4), value(5)]);
        }
        let value = |at: usize| self.f64_at(row, at);
        Aabb::from_f64([value(0), value(1), value(2)], [value(3), value(4), value(5)])
    }

    #[inline]
    fn f32_at(self, row: &[u8], at: usize) -> f32 {
        let bytes: [u8; 4] = std::array::from_fn(|k| row[4 * at + k]);
        if self.big_endian { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
    }

    #[inline]
    fn f64_at(self, row: &[u8], at: usize) -> f64 {
        let bytes: [u8; 8] = std::array::from_fn(|k| row[8 * at + k]);
        if self.big_endian { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) }
    }
}

/// Writes boxes as little-endian float32 rows.
pub(super) fn write_boxes(output: &mut Output, boxes: &[Aabb]) -> Result<(), FileError> {
    let mut chunk = Vec::with_capacity(CHUNK_ROWS * 24);
    for rows in boxes.chunks(CHUNK_ROWS) {
        chunk.clear();
        for aabb in rows {
            for bound in aabb.min.iter().chain(&aabb.max) {
                chunk.extend_from_slice(&bound.to_le_bytes());
            }
        }
        output.write(&chunk)?;
    }
    Ok(())
}

/// Reads a whole (m, 2) array of uint32.
pub(super) fn read_pairs(path: &Path) -> Result<Vec<(u32, u32)>, FileError> {
    let file = File::open(path).map_err(FileError::io(path))?;
    pairs_of(BufReader::new(file)).map_err(|fault| FileError::new(path, fault))
}

fn pairs_of(mut reader: impl Read) -> Result<Vec<(u32, u32)>, FileFault> {
    let header = npy_header::read(&mut reader)?;
    if header.descr != "<u4" {
        return Err(FileFault::Type { found: header.descr, wanted: "uint32" });
    }
    let &[count, 2] = &header.shape[..] else {
        return Err(bad_shape(&header.shape, "(m, 2)"));
    };
    if header.fortran_order {
        return Err(FileFault::FortranOrder);
    }
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(FileFault::Io)?;
    let found = header.length + bytes.len() as u64;
    let wanted = count.saturating_mul(8).saturating_add(header.length);
    if wanted != found {
        return Err(FileFault::Length { wanted, found });
    }
    let value = |bytes: &[u8]| u32::from_le_bytes(std::array::from_fn(|k| bytes[k]));
    Ok(bytes.chunks_exact(8).map(|pair| (value(pair), value(&pair[4..]))).collect())
}
