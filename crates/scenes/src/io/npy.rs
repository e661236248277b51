//! Boxes out of an `.npy` file, frame by frame, and arrays into one.
//!
//! Numbers are read as [`Number`] tells, shapes as [`Layout`] tells, in either byte order and in C
//! or Fortran order. In C order memory is one frame and one chunk. In Fortran order a frame is
//! scattered over the whole array, which is held as it is stored. Either way memory is only taken
//! as data arrives: a header that lies about its size costs nothing.

use super::npy_header::{self, fill};
use super::npy_layout::Layout;
use super::npy_number::{Number, Rounding};
use super::{FileError, FileFault, Input, OutputFile};
use jostle::Aabb;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

const CHUNK_ROWS: usize = 4096;

/// An array opened for reading.
pub(super) struct NpyFrames {
    reader: BufReader<Input>,
    number: Number,
    pub(super) layout: Layout,
    /// The rows of each frame that are wanted.
    pub(super) part: Range<usize>,
    /// The file once more, to pass over rows that are not wanted; a pipe has to be read.
    seeker: Option<File>,
    /// Bytes from the start of the file, for messages.
    wanted: u64,
    read: u64,
    /// True if the length of the file is not known beforehand, as of a pipe.
    endless: bool,
    /// Fortran order: the whole array, once it is read. C order: some rows.
    stored: Vec<u8>,
    fortran_order: bool,
    next: usize,
}

impl std::fmt::Debug for NpyFrames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NpyFrames").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl NpyFrames {
    pub(super) fn open(path: &Path) -> Result<NpyFrames, FileError> {
        let file = File::open(path).map_err(FileError::io(path))?;
        let about = file.metadata().map_err(FileError::io(path))?;
        // A pipe has no length; it is found out while reading.
        let length = about.is_file().then_some(about.len());
        // Both share one place in the file.
        let seeker = if about.is_file() { file.try_clone().ok() } else { None };
        let mut frames = NpyFrames::start(Box::new(file), length)
            .map_err(|fault| FileError::new(path, fault))?;
        frames.seeker = seeker;
        Ok(frames)
    }

    /// Begins to read an array whose bytes, header included, are `length` if that is known.
    pub(super) fn start(input: Input, length: Option<u64>) -> Result<NpyFrames, FileFault> {
        let mut reader = BufReader::with_capacity(1 << 16, input);
        let header = npy_header::read(&mut reader)?;
        let (number, layout) = (Number::of(&header.descr)?, Layout::of(&header.shape)?);
        let data = layout.bytes(number.bytes);
        let wanted = data.and_then(|data| data.checked_add(header.length)).unwrap_or(u64::MAX);
        if let Some(found) = length.filter(|&found| found != wanted) {
            return Err(FileFault::Length { wanted, found });
        }
        Ok(NpyFrames {
            reader,
            number,
            layout,
            part: 0..layout.boxes,
            seeker: None,
            wanted,
            read: header.length,
            endless: length.is_none(),
            stored: Vec::new(),
            fortran_order: header.fortran_order,
            next: 0,
        })
    }

    /// Appends the next frame's boxes as they are stored.
    pub(super) fn read_frame(&mut self, out: &mut Vec<Aabb>) -> Result<(), FileFault> {
        if self.fortran_order {
            self.read_scattered(out)?;
        } else {
            self.read_rows(out)?;
        }
        self.next += 1;
        if self.endless && self.next == self.layout.frames {
            return self.expect_end();
        }
        Ok(())
    }

    fn cut_off(&self) -> FileFault {
        FileFault::Length { wanted: self.wanted, found: self.read }
    }

    /// A length that is not known beforehand must be right at the end.
    fn expect_end(&mut self) -> Result<(), FileFault> {
        match fill(&mut self.reader, &mut [0])? {
            0 => Ok(()),
            _ => Err(FileFault::Length { wanted: self.wanted, found: self.wanted + 1 }),
        }
    }

    fn read_rows(&mut self, out: &mut Vec<Aabb>) -> Result<(), FileFault> {
        let row_bytes = self.layout.columns() * self.number.bytes;
        self.pass_over((self.part.start * row_bytes) as u64)?;
        let mut rows = self.part.len();
        self.stored.resize(rows.min(CHUNK_ROWS) * row_bytes, 0);
        while rows > 0 {
            let now = rows.min(CHUNK_ROWS);
            let chunk = &mut self.stored[..now * row_bytes];
            let got = fill(&mut self.reader, chunk)?;
            self.read += got as u64;
            if got < chunk.len() {
                return Err(self.cut_off());
            }
            let (number, axes) = (self.number, self.layout.axes);
            out.extend(chunk.chunks_exact(row_bytes).map(|row| decode(number, axes, row)));
            rows -= now;
        }
        self.pass_over(((self.layout.boxes - self.part.end) * row_bytes) as u64)
    }

    /// Leaves out the next bytes, without reading them if the file can be moved in.
    fn pass_over(&mut self, bytes: u64) -> Result<(), FileFault> {
        let buffered = self.reader.buffer().len();
        let passed = match &mut self.seeker {
            Some(file) if bytes > buffered as u64 => {
                self.reader.consume(buffered);
                let further = (bytes - buffered as u64) as i64;
                file.seek(SeekFrom::Current(further)).map(|_| bytes)
            }
            _ => io::copy(&mut (&mut self.reader).take(bytes), &mut io::sink()),
        };
        let passed = passed.map_err(FileFault::Io)?;
        self.read += passed;
        if passed == bytes { Ok(()) } else { Err(self.cut_off()) }
    }

    fn read_scattered(&mut self, out: &mut Vec<Aabb>) -> Result<(), FileFault> {
        if self.next == 0 {
            let data = self.wanted - self.read;
            let got = (&mut self.reader).take(data).read_to_end(&mut self.stored);
            self.read += got.map_err(FileFault::Io)? as u64;
        }
        if self.read < self.wanted {
            return Err(self.cut_off());
        }
        let (number, layout, frame) = (self.number, self.layout, self.next);
        let bound = |index: usize, corner: usize, axis: usize| {
            if axis >= layout.axes {
                return 0.0;
            }
            let place = layout.fortran_place(frame, index, corner, axis);
            let rounding = if corner == 0 { Rounding::Down } else { Rounding::Up };
            number.bound(&self.stored[place * number.bytes..], rounding)
        };
        let corner = |index, corner| std::array::from_fn(|axis| bound(index, corner, axis));
        out.extend(self.part.clone().map(|index| Aabb::new(corner(index, 0), corner(index, 1))));
        Ok(())
    }
}

