//! Poses from vectors, quaternions and matrices.

use glam::{DMat3, DQuat, DVec3};
use jostle::shape::Pose;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{Shape, floats};
use crate::errors::{bad_pose, raise, wrong_value};

/// One pose, or a list of them.
#[derive(Debug)]
pub(crate) struct Poses {
    pub(crate) list: Vec<Pose>,
    /// Given as one, rather than as a list of one.
    pub(crate) single: bool,
}

/// How far from a rotation a matrix may be, per number.
const TOLERANCE: f64 = 1e-6;

impl Poses {
    /// Reads None (the identity), (translation, quaternion), 4×4 matrices, rows of 7 (translation,
    /// then quaternion) or translations alone; one of each or n.
    pub(crate) fn read(object: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Poses> {
        let Some(object) = object.filter(|object| !object.is_none()) else {
            return Ok(Poses { list: vec![Pose::IDENTITY], single: true });
        };
        if let Ok(tuple) = object.cast::<PyTuple>()
            && tuple.len() == 2
        {
            return from_parts(&tuple.get_item(0)?, &tuple.get_item(1)?, name);
        }
        let py = object.py();
        let (values, shape) = floats(object, name)?;
        let of_rows = |width: usize| values.chunks_exact(width).enumerate();
        let list = match shape.as_slice() {
            [0] => Ok(Vec::new()),
            [3] | [_, 3] => of_rows(3).map(|(k, row)| pose(py, k, row, &IDENTITY)).collect(),
            [7] | [_, 7] => of_rows(7).map(|(k, row)| pose(py, k, &row[..3], &row[3..])).collect(),
            [4, 4] | [_, 4, 4] => of_rows(16).map(|(k, row)| from_matrix(py, k, row)).collect(),
            shape => Err(wrong_value(format!(
                "{name}: shape {} is no list of poses; give a tuple (translations, quaternions), \
                 (n, 4, 4) matrices, (n, 7) or (n, 3)",
                Shape(shape)
            ))),
        };
        let single = matches!(shape.as_slice(), [3] | [7] | [4, 4]);
        Ok(Poses { list: list?, single })
    }

    /// The pose at a place; one pose is at every place.
    pub(crate) fn at(&self, index: usize) -> Pose {
        if self.list.len() == 1 { self.list[0] } else { self.list[index] }
    }
}

const IDENTITY: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

fn pose(py: Python<'_>, index: usize, at: &[f64], turn: &[f64]) -> PyResult<Pose> {
    let rotation = DQuat::from_slice(turn);
    Pose::new(rotation, DVec3::from_slice(at)).map_err(|fault| bad_pose(py, index, fault))
}

/// Poses from translations and quaternions (x, y, z, w), one or many of each.
fn from_parts(
    translation: &Bound<'_, PyAny>,
    rotation: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Poses> {
    let (at, at_shape) = floats(translation, name)?;
    let (turn, turn_shape) = floats(rotation, name)?;
    let fits = matches!(at_shape.as_slice(), [3] | [_, 3])
        && matches!(turn_shape.as_slice(), [4] | [_, 4]);
    let (count, turns) = (at.len() / 3, turn.len() / 4);
    if !fits || (count != turns && count != 1 && turns != 1) {
        return Err(wrong_value(format!(
            "{name}: translations have shape {} and quaternions {}; give (n, 3) and (n, 4)",
            Shape(&at_shape),
            Shape(&turn_shape)
        )));
    }
    let py = translation.py();
    let (at, turn) = (at.as_chunks::<3>().0, turn.as_chunks::<4>().0);
    let one_or = |k: usize, length: usize| if length == 1 { 0 } else { k };
    let length = if count == 1 { turns } else { count };
    let each = (0..length).map(|k| pose(py, k, &at[one_or(k, count)], &turn[one_or(k, turns)]));
    let single = at_shape.len() == 1 && turn_shape.len() == 1;
    Ok(Poses { list: each.collect::<PyResult<_>>()?, single })
}

/// A pose from a 4×4 matrix in rows.
fn from_matrix(py: Python<'_>, index: usize, rows: &[f64]) -> PyResult<Pose> {
    let refuse = |why: &str| Err(raise(py, "PoseError", format!("pose {index}: {why}")));
    if rows.iter().any(|number| !number.is_finite()) {
        return refuse("the matrix has a number that is not finite");
    }
    let near = |one: f64, other: f64| (one - other).abs() <= TOLERANCE;
    if !rows[12..].iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(&one, other)| near(one, other)) {
        return refuse("the last row of the matrix is not 0 0 0 1; is it transposed?");
    }
    let at = |row: usize, column: usize| rows[4 * row + column];
    let column = |k: usize| DVec3::new(at(0, k), at(1, k), at(2, k));
    let turn = DMat3::from_cols(column(0), column(1), column(2));
    let square = (turn.transpose() * turn).to_cols_array();
    if !square.into_iter().zip(DMat3::IDENTITY.to_cols_array()).all(|(a, b)| near(a, b)) {
        return refuse("the upper left 3×3 of the matrix scales or shears; give a rotation");
    }
    if turn.determinant() < 0.0 {
        return refuse("the upper left 3×3 of the matrix mirrors; give a rotation");
    }
    let rotation = DQuat::from_mat3(&turn).normalize();
    Pose::new(rotation, column(3)).map_err(|fault| bad_pose(py, index, fault))
}
