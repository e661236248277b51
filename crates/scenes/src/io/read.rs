//! [`FrameReader`]: frames of boxes out of a file.

use super::csv::CsvFrame;
use super::npy::NpyFrames;
use super::{FileError, FileFault, Format, Input, csv, npy_header, npz};
use jostle::{Aabb, BoxFault};
use std::fs::File;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What to do with rows that are not boxes: NaN, or min above max.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Invalid {
    /// Stop with an error at the first one.
    #[default]
    Refuse,
    /// Leave them out and list them.
    Skip,
}

/// A row that was left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkippedRow {
    /// The row in the file's frame, from 0.
    pub row: usize,
    /// Why it is not a box.
    pub fault: BoxFault,
}

#[derive(Debug)]
enum Source {
    Npy(NpyFrames),
    Csv(CsvFrame),
}

/// Reads a file of boxes frame by frame, in the memory of one frame.
///
/// ```no_run
/// use jostle_scenes::FrameReader;
///
/// let mut reader = FrameReader::open("boxes.npy")?;
/// let mut boxes = Vec::new();
/// while let Some(frame) = reader.next_frame(&mut boxes)? {
///     println!("frame {frame} of {}: {} boxes", reader.frames(), boxes.len());
/// }
/// # Ok::<(), jostle_scenes::FileError>(())
/// ```
#[derive(Debug)]
pub struct FrameReader {
    path: PathBuf,
    source: Source,
    invalid: Invalid,
    next: usize,
    /// The rows of each frame that are read.
    part: Range<usize>,
    rows: Vec<u32>,
    skipped: Vec<SkippedRow>,
}

impl FrameReader {
    /// Opens a file; a row that is not a box is an error.
    pub fn open(path: impl AsRef<Path>) -> Result<FrameReader, FileError> {
        FrameReader::open_with(path, Invalid::Refuse)
    }

    /// Opens a file. Its form is checked here, its numbers when their frame is read.
    pub fn open_with(path: impl AsRef<Path>, invalid: Invalid) -> Result<FrameReader, FileError> {
        let path = path.as_ref();
        let source = match Format::to_read(path)? {
            Format::Npy => Source::Npy(NpyFrames::open(path)?),
            Format::Npz => Source::Npy(npz::open(path)?),
            Format::Text => {
                let file = File::open(path).map_err(FileError::io(path))?;
                Source::Csv(csv::read_boxes(path, Box::new(file))?)
            }
        };
        Ok(FrameReader::new(path, source, invalid))
    }

