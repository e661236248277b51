//! `Queries`: rays, boxes, points and nearest boxes, in batches.

use jostle::{Aabb, BoxId, Cast, Filter as EngineFilter};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::arrays::{BoxInput, number_of, per_item, point_boxes, points, table};
use crate::detector::Detector;
use crate::errors::wrong_length;
use crate::filter::{Filter, of_query};
use crate::results::made;
use crate::world::World;

/// Whose boxes are asked about.
#[derive(Debug)]
pub(crate) enum Owner {
    Detector(Py<Detector>),
    World(Py<World>),
}

/// Questions about the boxes of a detector, or of the bodies of a world, as they are when asked.
/// Arrays of queries in, arrays out, on all threads of the detector.
///
/// Answers are `Found(offsets, ids, values)`: what query k found is at `offsets[k]` to
/// `offsets[k + 1]` of the other two; `found[k]` gives both parts. A query with a filter finds the
/// boxes that a box with that filter could pair with. A query that contains NaN finds nothing.
///
/// >>> import jostle
/// >>> detector = jostle.Detector()
/// >>> ids = detector.insert([[0, 0, 0, 1, 1, 1], [5, 0, 0, 6, 1, 1]])
/// >>> found = detector.queries.rays([[-1, 0.5, 0.5]], [[2, 0, 0]])
/// >>> found.ids, found.values
/// (array([0, 1], dtype=uint64), array([0.5, 3. ]))
/// >>> detector.queries.nearest([[4, 0, 0], [0, 9, 0]], 1).ids
/// array([1, 0], dtype=uint64)
#[pyclass(frozen, module = "jostle")]
#[derive(Debug)]
pub(crate) struct Queries {
    owner: Owner,
}

/// What one query found: boxes, and a number for each if the question has one.
type Answer = (Vec<u64>, Vec<f64>);

/// The id of no box.
const NONE: u64 = u64::MAX;

impl Queries {
    pub(crate) fn of(owner: Owner) -> Queries {
        Queries { owner }
    }

    /// Calls `ask` with the queries of the engine, the interpreter lock released.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(jostle::Queries<'_>) -> R + Send,
    ) -> PyResult<R> {
        match &self.owner {
            Owner::Detector(detector) => {
                detector.get().shared.read(py, |state| ask(state.detector.queries()))
            }
            Owner::World(world) => world.get().shared.read(py, |world| ask(world.queries())),
        }
    }

    /// Answers a batch.
    fn batch<'py, Q: Sync + Send>(
        &self,
        py: Python<'py>,
        queries: &[Q],
        with_values: bool,
        answer: impl Fn(&jostle::Queries<'_>, &Q) -> Answer + Sync + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (offsets, ids, values) = self.with(py, |engine| {
            joined(engine.batch(queries, |engine, query| answer(engine, query)))
        })?;
        let values = with_values.then(|| PyArray1::from_vec(py, values));
        let arrays = (PyArray1::from_vec(py, offsets), PyArray1::from_vec(py, ids), values);
        made!(py, "Found", arrays.into_pyobject(py)?)
    }
}

/// Answers one after the other, and where each begins.
fn joined(answers: Vec<Answer>) -> (Vec<i64>, Vec<u64>, Vec<f64>) {
    let total = answers.iter().map(|(ids, _)| ids.len()).sum();
    let mut offsets = Vec::with_capacity(answers.len() + 1);
    let (mut all, mut numbers) = (Vec::with_capacity(total), Vec::with_capacity(total));
    offsets.push(0);
    for (ids, values) in answers {
        all.extend(ids);
        numbers.extend(values);
        offsets.push(all.len() as i64);
    }
    (offsets, all, numbers)
}

fn numbers(ids: Vec<BoxId>) -> Answer {
    (ids.into_iter().map(number_of).collect(), Vec::new())
}

fn nears(found: Vec<jostle::Near>) -> Answer {
    found.iter().map(|near| (number_of(near.id), near.distance_squared.sqrt())).unzip()
}

fn hits(found: &[jostle::Hit]) -> Answer {
    found.iter().map(|hit| (number_of(hit.id), hit.enter)).unzip()
}

/// Casts from arrays: starts, directions and limits.
fn casts(
    starts: &[Aabb],
    directions: &Bound<'_, PyAny>,
    limit: Option<&Bound<'_, PyAny>>,
    endless: f32,
) -> PyResult<Vec<Cast>> {
    let directions = points(directions, "directions")?;
    if directions.len() != starts.len() {
        return Err(wrong_length("directions", directions.len(), "starts", starts.len()));
    }
    let limits = match limit {
        None => vec![endless; starts.len()],
        Some(limit) => per_item(limit, "limit", starts.len())?,
    };
    let each = starts.iter().zip(directions).zip(limits);
    Ok(each.map(|((&start, direction), limit)| Cast { start, direction, limit }).collect())
}

