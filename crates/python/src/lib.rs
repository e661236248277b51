//! Jostle for Python: arrays in, arrays out.
//!
//! Thin: every answer is the library's. What is here is what Python needs around it:
//!
//! | file | holds |
//! |---|---|
//! | `arrays.rs` | numbers, ids and boxes from whatever is like an array; float32 without a copy |
//! | `changing.rs` | arrays that another thread writes to during a call |
//! | `poses.rs` | poses from vectors, quaternions and matrices |
//! | `one_shot.rs` | `overlaps`, `overlaps_between` |
//! | `detector.rs`, `filter.rs`, `queries.rs` | boxes that move |
//! | `shape.rs`, `narrow.rs`, `world.rs` | shapes, questions about pairs of them, bodies that move |
//! | `mesh.rs` | triangle meshes |
//! | `shared.rs` | an engine behind a lock, which can be closed |
//! | `results.rs`, `errors.rs` | answers and exceptions, whose classes are Python's |
//! | `command.rs` | `python -m jostle` |
//! | `timing.rs` | what benchmarks compare with |
//!
//! Every call that works on many things releases the interpreter lock. Engines are behind a
//! read-write lock of their own, taken only while the interpreter lock is released, so neither
//! waits for the other.

#![deny(unsafe_code)]
// Python calls with objects of its own.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod changing;
mod command;
mod detector;
mod errors;
mod filter;
mod mesh;
mod narrow;
mod one_shot;
mod poses;
mod queries;
mod results;
mod shape;
mod shared;
mod timing;
mod world;

use pyo3::prelude::*;

/// The compiled part of the package `jostle`.
#[pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::arrays::borrowed_address;
    #[pymodule_export]
    use super::command::run_command;
    #[pymodule_export]
    use super::detector::{Detector, restore_detector};
    #[pymodule_export]
    use super::filter::Filter;
    #[pymodule_export]
    use super::mesh::Mesh;
    #[pymodule_export]
    use super::narrow::{contact, distance, intersects, manifold, time_of_impact};
    #[pymodule_export]
    use super::one_shot::{overlaps, overlaps_between};
    #[pymodule_export]
    use super::queries::Queries;
    #[pymodule_export]
    use super::shape::{Shape, restore_shape};
    #[pymodule_export]
    use super::timing::{time_overlaps, time_step};
    #[pymodule_export]
    use super::world::{World, restore_world};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        let names = jostle::Algorithm::ALL.iter().map(|algorithm| algorithm.name());
        module.add("ALGORITHMS", pyo3::types::PyTuple::new(module.py(), names)?)
    }
}
