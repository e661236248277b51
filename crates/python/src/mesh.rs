//! `Mesh`: triangle meshes, and what rays, points and other meshes meet of them.

use std::sync::{Arc, RwLock};

use glam::DVec3;
use jostle::mesh::{Fill, Mesh as Engine, MeshPair, MeshRay, MeshRayHit, Refit};
use jostle::shape::Pose;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{indices, per_item_f64, table, vectors};
use crate::detector::workers;
use crate::errors::{Fault, raise, wrong_length};
use crate::narrow::common_length;
use crate::poses::Poses;
use crate::results::structured;

/// Questions that one task answers.
const CHUNK: usize = 64;

/// Triangles that share vertices: `vertices` is an (n, 3) array and `triangles` an (m, 3) array of
/// places in it. Everything but a wrong index and a coordinate that is not a number is legal;
/// `report` tells what a mesh is like. With `solid` a mesh contains what is inside it, otherwise it
/// is its triangles alone.
///
/// Whether triangles touch is exact, and touching counts. Any number of threads may ask at once.
///
/// >>> import jostle
/// >>> corners = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
/// >>> sheet = jostle.Mesh(corners, [[0, 1, 2]])
/// >>> sheet
/// <Mesh: 1 triangle, surface>
/// >>> float(sheet.rays([[1, 2, 6]], [[0, 0, -2]])["time"][0])
/// 3.0
/// >>> sheet.intersects(sheet, None, [[0, 0, 0], [0, 0, 1e-20]])
/// array([ True, False])
#[pyclass(frozen, module = "jostle")]
#[derive(Debug)]
pub(crate) struct Mesh {
    /// Replaced, never waited for: a question keeps the mesh that it began with.
    inner: RwLock<Arc<Engine>>,
}

impl Mesh {
    /// The mesh as it is now. The lock is only ever taken with the interpreter lock released.
    fn engine(&self, py: Python<'_>) -> PyResult<Arc<Engine>> {
        let engine = py.detach(|| match self.inner.read() {
            Ok(engine) => Ok(Arc::clone(&engine)),
            Err(_) => Err(Fault::Broken("mesh")),
        });
        engine.map_err(|fault| fault.raise(py))
    }

    /// Asks about every one of some things on some threads.
    fn each<Q: Sync, T: Send + Clone + Default>(
        &self,
        py: Python<'_>,
        questions: &[Q],
        threads: usize,
        ask: impl Fn(&Engine, &Q) -> T + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let (mesh, workers) = (self.engine(py)?, workers(threads)?);
        Ok(py.detach(|| {
            let mut answers = vec![T::default(); questions.len()];
            workers.for_each_chunk(&mut answers, CHUNK, |run, answers| {
                for (answer, question) in answers.iter_mut().zip(&questions[run * CHUNK..]) {
                    *answer = ask(&mesh, question);
                }
            });
            answers
        }))
    }

