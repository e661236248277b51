//! The same work without Python around it, timed in this process: what `benchmarks/overhead.py`
//! compares with. No part of the package's interface.

use std::hint::black_box;
use std::time::Instant;

use pyo3::prelude::*;

use crate::arrays::BoxInput;
use crate::detector::Detector;
use crate::errors::Fault;

/// Seconds of one call of the library's `overlaps`.
#[pyfunction]
pub(crate) fn time_overlaps(py: Python<'_>, boxes: &Bound<'_, PyAny>) -> PyResult<f64> {
    let input = BoxInput::read(boxes, "boxes")?;
    let slice = input.as_slice()?;
    let timed = py.detach(|| -> Result<f64, Fault> {
        let begin = Instant::now();
        let pairs = black_box(jostle::overlaps(black_box(slice))?);
        drop(pairs);
        Ok(begin.elapsed().as_secs_f64())
    });
    timed.map_err(|fault| fault.raise(py))
}

/// Seconds of one step of a detector.
#[pyfunction]
pub(crate) fn time_step(py: Python<'_>, detector: &Detector) -> PyResult<f64> {
    detector.shared.write(py, |state| {
        let begin = Instant::now();
        black_box(state.detector.step()?);
        Ok(begin.elapsed().as_secs_f64())
    })
}
