//! `Detector`: boxes that move, and what begins and ends between them.

use jostle::{Aabb, Algorithm, BoxId, Boxes, Pair, Slot, Workers};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::arrays::{BoxInput, id_array, id_of, ids, integers, number_of, table};
use crate::changing;
use crate::errors::{Fault, raise, wrong_length, wrong_value};
use crate::filter::{Filter, Filters};
use crate::one_shot::places;
use crate::queries::{Owner, Queries};
use crate::results::made;
use crate::shared::Shared;

/// A detector and what it does not tell about itself.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) detector: jostle::Detector,
    pair_limit: usize,
}

/// Follows moving boxes and tells, step by step, which pairs begin and cease to overlap.
///
/// Boxes are given as to `overlaps`. Ids are uint64: the slot of a box in the lower 32 bits, by
/// which pairs name it, and in the upper ones how many boxes held the slot before; so the ids of
/// the first boxes are 0, 1, 2 and so on, and an id whose box was removed is refused for good. Ids
/// of another detector are refused if this one never gave them out.
///
/// Changes are checked before anything is written: after an exception everything is as before.
/// Any number of threads may use a detector; changes wait for each other, queries run at the same
/// time. In a `with` statement it is closed at the end, with its memory and threads.
///
/// >>> import jostle
/// >>> detector = jostle.Detector()
/// >>> ball, wall = detector.insert([[0, 0, 0, 1, 1, 1], [5, 0, 0, 6, 1, 1]])
/// >>> detector.step().began
/// array([], shape=(0, 2), dtype=uint32)
/// >>> detector.set([ball], [[4, 0, 0, 5, 1, 1]])
/// >>> detector.step().began
/// array([[0, 1]], dtype=uint32)
/// >>> detector
/// <Detector: 2 boxes, 1 pair, auto>
#[pyclass(frozen, module = "jostle")]
#[derive(Debug)]
pub(crate) struct Detector {
    pub(crate) shared: Shared<State>,
}

impl Detector {
    fn of(detector: jostle::Detector, pair_limit: usize) -> Detector {
        Detector { shared: Shared::new("detector", State { detector, pair_limit }) }
    }

    fn change<R: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Boxes) -> Result<R, Fault> + Send,
    ) -> PyResult<R> {
        self.shared.write(py, |state| change(state.detector.boxes_mut()))
    }

    fn ask<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&jostle::Detector) -> R + Send,
    ) -> PyResult<R> {
        self.shared.read(py, |state| ask(&state.detector))
    }
}

/// An algorithm by its name.
pub(crate) fn algorithm_named(name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(|error: jostle::UnknownAlgorithm| wrong_value(error.to_string()))
}

// Python shows default values that are written as numbers.
const _: () = assert!(jostle::PairBuffer::DEFAULT_LIMIT == 134217728);

/// Worker threads; 0 is one for each core.
pub(crate) fn workers(threads: usize) -> PyResult<Workers> {
    Workers::new(threads).map_err(|error| wrong_value(error.to_string()))
}

#[pymethods]
impl Detector {
    #[new]
    #[pyo3(signature = (algorithm = "auto", *, threads = 1, pair_limit = 134217728))]
    fn new(algorithm: &str, threads: usize, pair_limit: usize) -> PyResult<Self> {
        let workers = workers(threads)?;
        let mut detector = jostle::Detector::with_workers(algorithm_named(algorithm)?, workers);
        detector.set_pair_limit(pair_limit);
        Ok(Detector::of(detector, pair_limit))
    }

