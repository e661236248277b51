//! Answers: arrays, and tuples of them whose classes are Python's own (`jostle/_results.py`).
//!
//! Structured arrays are rows of 64-bit words, made in one go and then viewed with a dtype of
//! fields that are 8 bytes wide each.

use jostle::glam::DVec3;
use jostle::narrow::{Contact, Ending, ManifoldPoint, Status};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::arrays::cached;

const MODULE: &str = "jostle._results";

/// Makes a tuple of a class.
macro_rules! made {
    ($py:expr, $class:literal, $values:expr) => {{
        static CLASS: ::pyo3::sync::PyOnceLock<Py<PyAny>> = ::pyo3::sync::PyOnceLock::new();
        $crate::results::make($py, &CLASS, $class, $values)
    }};
}
pub(crate) use made;

/// Makes an object of a class of `_results.py`.
pub(crate) fn make<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    class: &str,
    values: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    cached(py, cell, MODULE, class)?.call1(values)
}

/// A structured array from rows of words; `dtype` is its name in `_results.py`.
pub(crate) fn structured<'py, const N: usize>(
    py: Python<'py>,
    rows: Vec<[u64; N]>,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = py.import(MODULE)?.getattr(dtype)?;
    PyArray1::from_vec(py, rows.into_flattened()).call_method1("view", (dtype,))
}

/// Words of a contact.
pub(crate) const CONTACT: usize = 14;
/// Words of a point of a manifold.
pub(crate) const POINT: usize = 11;

/// A contact as a row of words.
pub(crate) fn contact_words(contact: &Contact) -> [u64; CONTACT] {
    let Contact { distance, depth, normal, point_a, point_b, bound, status, ending } = *contact;
    let mut words = [0; CONTACT];
    words[..2].copy_from_slice(&[distance, depth].map(f64::to_bits));
    put_vectors(&mut words[2..11], [normal, point_a, point_b]);
    words[11] = bound.to_bits();
    words[12] = status_number(status);
    words[13] = ending_number(ending);
    words
}

/// A point of a manifold as a row of words.
pub(crate) fn point_words(point: &ManifoldPoint) -> [u64; POINT] {
    let mut words = [0; POINT];
    put_vectors(&mut words[..9], [point.point_a, point.point_b, point.normal]);
    words[9] = point.separation.to_bits();
    words[10] = point.id;
    words
}

fn put_vectors(words: &mut [u64], vectors: [DVec3; 3]) {
    for (word, part) in words.iter_mut().zip(vectors.iter().flat_map(|v| v.to_array())) {
        *word = part.to_bits();
    }
}

fn status_number(status: Status) -> u64 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Overlapping => 2,
    }
}

fn ending_number(ending: Ending) -> u64 {
    match ending {
        Ending::Closed => 0,
        Ending::Converged => 1,
        Ending::Stalled => 2,
        // The only other.
        _ => 3,
    }
}
