//! What can go wrong. Messages name the thing and what to change.

use std::fmt;

use crate::aabb::BoxFault;
use crate::fault::{MeshError, PoseError, ShapeError};
use crate::id::BoxId;
use crate::pair::LimitReached;

/// A box that cannot be taken, by its place in the input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvalidBox {
    /// Place of the box in the slice that was given; 0 if a single box was given.
    pub index: usize,
    /// What is wrong with it.
    pub fault: BoxFault,
}

impl fmt::Display for InvalidBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "box {}: {}", self.index, self.fault)
    }
}

impl std::error::Error for InvalidBox {}

/// Why [`Boxes`](crate::Boxes) refused a change. The set is as it was before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum BoxError {
    /// A box is not a box.
    Invalid(InvalidBox),
    /// The id names no box: this set never gave it out.
    Unknown(BoxId),
    /// The box was removed. Its slot may hold another box by now.
    Stale(BoxId),
    /// A batch names the same box twice.
    Twice(BoxId),
    /// A batch has the wrong length.
    Length {
        /// Number of boxes in the batch.
        given: usize,
        /// Number of boxes in the set.
        expected: usize,
    },
    /// No slot is left: a set holds at most 2^32 - 1 boxes.
    Full,
}

impl fmt::Display for BoxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BoxError::Invalid(invalid) => invalid.fmt(f),
            BoxError::Unknown(id) => {
                write!(f, "box {id} does not exist; the id comes from another set of boxes")
            }
            BoxError::Stale(id) => {
                write!(f, "box {id} was removed; forget its id when you remove a box")
            }
            BoxError::Twice(id) => write!(f, "box {id} is named twice in one batch"),
            BoxError::Length { given, expected } => {
                write!(f, "{given} boxes given for a set of {expected}; give one for each")
            }
            BoxError::Full => f.write_str("the set is full: it holds at most 2^32 - 1 boxes"),
        }
    }
}

impl std::error::Error for BoxError {}

impl From<InvalidBox> for BoxError {
    fn from(invalid: InvalidBox) -> BoxError {
        BoxError::Invalid(invalid)
    }
}

/// Whatever can go wrong in this library: the one error that `?` turns all others into.
///
/// After a refused step nothing is lost: the boxes, the pairs and the pending changes are as
/// before, so the step can be taken again.
///
/// ```
/// use jostle::shape::{Pose, Shape};
/// use jostle::{Body, Error, World};
///
/// fn touches(radius: f64, apart: f64) -> Result<usize, Error> {
///     let mut world = World::default();
///     for x in [0.0, apart] {
///         world.insert(Body::new(Shape::sphere(radius)?, Pose::at([x, 0.0, 0.0])?))?;
///     }
///     Ok(world.step()?.touches.len())
/// }
///
/// assert_eq!(touches(1.0, 1.5), Ok(1));
/// assert!(matches!(touches(-1.0, 1.5), Err(Error::Shape(_))));
/// assert!(matches!(touches(1.0, f64::NAN), Err(Error::Pose(_))));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A box was refused.
    Box(BoxError),
    /// More pairs overlap than may be held.
    TooManyPairs {
        /// The limit in force.
        limit: usize,
        /// About how many pairs there are, from a sample of the boxes.
        estimate: Option<u64>,
    },
    /// A shape was refused.
    Shape(ShapeError),
    /// A mesh was refused.
    Mesh(MeshError),
    /// A pose or a motion was refused.
    Pose(PoseError),
    /// The shape of a body was refused.
    Body {
        /// Place of the body in the batch; 0 if one was given.
        index: usize,
        /// What is wrong with its shape.
        fault: ShapeError,
    },
    /// The worker threads could not be started.
    Threads(String),
    /// A snapshot does not fit together.
    Snapshot(String),
    /// A device outside the processor failed. The next step may run elsewhere and continues.
    Device(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Box(error) => error.fmt(f),
            Error::TooManyPairs { limit, estimate } => {
                match estimate {
                    Some(count) => write!(f, "about {count} pairs overlap")?,
                    None => f.write_str("too many pairs overlap")?,
                }
                write!(
                    f,
                    ", more than the limit of {limit}; raise the pair limit, shrink the boxes, or \
                     filter out pairs that do not matter"
                )
            }
            Error::Snapshot(reason) => write!(f, "the snapshot is damaged: {reason}"),
            Error::Shape(error) => error.fmt(f),
            Error::Mesh(error) => error.fmt(f),
            Error::Pose(error) => error.fmt(f),
            Error::Body { index, fault } => write!(f, "body {index}: {fault}"),
            Error::Threads(reason) => write!(f, "worker threads could not be started: {reason}"),
            Error::Device(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for Error {}

impl From<LimitReached> for Error {
    fn from(reached: LimitReached) -> Error {
        Error::TooManyPairs { limit: reached.limit, estimate: None }
    }
}

impl From<BoxError> for Error {
    fn from(error: BoxError) -> Error {
        Error::Box(error)
    }
}

impl From<InvalidBox> for Error {
    fn from(invalid: InvalidBox) -> Error {
        Error::Box(invalid.into())
    }
}

impl From<ShapeError> for Error {
    fn from(error: ShapeError) -> Error {
        Error::Shape(error)
    }
}

impl From<MeshError> for Error {
    fn from(error: MeshError) -> Error {
        Error::Mesh(error)
    }
}

impl From<PoseError> for Error {
    fn from(error: PoseError) -> Error {
        Error::Pose(error)
    }
}