    /// Reads a stream, an array or text as its first bytes tell; messages call it `name`.
    pub fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        invalid: Invalid,
    ) -> Result<FrameReader, FileError> {
        let path = Path::new(name);
        let fail = |fault| FileError::new(path, fault);
        let (mut reader, mut start) = (reader, vec![0; 6]);
        let got = npy_header::fill(&mut reader, &mut start).map_err(fail)?;
        start.truncate(got);
        let kind = start_of(&start).map_err(fail)?;
        let input: Input = Box::new(Cursor::new(start).chain(reader));
        let source = match kind {
            Format::Text => Source::Csv(csv::read_boxes(path, input)?),
            _ => Source::Npy(NpyFrames::start(input, None).map_err(fail)?),
        };
        Ok(FrameReader::new(path, source, invalid))
    }

    fn new(path: &Path, source: Source, invalid: Invalid) -> FrameReader {
        let (rows, skipped) = (Vec::new(), Vec::new());
        let path = path.to_owned();
        let mut reader = FrameReader { path, source, invalid, next: 0, part: 0..0, rows, skipped };
        reader.part = 0..reader.boxes();
        reader
    }

    /// Reads only these rows of each frame, as one of several readers of a file does; the others
    /// are passed over. Messages go on counting rows from the start of the frame. Call it before
    /// the first frame; panics if a frame has fewer rows.
    pub fn restrict_rows(&mut self, rows: Range<usize>) {
        assert!(rows.start <= rows.end && rows.end <= self.boxes(), "rows {rows:?} of a frame");
        if let Source::Npy(npy) = &mut self.source {
            npy.part = rows.clone();
        }
        self.part = rows;
    }

    /// The number of frames in the file.
    pub fn frames(&self) -> usize {
        match &self.source {
            Source::Npy(npy) => npy.layout.frames,
            Source::Csv(_) => 1,
        }
    }

    /// The number of rows in each frame, those that are not boxes included.
    pub fn boxes(&self) -> usize {
        match &self.source {
            Source::Npy(npy) => npy.layout.boxes,
            Source::Csv(csv) => csv.rows,
        }
    }

    /// Returns true if the file's shape has frames in front, even a single one.
    pub fn is_sequence(&self) -> bool {
        matches!(&self.source, Source::Npy(npy) if npy.layout.sequence)
    }

    /// Replaces the content of `out` by the next frame and returns its number; `None` after the
    /// last. After an error nothing more is read.
    pub fn next_frame(&mut self, out: &mut Vec<Aabb>) -> Result<Option<usize>, FileError> {
        out.clear();
        self.rows.clear();
        self.skipped.clear();
        let frame = self.next;
        if frame >= self.frames() {
            return Ok(None);
        }
        self.next = usize::MAX;
        self.fill(frame, out)?;
        self.check(frame, out)?;
        self.next = frame + 1;
        Ok(Some(frame))
    }

    fn fill(&mut self, frame: usize, out: &mut Vec<Aabb>) -> Result<(), FileError> {
        match &mut self.source {
            // The only frame is handed over rather than copied.
            Source::Csv(csv) => {
                *out = std::mem::take(&mut csv.boxes);
                out.truncate(self.part.end);
                out.drain(..self.part.start);
            }
            Source::Npy(npy) => npy.read_frame(out).map_err(|fault| {
                let error = FileError::new(&self.path, fault);
                if npy.layout.sequence { error.at_frame(frame) } else { error }
            })?,
        }
        Ok(())
    }

    fn check(&mut self, frame: usize, out: &mut Vec<Aabb>) -> Result<(), FileError> {
        let rows = self.part.clone();
        let faults = rows.zip(out.iter()).map(|(row, aabb)| (row, aabb.check().err()));
        let first = faults.filter_map(|(row, fault)| Some((row, fault?))).next();
        let Some((row, fault)) = first else {
            return Ok(());
        };
        if self.invalid == Invalid::Refuse {
            return Err(self.row_error(frame, row, fault));
        }
        let (rows, skipped) = (&mut self.rows, &mut self.skipped);
        let mut row = self.part.start;
        out.retain(|aabb| {
            let fault = aabb.check().err();
            match fault {
                None => rows.push(row as u32),
                Some(fault) => skipped.push(SkippedRow { row, fault }),
            }
            row += 1;
            fault.is_none()
        });
        Ok(())
    }

    fn row_error(&self, frame: usize, row: usize, fault: BoxFault) -> FileError {
        let error = FileError::new(&self.path, FileFault::Box(fault)).at_row(row);
        match &self.source {
            Source::Csv(csv) => error.at_line(u64::from(csv.lines[row])),
            Source::Npy(npy) if npy.layout.sequence => error.at_frame(frame),
            Source::Npy(_) => error,
        }
    }

    /// For each box of the last frame its row in the file; `None` if no row was left out, so
    /// that index and row are the same.
    pub fn rows(&self) -> Option<&[u32]> {
        (!self.skipped.is_empty()).then_some(&self.rows[..])
    }

    /// The rows of the last frame that were left out, ascending.
    pub fn skipped(&self) -> &[SkippedRow] {
        &self.skipped
    }
}

/// What a stream is, by its first bytes.
fn start_of(start: &[u8]) -> Result<Format, FileFault> {
    match start {
        [0x93, b'N', b'U', b'M', b'P', b'Y'] => Ok(Format::Npy),
        [0x1f, 0x8b, ..] => Err(FileFault::Compressed("gunzip -c")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(FileFault::Compressed("zstd -dc")),
        [b'P', b'K', 3, 4, ..] => {
            Err(FileFault::Archive("an archive cannot be read from a pipe; give its name".into()))
        }
        _ => Ok(Format::Text),
    }
}

/// Reads a file that holds one frame; a row that is not a box is an error.
pub fn read_boxes(path: impl AsRef<Path>) -> Result<Vec<Aabb>, FileError> {
    let mut reader = FrameReader::open(path)?;
    if reader.frames() != 1 {
        return Err(FileError::new(&reader.path, FileFault::NotOneFrame(reader.frames())));
    }
    let mut boxes = Vec::new();
    reader.next_frame(&mut boxes)?;
    Ok(boxes)
}
