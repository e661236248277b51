//! [`Recorder`]: writes every call that changes a detector, and what each step found, to a file
//! that can be replayed call by call (see [`recording`](crate::recording)).
//!
//! # The format, version 2
//!
//! All numbers are little-endian. A *varint* has seven bits a byte, lowest first, the top bit set
//! on all but the last. *Text* is a varint length and UTF-8. *Bounds* are six f32: min x y z, max
//! x y z. A *filter* is a byte, 0 for `ALL` and 1 for `STILL`, or 2 followed by u32 membership,
//! u32 mask, u32 owner and a byte that is 1 for still. *Slots* are a varint count, and for each
//! slot the difference to the one before (0 before the first) as a zigzag varint. *Runs* are slots
//! too: a varint count, and for each run of consecutive slots the difference of its first to the
//! slot after the run before (to 0 before the first) as a zigzag varint and how many more follow
//! as a varint. *Pairs* are a varint count and two u32 each.
//!
//! ```text
//! file    "JOSTLREC", u32 version, u32 zero; then frames
//! frame   u64 length, u64 XXH64 of the payload with the frame's number as seed; the payload:
//!         whole calls one after the other, each a byte that tells which and its fields
//! ```
//!
//! | code | call | fields |
//! |---|---|---|
//! | 1 | begin, once, first | text algorithm, varint threads, varint pair limit, the boxes and pairs so far (see `boxes/recorded.rs`) |
//! | 2 | insert | runs, byte 0 and one filter or 1 and one for each, bounds of each |
//! | 3 | set | runs, bounds of each |
//! | 4 | set filter | varint slot, filter |
//! | 5 | remove | slots |
//! | 6, 7 | exclude, include | varint slot, varint slot |
//! | 8 | set user data | varint slot, u64 |
//! | 9 | algorithm | text |
//! | 10 | pair limit | varint |
//! | 11 | step | varint pairs, began, ended; u64 hash of the pairs, u64 hash of the events |
//! | 12 | step without events | |
//! | 13 | refused step | text |
//! | 14 | end | |
//!
//! Boxes are named by slot: ids follow, because a detector gives out slots by what was called
//! before. The hash of the pairs is the sum, modulo 2⁶⁴, of the XXH64 (seed 0) of each as a
//! little-endian u32 couple. Events are hashed as lists of such couples, what began and then what
//! ended, with the hash of the first as seed of the second.
//!
//! # Cost
//!
//! A moved box takes 24 bytes and two for each run of them, a step in which nothing happens 17.
//! Calls that change nothing (the same bounds again, a refused batch) are not written. Encoding is
//! one pass over what changed, a copy where slots follow each other. The hash of the pairs follows
//! the events: a reader that hashes whole sets checks with it that events add up to pairs, too.
//! Frames end with a step, and where they grow beyond a megabyte. With [`Recorder::in_background`]
//! frames are written by a thread of the recorder's: a step waits only if 64 MiB are unwritten, at
//! most for the recorder's patience, and then the recording ends with an error while the detector
//! goes on. The same holds for a full disk.

mod encode;
mod recorder;
mod sink;

pub(crate) use encode::Encoder;
pub use recorder::{RecordError, Recorder, StepHash};

/// The first eight bytes of a recording.
pub(crate) const MAGIC: [u8; 8] = *b"JOSTLREC";

/// The version that is written, and the only one that is read.
pub(crate) const VERSION: u32 = 2;

/// Bytes before the first frame.
pub(crate) const HEADER: usize = 16;

/// Bytes of a frame before its payload.
pub(crate) const FRAME_HEADER: usize = 16;

/// Which call follows.
pub(crate) mod code {
    pub(crate) const BEGIN: u8 = 1;
    pub(crate) const INSERT: u8 = 2;
    pub(crate) const SET: u8 = 3;
    pub(crate) const FILTER: u8 = 4;
    pub(crate) const REMOVE: u8 = 5;
    pub(crate) const EXCLUDE: u8 = 6;
    pub(crate) const INCLUDE: u8 = 7;
    pub(crate) const USER_DATA: u8 = 8;
    pub(crate) const ALGORITHM: u8 = 9;
    pub(crate) const PAIR_LIMIT: u8 = 10;
    pub(crate) const STEP: u8 = 11;
    pub(crate) const QUIET_STEP: u8 = 12;
    pub(crate) const REFUSED_STEP: u8 = 13;
    pub(crate) const END: u8 = 14;
}
