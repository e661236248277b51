//! Reads what a [`Recorder`](crate::Recorder) wrote, call by call.
//!
//! A recording is foreign data: it is read frame by frame, each is checked against its checksum,
//! every number in it is checked, and memory follows what is there, not what a length claims. A
//! file that a crash cut off can be read up to its last whole frame.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//!
//! use jostle::recording::{Call, Recording};
//! use jostle::{Aabb, Algorithm, Boxes, Detector, Filter, Recorder, Stepper, Workers};
//!
//! # #[derive(Clone, Default)]
//! # struct Memory(Arc<Mutex<Vec<u8>>>);
//! # impl std::io::Write for Memory {
//! #     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
//! #         self.0.lock().unwrap().write(bytes)
//! #     }
//! #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
//! # }
//! # let file = Memory::default();
//! # let mut detector = Detector::default();
//! # detector.record(Recorder::new(file.clone()));
//! # detector.boxes_mut().insert_all(&[Aabb::default(); 3], Filter::ALL)?;
//! # detector.step()?;
//! # detector.stop_recording().unwrap().finish()?;
//! # let bytes = file.0.lock().unwrap().clone();
//! // The same calls with another algorithm must find the same pairs.
//! let mut recording = Recording::new(&bytes[..])?;
//! let mut boxes = Boxes::new();
//! let mut stepper = Stepper::new(Algorithm::Sap, &Workers::one());
//! while let Some(call) = recording.next_call()? {
//!     call.apply(&mut boxes)?;
//!     if let Call::Step(expected) = call {
//!         stepper.step(&boxes)?;
//!         assert_eq!(stepper.hash(), expected);
//!         boxes.commit();
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod call;
mod decode;
mod error;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

pub use call::{Call, Start};
pub use error::RecordingError;

use crate::ds::xxh64::xxh64;
use crate::journal::{FRAME_HEADER, HEADER, MAGIC, StepHash, VERSION};
use decode::Decoder;

/// A recording that is being read.
#[derive(Debug)]
pub struct Recording<R> {
    reader: R,
    frame: Vec<u8>,
    /// How much of the frame is read.
    at: usize,
    /// Number of the next frame.
    number: u64,
    steps: u64,
    last: StepHash,
    begun: bool,
    ended: bool,
}

impl Recording<BufReader<File>> {
    /// Opens a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording<BufReader<File>>, RecordingError> {
        Recording::new(BufReader::new(File::open(path)?))
    }
}

impl<R: Read> Recording<R> {
    /// Reads the beginning; fails if this is no recording, or one of another version.
    pub fn new(mut reader: R) -> Result<Recording<R>, RecordingError> {
        let mut header = Vec::with_capacity(HEADER);
        reader.by_ref().take(HEADER as u64).read_to_end(&mut header)?;
        if header.len() < 8 || header[..8] != MAGIC {
            return Err(RecordingError::NotARecording);
        }
        let Some(&[v0, v1, v2, v3, z0, z1, z2, z3]) = header.get(8..) else {
            return Err(RecordingError::CutOff { steps: 0 });
        };
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if version != VERSION || [z0, z1, z2, z3] != [0; 4] {
            return Err(RecordingError::Version { found: version });
        }
        Ok(Recording {
            reader,
            frame: Vec::new(),
            at: 0,
            number: 0,
            steps: 0,
            last: StepHash::default(),
            begun: false,
            ended: false,
        })
    }

    /// Number of steps read so far, refused ones not counted.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The next call, or none after the end.
    pub fn next_call(&mut self) -> Result<Option<Call>, RecordingError> {
        while self.at == self.frame.len() {
            if !self.next_frame()? {
                return match self.ended {
                    true => Ok(None),
                    false => Err(RecordingError::CutOff { steps: self.steps }),
                };
            }
        }
        let mut decoder = Decoder::new(&self.frame[self.at..]);
        let call = call::read(&mut decoder, self.last);
        let used = self.frame.len() - self.at - decoder.rest();
        let call = call.and_then(|call| self.check_order(&call).map(|()| call));
        let call = call.map_err(|what| self.damage(what))?;
        self.at += used;
        self.note(&call);
        Ok(Some(call))
    }

    fn check_order(&self, call: &Call) -> Result<(), String> {
        match call {
            _ if self.ended => Err("calls after the end".into()),
            Call::Begin(_) if self.begun => Err("a second beginning".into()),
            Call::Begin(_) => Ok(()),
            _ if self.begun => Ok(()),
            _ => Err("calls before the beginning".into()),
        }
    }

    fn note(&mut self, call: &Call) {
        match call {
            Call::Begin(start) => {
                self.begun = true;
                self.last = StepHash::new(&start.pairs, &[], &[]);
            }
            Call::Step(hash) => {
                self.last = *hash;
                self.steps += 1;
            }
            Call::End => self.ended = true,
            _ => {}
        }
    }

    fn damage(&self, what: String) -> RecordingError {
        RecordingError::Damaged { frame: self.number.saturating_sub(1), steps: self.steps, what }
    }

    /// Reads a frame and checks it; false at the end of the file.
    fn next_frame(&mut self) -> Result<bool, RecordingError> {
        let cut_off = RecordingError::CutOff { steps: self.steps };
        self.frame.clear();
        self.at = 0;
        let mut header = Vec::with_capacity(FRAME_HEADER);
        self.reader.by_ref().take(FRAME_HEADER as u64).read_to_end(&mut header)?;
        let (words, _) = header.as_chunks::<8>();
        let [length, hash] = match words {
            _ if header.is_empty() => return Ok(false),
            [length, hash] => [length, hash].map(|word| u64::from_le_bytes(*word)),
            _ => return Err(cut_off),
        };
        // Memory grows with what is read, not with what is claimed.
        self.reader.by_ref().take(length).read_to_end(&mut self.frame)?;
        if (self.frame.len() as u64) < length {
            self.frame.clear();
            return Err(cut_off);
        }
        self.number += 1;
        if xxh64(&self.frame, self.number - 1) != hash {
            self.frame.clear();
            return Err(self.damage("its checksum is wrong".into()));
        }
        if length == 0 {
            return Err(self.damage("it is empty".into()));
        }
        Ok(true)
    }
}

impl From<io::Error> for RecordingError {
    fn from(error: io::Error) -> RecordingError {
        RecordingError::Read(error)
    }
}

#[cfg(test)]
mod tests;
