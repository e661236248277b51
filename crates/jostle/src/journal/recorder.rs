//! [`Recorder`]: takes the calls of a detector and makes frames of them.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use super::sink::{Queued, Sink};
use super::{Encoder, FRAME_HEADER, HEADER, MAGIC, VERSION, code};
use crate::aabb::Aabb;
use crate::ds::xxh64::xxh64_of;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::Pair;

/// A frame ends with the call that makes it larger than this.
const FRAME: usize = 1 << 20;

/// How long a step waits for a writer that has fallen behind, unless said otherwise.
const PATIENCE: Duration = Duration::from_millis(100);

/// Why a recording ended early. The detector is not concerned.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordError {
    /// The output could not be written, for instance because a disk is full.
    Write(io::Error),
    /// The output takes bytes more slowly than steps make them.
    Behind {
        /// Bytes that wait to be written.
        unwritten: usize,
    },
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::Write(error) => write!(f, "the recording cannot be written: {error}"),
            RecordError::Behind { unwritten } => write!(
                f,
                "the recording falls behind, {unwritten} bytes are unwritten; write to a faster \
                 disk, or let steps wait with Recorder::with_patience"
            ),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<io::Error> for RecordError {
    fn from(error: io::Error) -> RecordError {
        RecordError::Write(error)
    }
}

/// What a step found, as numbers and hashes: equal for equal pairs and events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepHash {
    /// Number of overlapping pairs.
    pub pairs: u64,
    /// Number of pairs that began.
    pub began: u64,
    /// Number of pairs that ended.
    pub ended: u64,
    /// The sum, modulo 2⁶⁴, of the XXH64 of each pair as a little-endian u32 couple: a step adds
    /// what began and subtracts what ended.
    pub pairs_hash: u64,
    /// XXH64 of what ended, seeded with that of what began.
    pub events_hash: u64,
}

impl StepHash {
    /// The numbers and hashes of a step.
    pub fn new(pairs: &[Pair], began: &[Pair], ended: &[Pair]) -> StepHash {
        StepHash {
            pairs: pairs.len() as u64,
            began: began.len() as u64,
            ended: ended.len() as u64,
            pairs_hash: set_hash(pairs),
            events_hash: list_hash(ended, list_hash(began, 0)),
        }
    }

    /// That of the step after this one, from its events.
    pub(crate) fn next(self, pairs: usize, began: &[Pair], ended: &[Pair]) -> StepHash {
        let grown = self.pairs_hash.wrapping_add(set_hash(began));
        let pairs_hash = grown.wrapping_sub(set_hash(ended));
        StepHash { pairs: pairs as u64, pairs_hash, ..StepHash::new(&[], began, ended) }
    }
}

/// The hash of a list depends on its order.
fn list_hash(pairs: &[Pair], seed: u64) -> u64 {
    xxh64_of(pairs, word, seed)
}

/// The hash of a set does not.
fn set_hash(pairs: &[Pair]) -> u64 {
    pairs.iter().fold(0, |sum, pair| sum.wrapping_add(xxh64_of(&[word(pair)], |word| *word, 0)))
}

fn word(pair: &Pair) -> u64 {
    u64::from(pair.a().get()) | u64::from(pair.b().get()) << 32
}

/// Writes what happens to a [`Detector`](crate::Detector), from
/// [`Detector::record`](crate::Detector::record) on: every call that changes something, and the
/// hash of what each step found. `jostle replay` does the same calls with any algorithm;
/// [`recording`](crate::recording) reads them.
///
/// ```
/// use jostle::recording::{Call, Recording};
/// use jostle::{Aabb, Detector, Filter, Recorder};
///
/// # let folder = std::env::temp_dir().join(format!("jostle-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("world.rec");
/// let mut detector = Detector::default();
/// detector.record(Recorder::create(&path)?);
/// detector.insert(Aabb::default(), Filter::ALL)?;
/// detector.step()?;
/// let recorder = detector.stop_recording().expect("one was given");
/// recorder.finish()?; // tells whether everything was written
///
/// let mut recording = Recording::open(&path)?;
/// let mut steps = 0;
/// while let Some(call) = recording.next_call()? {
///     steps += usize::from(matches!(call, Call::Step(_)));
/// }
/// assert_eq!(steps, 1);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recorder {
    sink: Sink,
    patience: Option<Duration>,
    /// The frame to come, its header in front.
    frame: Encoder,
    frames: u64,
    bytes: u64,
    steps: u64,
    /// What the last step found.
    last: StepHash,
    error: Option<RecordError>,
}

/// Making one, and ending it.
impl Recorder {
    /// A recorder that writes on the thread that steps, frame by frame and without a buffer of its
    /// own: for memory and pipes, and where there are no threads.
    pub fn new(writer: impl Write + Send + 'static) -> Recorder {
        Recorder::with_sink(Sink::Direct(Mutex::new(Box::new(writer))))
    }

    /// A recorder with a thread that writes. Fails if the thread cannot be started.
    pub fn in_background(writer: impl Write + Send + 'static) -> io::Result<Recorder> {
        Ok(Recorder::with_sink(Sink::Queued(Queued::new(writer)?)))
    }

