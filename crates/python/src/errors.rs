//! Exceptions. Their classes are Python's own (`jostle/_errors.py`), so that each can also be one
//! of the built-in ones that a Python programmer would catch.

use jostle::shape::{PoseError, ShapeError};
use jostle::{BoxError, Error};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Where the classes are.
const MODULE: &str = "jostle._errors";

/// An exception of one of the package's classes.
pub(crate) fn raise(py: Python<'_>, class: &str, message: String) -> PyErr {
    let class = py.import(MODULE).and_then(|module| module.getattr(class));
    match class.and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// An argument of the wrong type.
pub(crate) fn wrong_type(message: String) -> PyErr {
    PyTypeError::new_err(message)
}

/// An argument that has the right type and cannot be right.
pub(crate) fn wrong_value(message: String) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(message)
}

/// Two lengths that have to be equal and are not.
pub(crate) fn wrong_length(what: &str, given: usize, of: &str, expected: usize) -> PyErr {
    wrong_value(format!("{given} {what} for {expected} {of}; give one for each"))
}

/// What a call can fail with, before it is told to Python.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The engine refused.
    Engine(Error),
    /// The object was closed.
    Closed(&'static str),
    /// A call was broken off by a panic and may have left the object half changed.
    Broken(&'static str),
    /// Another thread wrote to the array during the call.
    Changed(String),
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        Fault::Engine(error.into())
    }
}

impl Fault {
    /// As an exception.
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Fault::Engine(error) => engine(py, &error),
            Fault::Closed(what) => {
                raise(py, "ClosedError", format!("this {what} is closed; make a new one"))
            }
            Fault::Broken(what) => raise(
                py,
                "Error",
                format!("this {what} is unusable after an internal error; make a new one"),
            ),
            Fault::Changed(message) => raise(py, "ArrayChangedError", message),
        }
    }
}

/// What the engine said, as an exception.
pub(crate) fn engine(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Box(BoxError::Unknown(_) | BoxError::Stale(_)) => "IdError",
        Error::Box(_) => "BoxError",
        Error::TooManyPairs { .. } => "PairLimitError",
        Error::Shape(_) | Error::Mesh(_) | Error::Body { .. } => "ShapeError",
        Error::Pose(_) => "PoseError",
        Error::Snapshot(_) => "SnapshotError",
        _ => "Error",
    };
    raise(py, class, error.to_string())
}

/// A shape that the engine refused.
pub(crate) fn bad_shape(py: Python<'_>, fault: ShapeError) -> PyErr {
    engine(py, &fault.into())
}

/// A pose that the engine refused, by its place in the input.
pub(crate) fn bad_pose(py: Python<'_>, index: usize, fault: PoseError) -> PyErr {
    raise(py, "PoseError", format!("pose {index}: {fault}"))
}
