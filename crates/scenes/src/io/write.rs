//! [`FrameWriter`]: frames of boxes into a file.

use super::output::is_standard;
use super::{FileError, FileFault, Format, OutputFile, csv, npy, npy_header};
use jostle::Aabb;
use std::path::Path;

/// Writes a sequence of frames, one after the other.
///
/// The file appears under its name at [`finish`](FrameWriter::finish); before, or without it,
/// nothing is there. A failed write leaves an older file of that name as it was. The name `-` is
/// standard output, as `.npy`.
#[derive(Debug)]
pub struct FrameWriter {
    output: OutputFile,
    format: Format,
    frames: usize,
    boxes: usize,
    written: usize,
}

impl FrameWriter {
    /// Begins a file of `frames` frames of `boxes` boxes each: as `.npy` of shape
    /// (frames, boxes, 6), as `.csv` one frame only.
    pub fn create(
        path: impl AsRef<Path>,
        frames: usize,
        boxes: usize,
    ) -> Result<FrameWriter, FileError> {
        let path = path.as_ref();
        let format = if is_standard(path) { Format::Npy } else { Format::to_write(path)? };
        if format == Format::Text && frames != 1 {
            return Err(FileError::new(path, FileFault::OneFrame(frames)));
        }
        let mut output = OutputFile::create(path)?;
        match format {
            Format::Text => csv::write_box_header(&mut output)?,
            _ => output.put(&sequence_header(frames, boxes))?,
        }
        Ok(FrameWriter { output, format, frames, boxes, written: 0 })
    }

    /// Writes the next frame.
    pub fn write_frame(&mut self, boxes: &[Aabb]) -> Result<(), FileError> {
        let fail = |fault| FileError::new(self.output.path(), fault).at_frame(self.written);
        if boxes.len() != self.boxes {
            return Err(fail(FileFault::BoxCount { wanted: self.boxes, found: boxes.len() }));
        }
        if self.written == self.frames {
            return Err(fail(FileFault::TooManyFrames(self.frames)));
        }
        match self.format {
            Format::Text => csv::write_boxes(&mut self.output, boxes)?,
            _ => npy::write_boxes(&mut self.output, boxes)?,
        }
        self.written += 1;
        Ok(())
    }

    /// The number of frames written so far.
    pub fn frames_written(&self) -> usize {
        self.written
    }

    /// Ends the file and gives it its name. With fewer frames than declared (a run that was
    /// stopped) the file states the number there is; standard output cannot, which is an error.
    pub fn finish(mut self) -> Result<(), FileError> {
        if self.format == Format::Npy && self.written != self.frames {
            self.output.rewrite_start(&sequence_header(self.written, self.boxes))?;
        }
        self.output.finish()
    }
}

fn sequence_header(frames: usize, boxes: usize) -> Vec<u8> {
    npy_header::write("<f4", &[frames as u64, boxes as u64, 6])
}

/// Writes one set of boxes: as `.npy` of shape (n, 6), or as `.csv`.
pub fn write_boxes(path: impl AsRef<Path>, boxes: &[Aabb]) -> Result<(), FileError> {
    let path = path.as_ref();
    if Format::to_write(path)? == Format::Text {
        let mut writer = FrameWriter::create(path, 1, boxes.len())?;
        writer.write_frame(boxes)?;
        return writer.finish();
    }
    let mut output = OutputFile::create(path)?;
    output.put(&npy_header::write("<f4", &[boxes.len() as u64, 6]))?;
    npy::write_boxes(&mut output, boxes)?;
    output.finish()
}
