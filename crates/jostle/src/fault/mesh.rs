//! [`MeshError`]: why a mesh was refused.

use super::LIMIT;
use crate::aabb::Axis;
use std::fmt;

/// Why a mesh was refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum MeshError {
    /// There are no triangles.
    Empty,
    /// More triangles than there are places for.
    TooMany {
        /// How many there were.
        triangles: usize,
    },
    /// A triangle names a vertex that does not exist.
    Index {
        /// The triangle.
        triangle: usize,
        /// What it names.
        index: u32,
        /// How many vertices there are.
        vertices: usize,
    },
    /// A coordinate is not a number, or beyond [`LIMIT`].
    Coordinate {
        /// The vertex.
        vertex: usize,
        /// The axis of the coordinate.
        axis: Axis,
        /// Its value.
        value: f64,
    },
    /// A mesh got another number of vertices than it has.
    VertexCount {
        /// How many were given.
        given: usize,
        /// How many there are.
        expected: usize,
    },
}

impl fmt::Display for MeshError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MeshError::Empty => f.write_str("a mesh of no triangles; give at least one"),
            MeshError::TooMany { triangles } => {
                write!(f, "a mesh of {triangles} triangles; give at most 2^31 - 64")
            }
            MeshError::Index { triangle, index, vertices } => {
                write!(f, "triangle {triangle} names vertex {index}; there are {vertices}")
            }
            MeshError::Coordinate { vertex, axis, value } => {
                let range = format_args!("give a number from -{LIMIT:e} to {LIMIT:e}");
                write!(f, "vertex {vertex}: {axis} = {value}; {range}")
            }
            MeshError::VertexCount { given, expected } => {
                write!(f, "{given} vertices given for a mesh of {expected}; give one for each")
            }
        }
    }
}

impl std::error::Error for MeshError {}
