//! [`Shared`]: an engine that many threads of Python may hold, and that can be closed.

use std::sync::RwLock;

use pyo3::prelude::*;

use crate::errors::Fault;

/// An engine behind a lock. The lock is only ever taken with the interpreter lock released, and the
/// interpreter is not called while it is held.
#[derive(Debug)]
pub(crate) struct Shared<T> {
    /// What messages call it.
    name: &'static str,
    /// None once it is closed.
    inner: RwLock<Option<T>>,
}

impl<T: Send + Sync> Shared<T> {
    pub(crate) fn new(name: &'static str, engine: T) -> Shared<T> {
        Shared { name, inner: RwLock::new(Some(engine)) }
    }

    /// Asks the engine; any number of threads at once.
    pub(crate) fn read<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&T) -> R + Send,
    ) -> PyResult<R> {
        let answer = py.detach(|| {
            let inner = self.inner.read().map_err(|_| Fault::Broken(self.name))?;
            Ok(ask(inner.as_ref().ok_or(Fault::Closed(self.name))?))
        });
        answer.map_err(|fault: Fault| fault.raise(py))
    }

    /// Changes the engine, while no other thread uses it.
    pub(crate) fn write<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut T) -> Result<R, Fault> + Send,
    ) -> PyResult<R> {
        let answer = py.detach(|| {
            let mut inner = self.inner.write().map_err(|_| Fault::Broken(self.name))?;
            change(inner.as_mut().ok_or(Fault::Closed(self.name))?)
        });
        answer.map_err(|fault| fault.raise(py))
    }

    /// Gives up the engine, its memory and its threads. Closing twice does nothing.
    pub(crate) fn close(&self, py: Python<'_>) {
        py.detach(|| {
            // What a panic left behind is not looked at, only dropped.
            let mut inner = self.inner.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            drop(inner.take());
        });
    }
}