/// The box of one row.
#[inline]
fn decode(number: Number, axes: usize, row: &[u8]) -> Aabb {
    if number.is_f32() && axes == 3 {
        let corner =
            |first: usize| std::array::from_fn(|axis| number.f32_at(&row[4 * (first + axis)..]));
        return Aabb::new(corner(0), corner(3));
    }
    let mut corners = [[0.0; 3]; 2];
    for (corner, rounding) in [Rounding::Down, Rounding::Up].into_iter().enumerate() {
        for axis in 0..axes {
            let place = (axes * corner + axis) * number.bytes;
            corners[corner][axis] = number.bound(&row[place..], rounding);
        }
    }
    Aabb::new(corners[0], corners[1])
}

/// Writes boxes as little-endian float32 rows.
pub(super) fn write_boxes(output: &mut OutputFile, boxes: &[Aabb]) -> Result<(), FileError> {
    let mut chunk = Vec::with_capacity(CHUNK_ROWS * 24);
    for rows in boxes.chunks(CHUNK_ROWS) {
        chunk.clear();
        for aabb in rows {
            for bound in aabb.min.iter().chain(&aabb.max) {
                chunk.extend_from_slice(&bound.to_le_bytes());
            }
        }
        output.put(&chunk)?;
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
        return Err(FileFault::Shape { found: header.shape, wanted: "(m, 2)" });
    };
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(FileFault::Io)?;
    let found = header.length + bytes.len() as u64;
    let wanted = count.saturating_mul(8).saturating_add(header.length);
    if wanted != found {
        return Err(FileFault::Length { wanted, found });
    }
    let value = |place: usize| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * place + k]));
    // In Fortran order all first ids stand before all second ones.
    let count = count as usize;
    let pair = |index: usize| match header.fortran_order {
        true => (value(index), value(count + index)),
        false => (value(2 * index), value(2 * index + 1)),
    };
    Ok((0..count).map(pair).collect())
}
