//! [`ScratchPool`]: scratch memory that workers borrow for one task at a time.
//!
//! There are as many as workers ever ran at once; which worker gets which changes nothing, because
//! a scratch holds nothing that outlives its task.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Scratch memory that is not in use. A clone starts empty.
#[derive(Debug)]
pub(crate) struct ScratchPool<T> {
    free: Mutex<Vec<T>>,
}

impl<T> Default for ScratchPool<T> {
    fn default() -> ScratchPool<T> {
        ScratchPool { free: Mutex::default() }
    }
}

impl<T> Clone for ScratchPool<T> {
    fn clone(&self) -> ScratchPool<T> {
        ScratchPool::default()
    }
}

impl<T: Default> ScratchPool<T> {
    /// Lends a scratch to `task`.
    pub(crate) fn with<R>(&self, task: impl FnOnce(&mut T) -> R) -> R {
        let mut scratch = self.lock().pop().unwrap_or_default();
        let result = task(&mut scratch);
        self.lock().push(scratch);
        result
    }

    /// Bytes held, given those of one scratch.
    pub(crate) fn bytes(&self, of: impl Fn(&T) -> usize) -> usize {
        self.lock().iter().map(of).sum()
    }

    /// A task that panicked took its scratch with it; the others are good.
    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