    /// A recorder for a new file, with a thread that writes.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Recorder> {
        Recorder::in_background(File::create(path)?)
    }

    fn with_sink(sink: Sink) -> Recorder {
        let mut frame = Encoder::default();
        frame.bytes.extend_from_slice(&MAGIC);
        frame.bytes.extend_from_slice(&VERSION.to_le_bytes());
        frame.bytes.extend_from_slice(&[0; 4]);
        let mut recorder = Recorder {
            sink,
            patience: Some(PATIENCE),
            frame,
            frames: 0,
            bytes: 0,
            steps: 0,
            last: StepHash::default(),
            error: None,
        };
        debug_assert_eq!(recorder.frame.bytes.len(), HEADER);
        recorder.put(None);
        recorder
    }

    /// How long a step may wait for a writer that has fallen behind before the recording ends with
    /// [`RecordError::Behind`]: a tenth of a second unless said otherwise. With none it waits as
    /// long as it takes.
    #[must_use]
    pub fn with_patience(mut self, patience: Option<Duration>) -> Recorder {
        self.patience = patience;
        self
    }

    /// Why nothing is recorded any more, if so.
    pub fn error(&self) -> Option<&RecordError> {
        self.error.as_ref()
    }

    /// Number of steps recorded.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Bytes that were written or wait for it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the recording and waits until it is written. A recorder that is dropped instead leaves
    /// a file without an end, as a crash does: readable up to the last step.
    pub fn finish(mut self) -> Result<u64, RecordError> {
        self.call(code::END, |_| ());
        self.flush();
        match self.error.take() {
            Some(error) => Err(error),
            None => self.sink.finish().map(|()| self.bytes),
        }
    }
}

/// The calls.
impl Recorder {
    /// Adds a call to the frame.
    pub(crate) fn call(&mut self, code: u8, fields: impl FnOnce(&mut Encoder)) {
        if self.error.is_some() {
            return;
        }
        if self.frame.bytes.is_empty() {
            self.frame.bytes.resize(FRAME_HEADER, 0);
        }
        self.frame.byte(code);
        fields(&mut self.frame);
        if self.frame.bytes.len() > FRAME {
            self.flush();
        }
    }

    /// The first call; `pairs` are those of the step before.
    pub(crate) fn begin(&mut self, pairs: &[Pair], fields: impl FnOnce(&mut Encoder)) {
        self.last = StepHash::new(pairs, &[], &[]);
        self.call(code::BEGIN, |frame| {
            fields(frame);
            frame.pairs(pairs.iter().copied());
        });
    }

    pub(crate) fn insert(&mut self, slots: &[Slot], aabbs: &[Aabb], filters: &[Filter]) {
        if slots.is_empty() {
            return;
        }
        self.call(code::INSERT, |frame| {
            frame.runs(slots);
            let one = filters.iter().all(|filter| *filter == filters[0]);
            frame.byte(u8::from(!one));
            filters[..if one { 1 } else { filters.len() }].iter().for_each(|one| frame.filter(one));
            frame.bounds(aabbs);
        });
    }

    /// Boxes that have new bounds; `aabbs` is by slot.
    pub(crate) fn set(&mut self, slots: &[Slot], aabbs: &[Aabb]) {
        if slots.is_empty() {
            return;
        }
        self.call(code::SET, |frame| {
            frame.runs(slots);
            frame.bounds_at(slots, aabbs);
        });
    }

    pub(crate) fn remove(&mut self, slots: impl ExactSizeIterator<Item = Slot>) {
        if slots.len() > 0 {
            self.call(code::REMOVE, |frame| frame.slots(slots));
        }
    }

    pub(crate) fn step(&mut self, pairs: usize, began: &[Pair], ended: &[Pair]) {
        if self.error.is_some() {
            return;
        }
        let hash = self.last.next(pairs, began, ended);
        if hash == self.last.next(self.last.pairs as usize, &[], &[]) {
            self.call(code::QUIET_STEP, |_| ());
        } else {
            self.call(code::STEP, |frame| {
                [hash.pairs, hash.began, hash.ended].into_iter().for_each(|n| frame.varint(n));
                frame.word(hash.pairs_hash);
                frame.word(hash.events_hash);
            });
        }
        self.last = hash;
        self.steps += 1;
        self.flush();
    }

    pub(crate) fn refused_step(&mut self, why: &str) {
        self.call(code::REFUSED_STEP, |frame| frame.text(why));
        self.flush();
    }

    /// Hands the frame over.
    fn flush(&mut self) {
        if self.frame.bytes.len() > FRAME_HEADER {
            self.put(Some(self.frames));
            self.frames += 1;
        }
    }

    /// Hands bytes over: a frame of this number, or the beginning of the file.
    fn put(&mut self, number: Option<u64>) {
        if self.error.is_none() {
            let length = self.frame.bytes.len() as u64;
            match self.sink.put(&mut self.frame.bytes, number, self.patience) {
                Ok(()) => self.bytes += length,
                Err(error) => self.error = Some(error),
            }
        }
    }
}
