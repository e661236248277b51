//! [`WorldError`]: why a world refused a change.

use std::fmt;

use crate::error::{BoxError, Error};
use crate::shape::ShapeError;

/// Why a [`World`](super::World) refused a change. It is as it was before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WorldError {
    /// A shape that was not made by its constructor is wrong.
    Shape {
        /// Place of the body in the batch; 0 if one was given.
        index: usize,
        /// What is wrong with its shape.
        fault: ShapeError,
    },
    /// An id or a batch was refused. Bodies and their boxes have the same ids.
    Body(BoxError),
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::Shape { index, fault } => write!(f, "body {index}: {fault}"),
            WorldError::Body(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for WorldError {}

impl From<BoxError> for WorldError {
    fn from(fault: BoxError) -> WorldError {
        WorldError::Body(fault)
    }
}

impl From<WorldError> for Error {
    fn from(error: WorldError) -> Error {
        match error {
            WorldError::Shape { index, fault } => Error::Body { index, fault },
            WorldError::Body(fault) => Error::Box(fault),
        }
    }
}
