//! `World`: bodies that move, from poses to contacts.

use glam::DVec3;
use jostle::world::{BodyPair, Detail, Step, WorldSnapshot};
use jostle::{Algorithm, Body, BodyId, BoxId};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arrays::{id_array, id_of, integers, number_of, table, vector};
use crate::detector::{algorithm_named, counted, id_pairs, workers};
use crate::errors::{Fault, raise, wrong_length, wrong_value};
use crate::filter::Filters;
use crate::poses::Poses;
use crate::queries::{Owner, Queries};
use crate::results::{CONTACT, POINT, contact_words, made, point_words, structured};
use crate::shape::{Shape, Shapes};
use crate::shared::Shared;

/// Follows moving bodies, shapes with poses, and tells, step by step, which touch, how deep, where
/// and along which normal.
///
/// Poses are given as to `distance`, ids and threads are as with `Detector`. With `detail`
/// `"manifold"`, up to four points hold each touching pair apart. A continuous world finds bodies
/// that met on their way during a step; a flat one lies in the plane z = 0.
///
/// >>> import jostle
/// >>> world = jostle.World()
/// >>> ball = world.insert(jostle.Shape.sphere(radius=1), [0, 0, 0])
/// >>> wall = world.insert(
/// ...     jostle.Shape.cuboid(half_extents=[0.5, 9, 9]), [5, 0, 0], jostle.Filter(still=True)
/// ... )
/// >>> len(world.step().touches)
/// 0
/// >>> world.set_poses(ball, [4, 0, 0])
/// >>> step = world.step()
/// >>> step.began
/// array([[0, 1]], dtype=uint64)
/// >>> step.touches["depth"], step.touches["normal"][:, 0]
/// (array([0.5]), array([1.]))
#[pyclass(frozen, module = "jostle")]
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) shared: Shared<jostle::World>,
}

/// Words of a touch: the bodies, the time, the contact, where its points begin and how many.
const TOUCH: usize = 5 + CONTACT;

type PairRows = Vec<[u64; 2]>;

/// The outcome of a step as rows.
struct Rows {
    touches: Vec<[u64; TOUCH]>,
    began: PairRows,
    ended: PairRows,
    points: Vec<[u64; POINT]>,
}

impl Rows {
    fn of(step: &Step<'_>) -> Rows {
        let mut points = Vec::new();
        let touches = step.touches.iter().map(|touch| {
            let own = step.points(touch);
            let mut words = [0; TOUCH];
            words[..2].copy_from_slice(&pair_numbers(touch.pair));
            words[2] = touch.time.to_bits();
            words[3..3 + CONTACT].copy_from_slice(&contact_words(&touch.contact));
            words[3 + CONTACT] = points.len() as u64;
            words[4 + CONTACT] = own.len() as u64;
            points.extend(own.iter().map(point_words));
            words
        });
        let touches = touches.collect();
        let pairs = |pairs: &[BodyPair]| pairs.iter().map(|&pair| pair_numbers(pair)).collect();
        Rows { touches, began: pairs(step.began), ended: pairs(step.ended), points }
    }

    fn into_step<'py>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let arrays = [
            structured(py, self.touches, "TOUCH")?,
            table(py, self.began)?,
            table(py, self.ended)?,
            structured(py, self.points, "POINT")?,
        ];
        made!(py, "Step", PyTuple::new(py, arrays)?)
    }
}

fn pair_numbers(pair: BodyPair) -> [u64; 2] {
    [pair.a(), pair.b()].map(|body| number_of(body.box_id()))
}

fn body_ids(object: &Bound<'_, PyAny>) -> PyResult<Vec<BodyId>> {
    Ok(crate::arrays::ids(object)?.into_iter().map(BodyId::new).collect())
}

/// Fails at the first id that names no body.
fn check(world: &jostle::World, ids: &[BodyId]) -> Result<(), Fault> {
    let boxes = world.detector().boxes();
    Ok(ids.iter().try_for_each(|id| boxes.check(id.box_id()))?)
}

