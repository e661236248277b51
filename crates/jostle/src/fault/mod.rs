//! What can be wrong with a shape or a pose, told so that the reader knows what to change.

mod mesh;

pub use mesh::MeshError;

use crate::aabb::Axis;
use std::fmt;

/// The largest legal size and coordinate. Boxes of the broad phase end at 3.4e38 anyway, and
/// below this bound products of up to five lengths stay finite in f64.
pub const LIMIT: f64 = 1e60;

/// Why a shape was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeError {
    /// A radius, height or extent is negative, not a number, or beyond [`LIMIT`].
    Size {
        /// The field, as in the shape's declaration.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A coordinate of a point or a vector is not a number, or beyond [`LIMIT`].
    Coordinate {
        /// The field, as in the shape's declaration.
        field: &'static str,
        /// Position of the point in the input; zero if there is only one.
        index: usize,
        /// The axis of the coordinate.
        axis: Axis,
        /// Its value.
        value: f64,
    },
    /// The normal of a half-space is zero.
    ZeroNormal,
    /// A convex hull, or a volume, of no points.
    EmptyHull,
    /// More points than a 32-bit index can name.
    TooManyPoints {
        /// How many there were.
        count: usize,
    },
    /// A compound of no pieces.
    EmptyCompound,
    /// A piece of a compound is itself a compound.
    NestedCompound {
        /// Position of the piece.
        index: usize,
    },
    /// A piece of a compound has no bounds.
    UnboundedPiece {
        /// Position of the piece.
        index: usize,
    },
    /// A mesh or a height field where a convex shape is needed: as a piece of a compound, or to
    /// be rounded.
    NotConvex,
    /// A height field that is no grid of at least two columns and two rows, or has more than
    /// 2^30 heights.
    Grid {
        /// Vertices along x.
        columns: u32,
        /// How many heights were given.
        heights: usize,
    },
    /// A piece of a compound is itself wrong.
    Piece {
        /// Position of the piece.
        index: usize,
        /// What is wrong with it.
        fault: Box<ShapeError>,
    },
}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShapeError::Size { field, value } => {
                write!(f, "{field} = {value}; give a number from 0 to {LIMIT:e}")
            }
            ShapeError::Coordinate { field, index, axis, value } => {
                let range = format_args!("give a number from -{LIMIT:e} to {LIMIT:e}");
                write!(f, "{field}[{index}] {axis} = {value}; {range}")
            }
            ShapeError::ZeroNormal => f.write_str("normal is zero; give a direction"),
            ShapeError::EmptyHull => f.write_str("no points; give at least one"),
            ShapeError::TooManyPoints { count } => {
                write!(f, "a hull of {count} points; give at most {}", u32::MAX - 1)
            }
            ShapeError::EmptyCompound => f.write_str("a compound of no pieces; give at least one"),
            ShapeError::NestedCompound { index } => {
                write!(f, "piece {index} is a compound; put its pieces in directly")
            }
            ShapeError::UnboundedPiece { index } => {
                write!(f, "piece {index} is a half-space; make it a shape of its own")
            }
            ShapeError::NotConvex => f.write_str(
                "meshes and height fields are not convex; make them shapes of their own",
            ),
            ShapeError::Grid { columns, heights } => {
                let wanted =
                    "give as many for each row, two or more rows and columns, at most 2^30";
                write!(f, "{heights} heights in {columns} columns; {wanted}")
            }
            ShapeError::Piece { index, fault } => write!(f, "piece {index}: {fault}"),
        }
    }
}

impl std::error::Error for ShapeError {}

/// Why a pose was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoseError {
    /// A component of the rotation is NaN or infinite.
    Rotation {
        /// `x`, `y`, `z` or `w`.
        component: char,
        /// Its value.
        value: f64,
    },
    /// The rotation's length differs from one by more than
    /// [`Pose::LENGTH_TOLERANCE`](crate::shape::Pose::LENGTH_TOLERANCE).
    Length {
        /// The length found.
        length: f64,
    },
    /// A component of the translation is NaN or beyond [`LIMIT`].
    Translation {
        /// The axis of the component.
        axis: Axis,
        /// Its value.
        value: f64,
    },
    /// A component of a velocity is NaN or beyond [`LIMIT`].
    Velocity {
        /// `linear` or `angular`.
        field: &'static str,
        /// The axis of the component.
        axis: Axis,
        /// Its value.
        value: f64,
    },
}

impl fmt::Display for PoseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            PoseError::Rotation { component, value } => {
                write!(f, "rotation {component} = {value}; give a finite number")
            }
            PoseError::Length { length } => {
                write!(f, "rotation has length {length}; divide it by that")
            }
            PoseError::Translation { axis, value } => {
                let range = format_args!("give a number from -{LIMIT:e} to {LIMIT:e}");
                write!(f, "translation {axis} = {value}; {range}")
            }
            PoseError::Velocity { field, axis, value } => {
                let range = format_args!("give a number from -{LIMIT:e} to {LIMIT:e}");
                write!(f, "{field} velocity {axis} = {value}; {range}")
            }
        }
    }
}

impl std::error::Error for PoseError {}

/// A size, or the error that names it.
pub(crate) fn check_size(field: &'static str, value: f64) -> Result<(), ShapeError> {
    if (0.0..=LIMIT).contains(&value) { Ok(()) } else { Err(ShapeError::Size { field, value }) }
}

/// A point, or the error that names the first bad coordinate.
pub(crate) fn check_point(
    field: &'static str,
    index: usize,
    point: glam::DVec3,
) -> Result<(), ShapeError> {
    match bad_axis(point) {
        None => Ok(()),
        Some(axis) => {
            Err(ShapeError::Coordinate { field, index, axis, value: point[axis.index()] })
        }
    }
}

/// A velocity of a motion, or the error that names its first bad component.
pub(crate) fn check_velocity(field: &'static str, velocity: glam::DVec3) -> Result<(), PoseError> {
    match bad_axis(velocity) {
        None => Ok(()),
        Some(axis) => Err(PoseError::Velocity { field, axis, value: velocity[axis.index()] }),
    }
}

/// The first axis on which the point is not a number or beyond the limit.
pub(crate) fn bad_axis(point: glam::DVec3) -> Option<Axis> {
    Axis::ALL.into_iter().find(|axis| !(-LIMIT..=LIMIT).contains(&point[axis.index()]))
}