    /// Adds boxes, with one filter for all or a sequence with one for each, and returns their ids.
    #[pyo3(signature = (boxes, filter = None))]
    fn insert<'py>(
        &self,
        py: Python<'py>,
        boxes: &Bound<'py, PyAny>,
        filter: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let input = BoxInput::read(boxes, "boxes")?;
        let (slice, borrowed) = (input.as_slice()?, input.is_borrowed());
        let filters = Filters::read(filter, slice.len())?;
        let numbers = self.change(py, |boxes| {
            let ids = match &filters {
                Filters::One(filter) => boxes.insert_all(slice, *filter)?,
                Filters::Each(filters) => boxes.insert_each(slice, filters)?,
            };
            if borrowed {
                changing::check_inserted(boxes, &ids)?;
            }
            Ok(ids.into_iter().map(number_of).collect())
        })?;
        Ok(PyArray1::from_vec(py, numbers))
    }

    /// Gives some boxes new bounds. The same bounds are no change.
    fn set(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        boxes: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ids = crate::arrays::ids(ids)?;
        let input = BoxInput::read(boxes, "boxes")?;
        let (slice, borrowed) = (input.as_slice()?, input.is_borrowed());
        if slice.len() != ids.len() {
            return Err(wrong_length("boxes", slice.len(), "ids", ids.len()));
        }
        self.change(py, |boxes| {
            boxes.set_many(&ids, slice)?;
            if borrowed { changing::check_set(boxes, &ids) } else { Ok(()) }
        })
    }

    /// Gives every box new bounds, in the order of `ids`. What has not changed costs no more than
    /// reading it.
    fn set_all(&self, py: Python<'_>, boxes: &Bound<'_, PyAny>) -> PyResult<()> {
        let input = BoxInput::read(boxes, "boxes")?;
        let (slice, borrowed) = (input.as_slice()?, input.is_borrowed());
        self.change(py, |boxes| {
            boxes.set_all(slice)?;
            if borrowed { changing::check_set_all(boxes) } else { Ok(()) }
        })
    }

    /// Removes boxes; their pairs end with the next step.
    fn remove(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let ids = crate::arrays::ids(ids)?;
        self.change(py, |boxes| Ok(boxes.remove_all(&ids)?))
    }

    /// Gives boxes another filter, one for all or a sequence with one for each.
    fn set_filter(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        filter: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ids = crate::arrays::ids(ids)?;
        let filters = Filters::read(Some(filter), ids.len())?;
        self.change(py, |boxes| {
            ids.iter().try_for_each(|&id| boxes.check(id))?;
            for (index, &id) in ids.iter().enumerate() {
                boxes.set_filter(id, filters.at(index))?;
            }
            Ok(())
        })
    }

    /// The filter of a box.
    fn filter(&self, py: Python<'_>, id: u64) -> PyResult<Filter> {
        let filter = self.ask(py, |detector| {
            detector
                .boxes()
                .check(id_of(id))
                .map(|()| detector.boxes().filters()[id as u32 as usize])
        })?;
        filter.map(Filter::from).map_err(|error| Fault::from(error).raise(py))
    }

    /// Never reports these pairs of boxes again: the first of `one` with the first of `other`, and
    /// so on.
    fn exclude(
        &self,
        py: Python<'_>,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let pairs = id_pairs(py, one, other)?;
        self.change(py, |boxes| {
            check_pairs(boxes, &pairs)?;
            Ok(pairs.iter().try_for_each(|&(one, other)| boxes.exclude(one, other))?)
        })
    }

    /// Reports excluded pairs again.
    fn include(
        &self,
        py: Python<'_>,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let pairs = id_pairs(py, one, other)?;
        self.change(py, |boxes| {
            check_pairs(boxes, &pairs)?;
            Ok(pairs.iter().try_for_each(|&(one, other)| boxes.include(one, other))?)
        })
    }

    /// Stores 64 bits of yours with each of some boxes.
    fn set_user_data(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (ids, values) = (crate::arrays::ids(ids)?, integers(values, "values")?);
        if ids.len() != values.len() {
            return Err(wrong_length("values", values.len(), "ids", ids.len()));
        }
        self.change(py, |boxes| {
            ids.iter().try_for_each(|&id| boxes.check(id))?;
            let mut each = ids.iter().zip(&values);
            Ok(each.try_for_each(|(&id, &value)| boxes.set_user_data(id, value))?)
        })
    }

    /// What was stored with boxes, 0 if nothing was. The slots of a pair will do for ids, and the
    /// data of removed boxes can be read until the step after the one that ended their pairs.
    fn user_data<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let ids = crate::arrays::ids(ids)?;
        let values = self.ask(py, |detector| -> Vec<u64> {
            ids.iter().map(|id| detector.boxes().user_data(id.slot())).collect()
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Finds what began and what ended since the last step: `Events(began, ended)`, each an
    /// (m, 2) array of slots, sorted. If more pairs overlap than the limit allows,
    /// `PairLimitError` is raised and the changes stay pending.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (began, ended) = self.shared.write(py, |state| {
            let events = state.detector.step()?;
            Ok((places(events.began, 0), places(events.ended, 0)))
        })?;
        events(py, began, ended)
    }

    /// The events of the last step.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (began, ended) = self.ask(py, |detector| {
            let events = detector.events();
            (places(events.began, 0), places(events.ended, 0))
        })?;
        events(py, began, ended)
    }

    /// Every overlapping pair after the last step, an (m, 2) array of slots, sorted.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.ask(py, |detector| places(detector.pairs(), 0))?)
    }

    /// The ids of all boxes, in the order of their slots.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let ids: Vec<BoxId> = self.ask(py, |detector| detector.boxes().ids().collect())?;
        Ok(id_array(py, ids))
    }

    /// The bounds of all boxes, in the order of `ids`: (n, 6).
    #[getter]
    fn boxes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.ask(py, |detector| {
            let boxes = detector.boxes();
            boxes.live_slots().map(|slot| row(&boxes.aabbs()[slot.index()])).collect::<Vec<_>>()
        })?;
        table(py, rows)
    }

    /// The bounds of some boxes: (n, 6).
    fn get<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let ids = crate::arrays::ids(ids)?;
        let rows = self.ask(py, |detector| {
            let boxes = detector.boxes();
            let bounds = |&id: &BoxId| boxes.check(id).map(|()| row(&boxes.aabbs()[id.index()]));
            ids.iter().map(bounds).collect::<Result<Vec<_>, _>>()
        })?;
        table(py, rows.map_err(|error| Fault::from(error).raise(py))?)
    }

    /// The ids of the boxes in some slots, by which pairs name them.
    fn ids_at<'py>(
        &self,
        py: Python<'py>,
        slots: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let slots = integers(slots, "slots")?;
        let found = self.ask(py, |detector| {
            let at = |&slot: &u64| {
                let slot = u32::try_from(slot).map_err(|_| slot)?;
                detector.boxes().id_at(Slot::new(slot)).ok_or(u64::from(slot))
            };
            slots.iter().map(at).collect::<Result<Vec<_>, u64>>()
        })?;
        let ids = found
            .map_err(|slot| raise(py, "IdError", format!("there is no box in slot {slot}")))?;
        Ok(id_array(py, ids))
    }

    /// Queries on the boxes as they are now, pending changes among them: `detector.queries.rays(…)`
    /// and so on. Any number of threads may ask at once.
    #[getter]
    fn queries(slf: &Bound<'_, Self>) -> Queries {
        Queries::of(Owner::Detector(slf.clone().unbind()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, |detector| detector.boxes().len())
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.ids(py)?.call_method0("__iter__")
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        match id.extract::<u64>() {
            Ok(id) => self.ask(py, |detector| detector.boxes().contains(id_of(id))),
            Err(_) => Ok(false),
        }
    }

    fn __getitem__<'py>(&self, py: Python<'py>, id: u64) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let found = self.ask(py, |detector| {
            let boxes = detector.boxes();
            boxes.check(id_of(id)).map(|()| row(&boxes.aabbs()[id_of(id).index()]))
        })?;
        let row = found.map_err(|error| Fault::from(error).raise(py))?;
        Ok(PyArray1::from_slice(py, &row))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = self.ask(py, |detector| {
            let (boxes, pairs) = (detector.boxes().len(), detector.pairs().len());
            let name = detector.algorithm().map_or("custom", Algorithm::name);
            format!(
                "<Detector: {}, {}, {name}>",
                counted(boxes, "box", "boxes"),
                counted(pairs, "pair", "pairs")
            )
        });
        text.unwrap_or_else(|_| "<Detector: closed>".into())
    }

    /// The name of the algorithm. Setting it replaces the algorithm; pairs and events continue as
    /// if nothing had happened.
    #[getter]
    fn algorithm(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.ask(py, |detector| detector.algorithm().map_or("custom", Algorithm::name))
    }

    #[setter]
    fn set_algorithm(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let algorithm = algorithm_named(name)?;
        self.shared.write(py, |state| {
            state.detector.set_algorithm(algorithm);
            Ok(())
        })
    }

    /// Why the algorithm does what it does, if it is one that chooses.
    #[getter]
    fn reason(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.ask(py, jostle::Detector::reason)
    }

    /// How many pairs may overlap before a step is refused.
    #[getter]
    fn pair_limit(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, |state| state.pair_limit)
    }

    #[setter]
    fn set_pair_limit(&self, py: Python<'_>, limit: usize) -> PyResult<()> {
        self.shared.write(py, |state| {
            state.pair_limit = limit;
            state.detector.set_pair_limit(limit);
            Ok(())
        })
    }

    /// Number of threads that steps and batches of queries use.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.ask(py, jostle::Detector::threads)
    }

    /// What the algorithm counted in the last step: `Stats(tests, swaps, bytes, counts, stages)`,
    /// the last two by name, stages in seconds.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stats = self.ask(py, jostle::Detector::stats)?;
        let (counts, stages) = (PyDict::new(py), PyDict::new(py));
        for (name, count) in stats.counts {
            counts.set_item(name, count)?;
        }
        for (name, time) in stats.stages {
            stages.set_item(name, time.as_secs_f64())?;
        }
        let values = (stats.tests, stats.swaps, stats.bytes, counts, stages);
        made!(py, "Stats", values.into_pyobject(py)?)
    }

    /// Gives up the memory and the threads. Any later call raises `ClosedError`.
    fn close(&self, py: Python<'_>) {
        self.shared.close(py);
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Detector> {
        let state = self.shared.read(py, State::clone)?;
        Ok(Detector { shared: Shared::new("detector", state) })
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Detector> {
        self.__copy__(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Saved<'py>)> {
        let (bytes, settings) = self.shared.read(py, |state| {
            let detector = &state.detector;
            let name = detector.algorithm().unwrap_or(Algorithm::Auto).name();
            let bytes = rmp_serde::to_vec_named(&(detector.boxes(), detector.pairs()));
            (bytes, (name, detector.threads(), state.pair_limit))
        })?;
        let bytes = bytes.map_err(|error| raise(py, "SnapshotError", error.to_string()))?;
        let restore = py.import("jostle._native")?.getattr("restore_detector")?;
        let (name, threads, limit) = settings;
        Ok((restore, (PyBytes::new(py, &bytes), name, threads, limit)))
    }
}

/// Ids of two lists, as pairs of different boxes.
pub(crate) fn id_pairs(
    py: Python<'_>,
    one: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<Vec<(BoxId, BoxId)>> {
    let (one, other) = (ids(one)?, ids(other)?);
    if one.len() != other.len() {
        return Err(wrong_length("ids", other.len(), "ids", one.len()));
    }
    let pairs: Vec<(BoxId, BoxId)> = one.into_iter().zip(other).collect();
    if let Some((id, _)) = pairs.iter().find(|(one, other)| one.slot() == other.slot()) {
        return Err(raise(py, "BoxError", format!("box {id} cannot pair with itself")));
    }
    Ok(pairs)
}

fn check_pairs(boxes: &Boxes, pairs: &[(BoxId, BoxId)]) -> Result<(), Fault> {
    for &(one, other) in pairs {
        boxes.check(one)?;
        boxes.check(other)?;
    }
    Ok(())
}

/// A number of things.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn row(aabb: &Aabb) -> [f32; 6] {
    let ([a, b, c], [d, e, f]) = (aabb.min, aabb.max);
    [a, b, c, d, e, f]
}

fn events<'py>(
    py: Python<'py>,
    began: Vec<[u32; 2]>,
    ended: Vec<[u32; 2]>,
) -> PyResult<Bound<'py, PyAny>> {
    let arrays = PyTuple::new(py, [table(py, began)?, table(py, ended)?])?;
    made!(py, "Events", arrays)
}

/// What a pickled detector consists of.
type Saved<'py> = (Bound<'py, PyBytes>, &'static str, usize, usize);

/// A detector from what pickle kept of one.
#[pyfunction]
pub(crate) fn restore_detector(
    py: Python<'_>,
    data: &[u8],
    algorithm: &str,
    threads: usize,
    pair_limit: usize,
) -> PyResult<Detector> {
    let (algorithm, workers) = (algorithm_named(algorithm)?, workers(threads)?);
    let restored = py.detach(|| -> Result<jostle::Detector, Fault> {
        let (boxes, pairs): (Boxes, Vec<Pair>) =
            rmp_serde::from_slice(data).map_err(|e| jostle::Error::Snapshot(e.to_string()))?;
        Ok(jostle::Detector::restore(algorithm, workers, boxes, &pairs)?)
    });
    let mut detector = restored.map_err(|fault| fault.raise(py))?;
    detector.set_pair_limit(pair_limit);
    Ok(Detector::of(detector, pair_limit))
}