/// Poses for bodies: as many, or one for all.
fn poses_of(object: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<jostle::shape::Pose>> {
    let mut poses = Poses::read(Some(object), "poses")?.list;
    if poses.len() == 1 {
        poses.resize(count, poses[0]);
    }
    match poses.len() == count {
        true => Ok(poses),
        false => Err(wrong_length("poses", poses.len(), "ids", count)),
    }
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (
        algorithm = "auto", *, threads = 1, detail = "contact", continuous = false, flat = false,
        pair_limit = 134217728, origin = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        threads: usize,
        detail: &str,
        continuous: bool,
        flat: bool,
        pair_limit: usize,
        origin: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<World> {
        let workers = workers(threads)?;
        let mut world = jostle::World::with_workers(algorithm_named(algorithm)?, workers);
        world.set_detail(match detail {
            "contact" => Detail::Contact,
            "manifold" => Detail::Manifold,
            other => {
                let message = format!("detail: {other:?} is unknown; give contact or manifold");
                return Err(wrong_value(message));
            }
        });
        world.set_continuous(continuous);
        world.set_flat(flat);
        world.set_pair_limit(pair_limit);
        if let Some(origin) = origin {
            let origin: DVec3 = vector(origin, "origin")?;
            world.set_origin(origin).map_err(|error| Fault::from(error).raise(py))?;
        }
        Ok(World { shared: Shared::new("world", world) })
    }

    /// Adds bodies and returns their ids. Of shapes and poses there may be one for all or one for
    /// each; so with filters. `user_data` is a number of 64 bits for each.
    #[pyo3(signature = (shapes, poses = None, filter = None, user_data = None))]
    fn insert<'py>(
        &self,
        py: Python<'py>,
        shapes: &Bound<'py, PyAny>,
        poses: Option<&Bound<'py, PyAny>>,
        filter: Option<&Bound<'py, PyAny>>,
        user_data: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let (shapes, poses) = (Shapes::read(shapes, "shapes")?, Poses::read(poses, "poses")?);
        let (given, count) = (shapes.list.len(), poses.list.len());
        if given != count && given != 1 && count != 1 {
            return Err(wrong_length("poses", count, "shapes", given));
        }
        let count = if given == 1 { count } else { given };
        let filters = Filters::read(filter, count)?;
        let data = user_data.map(|data| integers(data, "user_data")).transpose()?;
        if let Some(data) = data.as_ref().filter(|data| data.len() != count) {
            return Err(wrong_length("numbers of user_data", data.len(), "bodies", count));
        }
        let body = |k: usize| {
            let body = Body::new(shapes.at(k).clone(), poses.at(k)).with_filter(filters.at(k));
            body.with_user_data(data.as_ref().map_or(0, |data| data[k]))
        };
        let ids =
            self.shared.write(py, |world| Ok(world.insert_all((0..count).map(body).collect())?))?;
        Ok(id_array(py, ids.into_iter().map(BodyId::box_id)))
    }

    /// Gives bodies new poses.
    fn set_poses(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ids = body_ids(ids)?;
        let poses = poses_of(poses, ids.len())?;
        self.shared.write(py, |world| Ok(world.set_poses(&ids, &poses)?))
    }

    /// Puts bodies elsewhere without passing through what is between.
    fn teleport(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        poses: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ids = body_ids(ids)?;
        let poses = poses_of(poses, ids.len())?;
        self.shared.write(py, |world| {
            check(world, &ids)?;
            let mut each = ids.iter().zip(poses);
            Ok(each.try_for_each(|(&id, pose)| world.teleport(id, pose))?)
        })
    }

    /// Removes bodies; what they touch ends with the next step.
    fn remove(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        let ids = body_ids(ids)?;
        self.shared.write(py, |world| Ok(world.remove_all(&ids)?))
    }

    /// Gives bodies another filter, one for all or a sequence with one for each.
    fn set_filter(
        &self,
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        filter: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let ids = body_ids(ids)?;
        let filters = Filters::read(Some(filter), ids.len())?;
        self.shared.write(py, |world| {
            check(world, &ids)?;
            let mut each = ids.iter().enumerate();
            Ok(each.try_for_each(|(k, &id)| world.set_filter(id, filters.at(k)))?)
        })
    }

    /// Never reports these pairs of bodies again: the first of `one` with the first of `other`,
    /// and so on.
    fn exclude(
        &self,
        py: Python<'_>,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.for_pairs(py, one, other, jostle::World::exclude)
    }

    /// Reports excluded pairs again.
    fn include(
        &self,
        py: Python<'_>,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.for_pairs(py, one, other, jostle::World::include)
    }

    /// Where bodies are: translations (n, 3) and quaternions (n, 4), x y z w.
    fn poses<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let ids = body_ids(ids)?;
        let poses = self.shared.read(py, |world| {
            check(world, &ids)?;
            Ok(ids.iter().filter_map(|&id| world.pose(id).copied()).collect::<Vec<_>>())
        })?;
        let poses = poses.map_err(|fault: Fault| fault.raise(py))?;
        let at = poses.iter().map(|pose| pose.translation().to_array()).collect();
        let turn = poses.iter().map(|pose| pose.rotation().to_array()).collect();
        Ok((table(py, at)?, table(py, turn)?))
    }

    /// The shape of a body.
    fn shape(&self, py: Python<'_>, id: u64) -> PyResult<Shape> {
        let body = BodyId::new(id_of(id));
        let found = self.shared.read(py, |world| {
            check(world, &[body])?;
            Ok(world.shape(body).cloned())
        })?;
        let shape = found.map_err(|fault: Fault| fault.raise(py))?;
        let inner = shape.ok_or_else(|| raise(py, "IdError", format!("there is no body {id}")))?;
        Ok(Shape { inner })
    }

    /// What was stored with bodies, 0 if nothing was.
    fn user_data<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let ids = body_ids(ids)?;
        let data = self.shared.read(py, |world| {
            check(world, &ids)?;
            Ok(ids.iter().map(|&id| world.user_data(id).unwrap_or(0)).collect())
        })?;
        Ok(PyArray1::from_vec(py, data.map_err(|fault: Fault| fault.raise(py))?))
    }

    /// The ids of all bodies, in the order of their slots.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let ids: Vec<BoxId> =
            self.shared.read(py, |world| world.detector().boxes().ids().collect())?;
        Ok(id_array(py, ids))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, jostle::World::len)
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.ids(py)?.call_method0("__iter__")
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        match id.extract::<u64>() {
            Ok(id) => self.shared.read(py, |world| world.contains(BodyId::new(id_of(id)))),
            Err(_) => Ok(false),
        }
    }

    /// Finds what touches now: `Step(touches, began, ended, points)`. Touches are a structured
    /// array of dtype `jostle.TOUCH`, one row for each touching pair; began and ended are (m, 2)
    /// arrays of ids; points are of dtype `jostle.POINT`, those of a touch from `first_point` on.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = self.shared.write(py, |world| Ok(Rows::of(&world.step()?)))?;
        rows.into_step(py)
    }

    /// The outcome of the last step.
    #[getter]
    fn last_step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.shared.read(py, |world| Rows::of(&world.last_step()))?.into_step(py)
    }

    /// Queries on the boxes around the bodies as the last step left them.
    #[getter]
    fn queries(slf: &Bound<'_, Self>) -> Queries {
        Queries::of(Owner::World(slf.clone().unbind()))
    }

    /// The name of the algorithm. Setting it replaces the algorithm; everything continues as if
    /// nothing had happened.
    #[getter]
    fn algorithm(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.shared.read(py, algorithm_name)
    }

    #[setter]
    fn set_algorithm(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        let algorithm = algorithm_named(name)?;
        self.shared.write(py, |world| {
            world.set_algorithm(algorithm);
            Ok(())
        })
    }

    /// Number of threads that steps use.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.shared.read(py, |world| world.detector().threads())
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

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = self.shared.read(py, |world| {
            let bodies = counted(world.len(), "body", "bodies");
            let touches = world.last_step().touches.len();
            let touches = counted(touches, "touch", "touches");
            format!("<World: {bodies}, {touches}, {}>", algorithm_name(world))
        });
        text.unwrap_or_else(|_| "<World: closed>".into())
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<World> {
        let world = self.shared.read(py, jostle::World::clone)?;
        Ok(World { shared: Shared::new("world", world) })
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<World> {
        self.__copy__(py)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Saved<'py>)> {
        let (bytes, name, threads) = self.shared.write(py, |world| {
            let bytes = rmp_serde::to_vec_named(&world.snapshot());
            Ok((bytes, algorithm_name(world), world.detector().threads()))
        })?;
        let bytes = bytes.map_err(|error| raise(py, "SnapshotError", error.to_string()))?;
        let restore = py.import("jostle._native")?.getattr("restore_world")?;
        Ok((restore, (PyBytes::new(py, &bytes), name, threads)))
    }
}