fn rays(
    origins: &Bound<'_, PyAny>,
    directions: &Bound<'_, PyAny>,
    limit: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Cast>> {
    let origins: Vec<Aabb> = points(origins, "origins")?.into_iter().map(Aabb::point).collect();
    casts(&origins, directions, limit, f32::INFINITY)
}

/// First hits as a row of ids and one of times.
fn first_hits(
    engine: &jostle::Queries<'_>,
    casts: &[Cast],
    filter: &EngineFilter,
) -> (Vec<u64>, Vec<f64>) {
    let found = engine.batch(casts, |engine, cast| engine.first_hit(cast, filter));
    let hit = |hit: Option<jostle::Hit>| {
        hit.map_or((NONE, f64::INFINITY), |hit| (number_of(hit.id), hit.enter))
    };
    found.into_iter().map(hit).unzip()
}

#[pymethods]
impl Queries {
    /// Boxes that overlap each of some boxes, ascending.
    #[pyo3(signature = (boxes, *, filter = None))]
    fn boxes<'py>(
        &self,
        py: Python<'py>,
        boxes: &Bound<'py, PyAny>,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (input, filter) = (BoxInput::read(boxes, "boxes")?, of_query(filter));
        self.batch(py, input.as_slice()?, false, |engine, aabb| {
            numbers(engine.overlapping(aabb, &filter))
        })
    }

    /// Boxes that contain each of some points, ascending. A point that is no float32 is in a box
    /// if it may be.
    #[pyo3(signature = (points, *, filter = None))]
    fn points<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (boxes, filter) = (point_boxes(points, "points")?, of_query(filter));
        self.batch(py, &boxes, false, |engine, aabb| numbers(engine.overlapping(aabb, &filter)))
    }

    /// Boxes no farther from each of some points than a radius, one for all or one for each;
    /// nearest first. Values are distances, 0 inside a box.
    #[pyo3(signature = (points, radius, *, filter = None))]
    fn radius<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        radius: &Bound<'py, PyAny>,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let points = crate::arrays::points(points, "points")?;
        let radii = per_item(radius, "radius", points.len())?;
        let (queries, filter): (Vec<_>, _) =
            (points.into_iter().zip(radii).collect(), of_query(filter));
        self.batch(py, &queries, true, |engine, &(point, radius)| {
            nears(engine.within(point, radius, &filter))
        })
    }

    /// The `count` boxes nearest to each of some points, nearest first. Values are distances.
    #[pyo3(signature = (points, count = 1, *, filter = None))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        count: usize,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (points, filter) = (crate::arrays::points(points, "points")?, of_query(filter));
        self.batch(py, &points, true, |engine, &point| nears(engine.nearest(point, count, &filter)))
    }

    /// Every box that each of some rays touches, in the order in which it meets them. Values are
    /// times: how many of its directions a ray has gone. A ray ends after `limit` of them.
    #[pyo3(signature = (origins, directions, limit = None, *, filter = None))]
    fn rays<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        limit: Option<&Bound<'py, PyAny>>,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (casts, filter) = (rays(origins, directions, limit)?, of_query(filter));
        self.batch(py, &casts, true, |engine, cast| hits(&engine.hits(cast, &filter)))
    }

    /// The box that each of some rays touches first: an array of ids and one of times. A ray that
    /// misses has `jostle.NO_ID` and infinity.
    #[pyo3(signature = (origins, directions, limit = None, *, filter = None))]
    fn first_hits<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        limit: Option<&Bound<'py, PyAny>>,
        filter: Option<Filter>,
    ) -> PyResult<(Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<f64>>)> {
        let (casts, filter) = (rays(origins, directions, limit)?, of_query(filter));
        let (ids, times) = self.with(py, |engine| first_hits(&engine, &casts, &filter))?;
        Ok((PyArray1::from_vec(py, ids), PyArray1::from_vec(py, times)))
    }

    /// Every box that each of some moving boxes touches, in the order in which it meets them.
    /// Values are times; `limit` of the directions is the way, 1 unless another is given.
    #[pyo3(signature = (boxes, directions, limit = None, *, filter = None))]
    fn sweeps<'py>(
        &self,
        py: Python<'py>,
        boxes: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        limit: Option<&Bound<'py, PyAny>>,
        filter: Option<Filter>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (input, filter) = (BoxInput::read(boxes, "boxes")?, of_query(filter));
        let casts = casts(input.as_slice()?, directions, limit, 1.0)?;
        self.batch(py, &casts, true, |engine, cast| hits(&engine.hits(cast, &filter)))
    }

    /// The `count` nearest pairs of boxes that may pair, nearest first: an (m, 2) array of slots
    /// and one of distances, 0 for pairs that overlap.
    fn nearest_pairs<'py>(
        &self,
        py: Python<'py>,
        count: usize,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<f64>>)> {
        let found = self.with(py, |engine| engine.nearest_pairs(count))?;
        let slots = found.iter().map(|near| [near.pair.a().get(), near.pair.b().get()]).collect();
        let distances = found.iter().map(|near| near.distance_squared.sqrt()).collect();
        Ok((table(py, slots)?, PyArray1::from_vec(py, distances)))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let owner = match &self.owner {
            Owner::Detector(detector) => detector.bind(py).as_any().repr()?,
            Owner::World(world) => world.bind(py).as_any().repr()?,
        };
        Ok(format!("<Queries of {owner}>"))
    }
}
