//! Codes, the last error, and the border that no panic crosses.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::shape::{PoseError, ShapeError};
use engine::{BoxError, Error};

/// What a call returns. Unless it is JOSTLE_OK, nothing has changed, the outputs are not written,
/// and jostle_last_error() says in words what was wrong.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum jostle_status {
    /// Done.
    JOSTLE_OK = 0,
    /// A pointer is null or not aligned, or a length is too large.
    JOSTLE_BAD_ARGUMENT = 1,
    /// A handle names no object: it was freed, or never given out.
    JOSTLE_BAD_HANDLE = 2,
    /// A box has NaN in it or a lower bound above its upper one.
    JOSTLE_BAD_BOX = 3,
    /// An id names no box.
    JOSTLE_BAD_ID = 4,
    /// A batch names a box twice or has the wrong length.
    JOSTLE_BAD_BATCH = 5,
    /// More pairs overlap than the limit allows; the changes stay pending.
    JOSTLE_TOO_MANY_PAIRS = 6,
    /// A shape cannot be made.
    JOSTLE_BAD_SHAPE = 7,
    /// A pose or a motion is refused.
    JOSTLE_BAD_POSE = 8,
    /// The caller's buffer is too small; the needed length is written.
    JOSTLE_BUFFER_TOO_SMALL = 9,
    /// Threads could not be started.
    JOSTLE_NO_THREADS = 10,
    /// A fault of the library. The object of the call must not be used again, only freed.
    JOSTLE_INTERNAL = 11,
}

use jostle_status::*;

/// Why a call fails.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) status: jostle_status,
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(status: jostle_status, message: impl Into<String>) -> Fault {
        Fault { status, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Fault {
        Fault::new(JOSTLE_BAD_ARGUMENT, message)
    }

    /// An object that a panic left half changed.
    pub(crate) fn broken() -> Fault {
        Fault::new(JOSTLE_INTERNAL, "the object is unusable after an internal error; free it")
    }
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        let error = error.into();
        let status = match &error {
            Error::Box(BoxError::Invalid(_)) => JOSTLE_BAD_BOX,
            Error::Box(BoxError::Unknown(_) | BoxError::Stale(_)) => JOSTLE_BAD_ID,
            Error::Box(_) => JOSTLE_BAD_BATCH,
            Error::TooManyPairs { .. } => JOSTLE_TOO_MANY_PAIRS,
            Error::Shape(_) | Error::Body { .. } => JOSTLE_BAD_SHAPE,
            Error::Pose(_) => JOSTLE_BAD_POSE,
            Error::Threads(_) => JOSTLE_NO_THREADS,
            _ => JOSTLE_INTERNAL,
        };
        Fault::new(status, error.to_string())
    }
}

/// The fault of one of several things.
pub(crate) fn at(index: usize, fault: impl Into<Fault>) -> Fault {
    let fault = fault.into();
    Fault { message: format!("number {index}: {}", fault.message), ..fault }
}

/// A shape or pose that was refused.
pub(crate) fn bad_shape(fault: ShapeError) -> Fault {
    fault.into()
}

/// A pose that was refused, by its place.
pub(crate) fn bad_pose(index: usize, fault: PoseError) -> Fault {
    at(index, fault)
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

fn remember(message: &str) {
    // Zero bytes cannot be in a C string; names that callers give have none.
    let text = CString::new(message.replace('\0', "")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// What went wrong in the last call of this thread that failed; empty if none did. The text may be
/// read until the next call of this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// Does the work of a call and tells how it went. A panic ends here.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Fault>) -> jostle_status {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => JOSTLE_OK,
        Ok(Err(fault)) => {
            remember(&fault.message);
            fault.status
        }
        Err(_) => {
            remember("internal error of Jostle; please report it");
            JOSTLE_INTERNAL
        }
    }
}
