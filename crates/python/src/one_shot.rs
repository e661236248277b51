//! `overlaps` and `overlaps_between`: pairs of boxes that do not move.
//!
//! They do what the library's functions of these names do, on several threads if asked, and copy
//! the pairs once, straight into the array that is returned.

use jostle::{Aabb, Algorithm, BoxError, Detector, Filter, Pair, Workers};
use pyo3::prelude::*;

use crate::arrays::{BoxInput, table};
use crate::changing;
use crate::errors::Fault;

/// Every overlapping pair of some boxes, as an (m, 2) array of uint32: places in the input, the
/// smaller first, sorted. Boxes that touch overlap.
///
/// `boxes` is anything like an array: (n, 6) with min x y z, max x y z, or (n, 2, 3); flat boxes
/// are (n, 4) or (n, 2, 2); or a tuple (mins, maxs). float32 in C order is read where it is, other
/// numbers are rounded outward. If another thread writes to the array meanwhile, the answer is for
/// some mixture, or `ArrayChangedError` is raised.
///
/// >>> import jostle
/// >>> jostle.overlaps([[0, 0, 0, 2, 2, 2], [2, 2, 2, 3, 3, 3], [9, 0, 0, 10, 1, 1]])
/// array([[0, 1]], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (boxes, *, threads = 1, pair_limit = None))]
pub(crate) fn overlaps<'py>(
    py: Python<'py>,
    boxes: &Bound<'py, PyAny>,
    threads: usize,
    pair_limit: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let input = BoxInput::read(boxes, "boxes")?;
    let (slice, borrowed) = (input.as_slice()?, input.is_borrowed());
    let pairs = py.detach(|| -> Result<_, Fault> {
        let mut detector = detector(threads, pair_limit)?;
        detector.boxes_mut().insert_all(slice, Filter::ALL)?;
        if borrowed {
            changing::check(detector.boxes().aabbs())?;
        }
        detector.step()?;
        Ok(places(detector.pairs(), 0))
    });
    table(py, pairs.map_err(|fault| fault.raise(py))?)
}

/// Every overlap between a box of `a` and a box of `b`, as an (m, 2) array of uint32: a place in
/// `a`, a place in `b`, sorted. Overlaps within one of the two are not looked for. Boxes are given
/// as to `overlaps`.
///
/// >>> import jostle
/// >>> doors, people = [[0, 0, 1, 1], [4, 0, 5, 1]], [[4.5, 0.5, 5.5, 1.5]]
/// >>> jostle.overlaps_between(doors, people)
/// array([[1, 0]], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (a, b, *, threads = 1, pair_limit = None))]
pub(crate) fn overlaps_between<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    threads: usize,
    pair_limit: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let (a, b) = (BoxInput::read(a, "a")?, BoxInput::read(b, "b")?);
    let (first, second) = (a.as_slice()?, b.as_slice()?);
    let borrowed = a.is_borrowed() || b.is_borrowed();
    let pairs = py.detach(|| -> Result<_, (&str, Fault)> {
        let mut detector = detector(threads, pair_limit).map_err(|fault| ("", fault))?;
        insert(&mut detector, first, Filter::groups(1, 2)).map_err(|fault| ("a: ", fault))?;
        insert(&mut detector, second, Filter::groups(2, 1)).map_err(|fault| ("b: ", fault))?;
        if borrowed {
            changing::check(detector.boxes().aabbs()).map_err(|fault| ("", fault))?;
        }
        detector.step().map_err(|error| ("", error.into()))?;
        Ok(places(detector.pairs(), first.len() as u32))
    });
    table(py, pairs.map_err(|(which, fault)| named(py, which, fault))?)
}

fn insert(detector: &mut Detector, boxes: &[Aabb], filter: Filter) -> Result<(), Fault> {
    detector.boxes_mut().insert_all(boxes, filter)?;
    Ok(())
}

/// An exception whose message begins with the argument it is about.
fn named(py: Python<'_>, which: &str, fault: Fault) -> PyErr {
    match fault {
        Fault::Engine(jostle::Error::Box(error @ BoxError::Invalid(_))) => {
            crate::errors::raise(py, "BoxError", format!("{which}{error}"))
        }
        other => other.raise(py),
    }
}

fn detector(threads: usize, pair_limit: Option<usize>) -> Result<Detector, Fault> {
    let mut detector = Detector::with_workers(Algorithm::Auto, Workers::new(threads)?);
    if let Some(limit) = pair_limit {
        detector.set_pair_limit(limit);
    }
    Ok(detector)
}

/// Pairs as rows of an array; second places are counted from `offset`.
pub(crate) fn places(pairs: &[Pair], offset: u32) -> Vec<[u32; 2]> {
    pairs.iter().map(|pair| [pair.a().get(), pair.b().get() - offset]).collect()
}
