//! [`Sink`]: where frames go, at once or by a thread with a queue of bounded size.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::FRAME_HEADER;
use super::recorder::RecordError;
use crate::ds::xxh64::xxh64;

/// Unwritten bytes above which a step waits for the thread.
const QUEUE: usize = 64 << 20;

/// Written buffers that are kept to be filled again: new memory costs more than filling it.
const SPARE: usize = 4;

/// Takes whole frames.
pub(super) enum Sink {
    /// On the calling thread. The lock is never contended: it makes the writer shareable.
    Direct(Mutex<Box<dyn Write + Send>>),
    /// By a thread.
    Queued(Queued),
}

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Direct(_) => "Direct",
            Sink::Queued(_) => "Queued",
        })
    }
}

impl Sink {
    /// Takes the bytes out of a buffer, which comes back empty: a frame of this number, whose
    /// header is to be filled in, or bytes as they stand.
    pub(super) fn put(
        &mut self,
        bytes: &mut Vec<u8>,
        number: Option<u64>,
        patience: Option<Duration>,
    ) -> Result<(), RecordError> {
        match self {
            Sink::Direct(writer) => {
                let writer = writer.get_mut().unwrap_or_else(PoisonError::into_inner);
                seal(bytes, number);
                let written = writer.write_all(bytes).and_then(|()| writer.flush());
                bytes.clear();
                Ok(written?)
            }
            Sink::Queued(queued) => queued.put(bytes, number, patience),
        }
    }

    /// Waits until everything is written.
    pub(super) fn finish(&mut self) -> Result<(), RecordError> {
        match self {
            Sink::Direct(_) => Ok(()),
            Sink::Queued(queued) => queued.finish(),
        }
    }
}

/// A queue of frames and the thread that writes them.
pub(super) struct Queued {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    frames: VecDeque<(Vec<u8>, Option<u64>)>,
    bytes: usize,
    spare: Vec<Vec<u8>>,
    closed: bool,
    error: Option<io::Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queued {
    pub(super) fn new(writer: impl Write + Send + 'static) -> io::Result<Queued> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let builder = thread::Builder::new().name("jostle-recorder".into());
        let thread = Some(builder.spawn(move || write_frames(&theirs, writer))?);
        Ok(Queued { shared, thread })
    }

    fn put(
        &mut self,
        bytes: &mut Vec<u8>,
        number: Option<u64>,
        patience: Option<Duration>,
    ) -> Result<(), RecordError> {
        let mut queue = self.shared.lock();
        if queue.bytes > QUEUE {
            let full = |queue: &mut Queue| queue.bytes > QUEUE && queue.error.is_none();
            let changed = &self.shared.changed;
            queue = match patience {
                Some(time) => {
                    let waited = changed.wait_timeout_while(queue, time, full);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => changed.wait_while(queue, full).unwrap_or_else(PoisonError::into_inner),
            };
        }
        if let Some(error) = queue.error.take() {
            return Err(error.into());
        }
        if queue.bytes > QUEUE {
            return Err(RecordError::Behind { unwritten: queue.bytes });
        }
        queue.bytes += bytes.len();
        let empty = queue.spare.pop().unwrap_or_default();
        queue.frames.push_back((std::mem::replace(bytes, empty), number));
        self.shared.changed.notify_all();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), RecordError> {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        let joined = self.thread.take().map_or(Ok(()), JoinHandle::join);
        match self.shared.lock().error.take() {
            Some(error) => Err(error.into()),
            None if joined.is_err() => Err(io::Error::other("the writer panicked").into()),
            None => Ok(()),
        }
    }
}

impl Drop for Queued {
    /// What is queued is still written.
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Says that writing has ended even if the writer panics, so that nobody waits for it.
struct Ending<'a>(&'a Shared);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        if thread::panicking() {
            queue.error = Some(io::Error::other("the writer panicked"));
        }
        self.0.changed.notify_all();
    }
}

/// Writes length and checksum into the header of a frame. The checksum reads the whole frame, which
/// a thread that writes does without a step waiting for it.
fn seal(bytes: &mut [u8], number: Option<u64>) {
    if let (Some(number), Some((header, payload))) =
        (number, bytes.split_at_mut_checked(FRAME_HEADER))
    {
        header[..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[8..].copy_from_slice(&xxh64(payload, number).to_le_bytes());
    }
}

fn write_frames(shared: &Shared, mut writer: impl Write) {
    let _ending = Ending(shared);
    loop {
        let waiting = |queue: &mut Queue| queue.frames.is_empty() && !queue.closed;
        let waited = shared.changed.wait_while(shared.lock(), waiting);
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        let Some((mut frame, number)) = queue.frames.pop_front() else { return };
        drop(queue);
        seal(&mut frame, number);
        let written = writer.write_all(&frame).and_then(|()| writer.flush());
        let mut queue = shared.lock();
        queue.bytes -= frame.len();
        if let Err(error) = written {
            queue.error = Some(error);
            queue.frames.clear();
            return;
        }
        frame.clear();
        if queue.spare.len() < SPARE {
            queue.spare.push(frame);
        }
        drop(queue);
        shared.changed.notify_all();
    }
}