impl World {
    fn for_pairs(
        &self,
        py: Python<'_>,
        one: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
        change: fn(&mut jostle::World, BodyId, BodyId) -> Result<(), jostle::WorldError>,
    ) -> PyResult<()> {
        let pairs: Vec<(BodyId, BodyId)> = id_pairs(py, one, other)?
            .into_iter()
            .map(|(one, other)| (BodyId::new(one), BodyId::new(other)))
            .collect();
        self.shared.write(py, |world| {
            for &(one, other) in &pairs {
                check(world, &[one, other])?;
            }
            Ok(pairs.iter().try_for_each(|&(one, other)| change(world, one, other))?)
        })
    }
}

fn algorithm_name(world: &jostle::World) -> &'static str {
    world.detector().algorithm().unwrap_or(Algorithm::Auto).name()
}

/// What a pickled world consists of.
type Saved<'py> = (Bound<'py, PyBytes>, &'static str, usize);

/// A world from what pickle kept of one.
#[pyfunction]
pub(crate) fn restore_world(
    py: Python<'_>,
    data: &[u8],
    algorithm: &str,
    threads: usize,
) -> PyResult<World> {
    let (algorithm, workers) = (algorithm_named(algorithm)?, workers(threads)?);
    let restored = py.detach(|| -> Result<jostle::World, Fault> {
        let snapshot: WorldSnapshot =
            rmp_serde::from_slice(data).map_err(|e| jostle::Error::Snapshot(e.to_string()))?;
        Ok(jostle::World::restore(algorithm, workers, snapshot)?)
    });
    let world = restored.map_err(|fault| fault.raise(py))?;
    Ok(World { shared: Shared::new("world", world) })
}