    /// Asks about this mesh and another at every pair of poses.
    fn between<T: Send + Clone + Default>(
        &self,
        py: Python<'_>,
        other: &Mesh,
        poses: [Option<&Bound<'_, PyAny>>; 2],
        threads: usize,
        ask: impl Fn(&MeshPair<'_>) -> T + Sync + Send,
    ) -> PyResult<(Vec<T>, bool)> {
        let own = Poses::read(poses[0], "poses")?;
        let others = Poses::read(poses[1], "other_poses")?;
        let count = common_length(&[
            ("poses", own.list.len(), own.single),
            ("other_poses", others.list.len(), others.single),
        ])?;
        let pairs: Vec<(Pose, Pose)> = (0..count).map(|k| (own.at(k), others.at(k))).collect();
        let other = other.engine(py)?;
        let answers = self.each(py, &pairs, threads, |mesh, (pose, other_pose)| {
            ask(&MeshPair::new(mesh, pose, &other, other_pose))
        })?;
        Ok((answers, own.single && others.single))
    }
}

/// What the engine refused, as an exception.
fn refused(py: Python<'_>, fault: impl Into<jostle::Error>) -> PyErr {
    crate::errors::engine(py, &fault.into())
}

/// Words of a ray's hit.
const HIT: usize = 12;
/// Words of a nearest point.
const NEAREST: usize = 8;
/// Words of the nearest points of two meshes.
const CLOSEST: usize = 10;

/// Numbers and vectors as words, one after the other.
fn words<const N: usize>(numbers: &[f64], vectors: &[[f64; 3]], whole: &[i64]) -> [u64; N] {
    let floats = numbers.iter().chain(vectors.as_flattened()).map(|number| number.to_bits());
    let mut all = floats.chain(whole.iter().map(|&number| number as u64));
    std::array::from_fn(|_| all.next().unwrap_or_default())
}

#[pymethods]
impl Mesh {
    #[new]
    #[pyo3(signature = (vertices, triangles, *, solid = false, threads = 1))]
    fn new(
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        solid: bool,
        threads: usize,
    ) -> PyResult<Mesh> {
        let (vertices, triangles) = (vectors(vertices, "vertices")?, indices(triangles)?);
        let workers = workers(threads)?;
        let fill = if solid { Fill::Solid } else { Fill::Surface };
        let mesh = py
            .detach(|| Engine::with_workers(vertices, triangles, &workers))
            .map_err(|fault| refused(py, fault))?;
        Ok(Mesh { inner: RwLock::new(Arc::new(mesh.with_fill(fill))) })
    }

    /// The vertices: (n, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.engine(py)?.vertices().iter().map(|point| point.to_array()).collect())
    }

    /// The triangles: (m, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.engine(py)?.triangles().to_vec())
    }

