//! `Filter`: which boxes may pair.

use jostle::Filter as Engine;
use pyo3::prelude::*;

use crate::errors::{wrong_length, wrong_type};

/// Which boxes a box may pair with. Two boxes pair if each is in a group of the other's mask, if
/// they do not have the same owner, and if not both are still.
///
/// >>> import jostle
/// >>> jostle.Filter(still=True)
/// Filter(still=True)
/// >>> jostle.Filter(membership=1, mask=2).allows(jostle.Filter(membership=2, mask=1))
/// True
#[pyclass(frozen, eq, hash, module = "jostle", from_py_object)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Filter {
    inner: Engine,
}

#[pymethods]
impl Filter {
    #[new]
    #[pyo3(signature = (
        *, membership = 4294967295, mask = 4294967295, owner = None, still = false
    ))]
    fn new(membership: u32, mask: u32, owner: Option<u32>, still: bool) -> Filter {
        let owner = owner.unwrap_or(Engine::NOBODY);
        Filter { inner: Engine { membership, mask, owner, still } }
    }

    /// The groups that the box is in, one bit each.
    #[getter]
    fn membership(&self) -> u32 {
        self.inner.membership
    }

    /// The groups that the box pairs with, one bit each.
    #[getter]
    fn mask(&self) -> u32 {
        self.inner.mask
    }

    /// Boxes of one owner do not pair; None for nobody's.
    #[getter]
    fn owner(&self) -> Option<u32> {
        (self.inner.owner != Engine::NOBODY).then_some(self.inner.owner)
    }

    /// Still boxes do not pair with each other.
    #[getter]
    fn still(&self) -> bool {
        self.inner.still
    }

    /// Returns True if boxes with these filters may pair.
    fn allows(&self, other: &Filter) -> bool {
        self.inner.allows(&other.inner)
    }

    fn __repr__(&self) -> String {
        let mut parts = Vec::new();
        if self.inner.membership != u32::MAX {
            parts.push(format!("membership={:#x}", self.inner.membership));
        }
        if self.inner.mask != u32::MAX {
            parts.push(format!("mask={:#x}", self.inner.mask));
        }
        if let Some(owner) = self.owner() {
            parts.push(format!("owner={owner}"));
        }
        if self.inner.still {
            parts.push("still=True".into());
        }
        format!("Filter({})", parts.join(", "))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (u32, u32, Option<u32>, bool))> {
        let filter = slf.get();
        let make = slf.py().import("jostle._results")?.getattr("make_filter")?;
        Ok((make, (filter.membership(), filter.mask(), filter.owner(), filter.still())))
    }
}

impl From<Engine> for Filter {
    fn from(inner: Engine) -> Filter {
        Filter { inner }
    }
}

/// A filter for all boxes of a batch, or one for each.
#[derive(Debug)]
pub(crate) enum Filters {
    One(Engine),
    Each(Vec<Engine>),
}

impl Filters {
    /// From None, a filter, or a sequence of `count` filters.
    pub(crate) fn read(object: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Filters> {
        let Some(object) = object.filter(|object| !object.is_none()) else {
            return Ok(Filters::One(Engine::ALL));
        };
        if let Ok(filter) = object.extract::<Filter>() {
            return Ok(Filters::One(filter.inner));
        }
        let each: Vec<Filter> = object.extract().map_err(|_| {
            wrong_type("filter: give a Filter, or a sequence with one for each box".into())
        })?;
        if each.len() != count {
            return Err(wrong_length("filters", each.len(), "boxes", count));
        }
        Ok(Filters::Each(each.into_iter().map(|filter| filter.inner).collect()))
    }

    /// The filter of the box at a place of the batch.
    pub(crate) fn at(&self, index: usize) -> Engine {
        match self {
            Filters::One(filter) => *filter,
            Filters::Each(filters) => filters[index],
        }
    }
}

/// The filter of a query: none means all boxes.
pub(crate) fn of_query(filter: Option<Filter>) -> Engine {
    filter.map_or(Engine::ALL, |filter| filter.inner)
}