    /// Whether the mesh contains what is inside it.
    #[getter]
    fn solid(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.engine(py)?.fill() == Fill::Solid)
    }

    /// The corners of the box around the triangles: (2, 3).
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mesh = self.engine(py)?;
        table(py, vec![mesh.min().to_array(), mesh.max().to_array()])
    }

    /// What the mesh is like and what is wrong with it, as a dictionary: open borders, edges with
    /// three triangles, flipped neighbours, duplicates, triangles without area, parts, area and
    /// volume.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mesh = self.engine(py)?;
        let report = py.detach(|| mesh.report());
        let dict = PyDict::new(py);
        let counts = [
            ("vertices", report.vertices),
            ("triangles", report.triangles),
            ("unused_vertices", report.unused_vertices),
            ("duplicate_vertices", report.duplicate_vertices),
            ("degenerate_triangles", report.degenerate_triangles),
            ("duplicate_triangles", report.duplicate_triangles),
            ("border_edges", report.border_edges),
            ("crowded_edges", report.crowded_edges),
            ("flipped_edges", report.flipped_edges),
            ("parts", report.parts),
            ("bytes", report.bytes),
        ];
        for (name, count) in counts {
            dict.set_item(name, count)?;
        }
        dict.set_item("area", report.area)?;
        dict.set_item("volume", report.volume)?;
        dict.set_item("closed", report.is_closed())?;
        dict.set_item("oriented", report.is_oriented())?;
        Ok(dict)
    }

    /// Moves all vertices: cloth, skin, anything that keeps its triangles. Returns True if the
    /// tree was rebuilt rather than fitted. Questions that are being answered keep the old ones.
    #[pyo3(signature = (vertices, *, threads = 1))]
    fn set_vertices(
        &self,
        py: Python<'_>,
        vertices: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<bool> {
        let (vertices, workers) = (vectors(vertices, "vertices")?, workers(threads)?);
        let refit = py.detach(|| {
            let mut mesh = self.inner.write().map_err(|_| Fault::Broken("mesh"))?;
            Arc::make_mut(&mut mesh).set_vertices(&vertices, &workers).map_err(Fault::from)
        });
        refit.map(|refit| refit == Refit::Rebuilt).map_err(|fault| fault.raise(py))
    }

    /// The triangle that each of some rays hits first, from either side: a structured array of
    /// dtype `jostle.MESH_HIT`. A ray that misses has triangle -1 and the time infinity; it ends
    /// after `limit` of its directions.
    #[pyo3(signature = (origins, directions, limit = None, *, threads = 1))]
    fn rays<'py>(
        &self,
        py: Python<'py>,
        origins: &Bound<'py, PyAny>,
        directions: &Bound<'py, PyAny>,
        limit: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (origins, directions) =
            (vectors(origins, "origins")?, vectors(directions, "directions")?);
        if directions.len() != origins.len() {
            return Err(wrong_length("directions", directions.len(), "origins", origins.len()));
        }
        let limits = match limit {
            None => vec![f64::INFINITY; origins.len()],
            Some(limit) => per_item_f64(limit, "limit", origins.len())?,
        };
        let ray = |((origin, direction), limit)| MeshRay { origin, direction, limit };
        let rays: Vec<MeshRay> = origins.into_iter().zip(directions).zip(limits).map(ray).collect();
        let (mesh, workers) = (self.engine(py)?, workers(threads)?);
        let hits = py.detach(|| mesh.cast_rays(&rays, &workers));
        let row = |hit: Option<MeshRayHit>| match hit {
            Some(hit) => words::<HIT>(
                &[hit.time],
                &[hit.point.to_array(), hit.normal.to_array(), hit.weights],
                &[i64::from(hit.triangle), i64::from(hit.front)],
            ),
            None => words::<HIT>(&[f64::INFINITY], &[[f64::NAN; 3]; 3], &[-1, 0]),
        };
        let rows = py.detach(|| hits.into_iter().map(row).collect());
        structured(py, rows, "MESH_HIT")
    }

    /// The nearest point of the mesh to each of some points: a structured array of dtype
    /// `jostle.MESH_POINT`. It is on the surface; inside a solid the distance is negative.
    #[pyo3(signature = (points, *, threads = 1))]
    fn project<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let points = finite_points(points)?;
        let rows = self.each(py, &points, threads, |mesh, &point| {
            let found = mesh.project(point);
            words::<NEAREST>(
                &[found.distance],
                &[found.point.to_array(), found.weights],
                &[i64::from(found.triangle)],
            )
        })?;
        structured(py, rows, "MESH_POINT")
    }

    /// Whether each of some points belongs to the mesh: is inside a solid or on it, by its winding
    /// number, or on a triangle of a surface.
    ///
    /// >>> import jostle
    /// >>> hull = jostle.Shape.hull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    /// >>> solid = jostle.Mesh(hull.vertices, hull.triangles, solid=True)
    /// >>> solid.contains([[0.1, 0.1, 0.1], [1, 1, 1]])
    /// array([ True, False])
    #[pyo3(signature = (points, *, threads = 1))]
    fn contains<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let points = finite_points(points)?;
        let inside = self.each(py, &points, threads, |mesh, &point| mesh.contains(point))?;
        Ok(PyArray1::from_vec(py, inside))
    }

    /// How often the triangles wind around each of some points: 1 inside a closed mesh, 0 outside,
    /// something between where there are holes.
    #[pyo3(signature = (points, *, threads = 1))]
    fn winding_numbers<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let points = finite_points(points)?;
        let numbers = self.each(py, &points, threads, |mesh, &point| mesh.winding_number(point))?;
        Ok(PyArray1::from_vec(py, numbers))
    }

    /// Whether this mesh touches another. With several poses of either, an array with an answer for
    /// each; a pose that is given once stands for all. Poses are those of `distance`.
    #[pyo3(signature = (other, poses = None, other_poses = None, *, threads = 1))]
    fn intersects<'py>(
        &self,
        py: Python<'py>,
        other: &Mesh,
        poses: Option<&Bound<'py, PyAny>>,
        other_poses: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let poses = [poses, other_poses];
        let (found, single) = self.between(py, other, poses, threads, |pair| pair.intersects())?;
        match found.as_slice() {
            [one] if single => Ok(one.into_pyobject(py)?.to_owned().into_any()),
            _ => Ok(PyArray1::from_vec(py, found).into_any()),
        }
    }

    /// How far apart the triangles of this mesh and another are, and where: a structured array of
    /// dtype `jostle.MESH_CLOSEST`, or one record of it. Arguments are those of `intersects`.
    ///
    /// >>> import jostle
    /// >>> sheet = jostle.Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    /// >>> float(sheet.closest(sheet, None, [0, 0, 2])["distance"])
    /// 2.0
    #[pyo3(signature = (other, poses = None, other_poses = None, *, threads = 1))]
    fn closest<'py>(
        &self,
        py: Python<'py>,
        other: &Mesh,
        poses: Option<&Bound<'py, PyAny>>,
        other_poses: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rows, single) = self.between(py, other, [poses, other_poses], threads, |pair| {
            let found = pair.closest();
            words::<CLOSEST>(
                &[found.distance, found.bound],
                &[found.point_a.to_array(), found.point_b.to_array()],
                &[i64::from(found.triangle_a), i64::from(found.triangle_b)],
            )
        })?;
        let array = structured(py, rows, "MESH_CLOSEST")?;
        if single { array.get_item(0) } else { Ok(array) }
    }

    /// The triangles of this mesh and of another that touch: an (m, 2) array, sorted. One pose of
    /// each. More than `limit` pairs are refused.
    #[pyo3(signature = (other, pose = None, other_pose = None, *, limit = 134217728))]
    fn triangle_pairs<'py>(
        &self,
        py: Python<'py>,
        other: &Mesh,
        pose: Option<&Bound<'py, PyAny>>,
        other_pose: Option<&Bound<'py, PyAny>>,
        limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (mut found, _) = self.between(py, other, [pose, other_pose], 1, |pair| {
            Some(pair.triangle_pairs(limit).map_err(|fault| fault.to_string()))
        })?;
        if found.len() != 1 {
            return Err(wrong_length("poses", found.len(), "call", 1));
        }
        pair_table(py, found.pop().flatten())
    }

    /// The triangles of the mesh that touch each other although they share no vertex: an (m, 2)
    /// array, sorted. More than `limit` pairs are refused.
    #[pyo3(signature = (*, limit = 134217728))]
    fn self_pairs<'py>(&self, py: Python<'py>, limit: usize) -> PyResult<Bound<'py, PyAny>> {
        let mesh = self.engine(py)?;
        let found = py.detach(|| mesh.self_pairs(limit).map_err(|fault| fault.to_string()));
        pair_table(py, Some(found))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.engine(py)?.triangles().len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mesh = self.engine(py)?;
        let count = mesh.triangles().len();
        let fill = if mesh.fill() == Fill::Solid { "solid" } else { "surface" };
        Ok(format!("<Mesh: {count} triangle{}, {fill}>", if count == 1 { "" } else { "s" }))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyAny>, bool))> {
        let restore = py.import("jostle._results")?.getattr("make_mesh")?;
        Ok((restore, (self.vertices(py)?, self.triangles(py)?, self.solid(py)?)))
    }
}

/// Pairs of triangles as an array.
fn pair_table<'py>(
    py: Python<'py>,
    found: Option<Result<Vec<(u32, u32)>, String>>,
) -> PyResult<Bound<'py, PyAny>> {
    match found {
        Some(Ok(pairs)) => table(py, pairs.into_iter().map(|(a, b)| [a, b]).collect()),
        Some(Err(message)) => Err(raise(py, "PairLimitError", message)),
        None => table(py, Vec::<[u32; 2]>::new()),
    }
}

/// Points that are numbers.
fn finite_points(object: &Bound<'_, PyAny>) -> PyResult<Vec<DVec3>> {
    let points = vectors(object, "points")?;
    match points.iter().position(|point| !point.is_finite()) {
        None => Ok(points),
        Some(row) => Err(crate::errors::wrong_value(format!(
            "points: row {row} is {}; give numbers",
            points[row]
        ))),
    }
}
