//! `Shape`: convex shapes, half-spaces and compounds.

use glam::DVec3;
use jostle::shape::{Shape as Engine, ShapeError};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::arrays::{table, vector, vectors};
use crate::errors::{bad_shape, raise, wrong_type, wrong_value};
use crate::poses::Poses;

/// A shape, made by one of `sphere`, `cuboid`, `capsule`, `cylinder`, `cone`, `ellipsoid`,
/// `triangle`, `hull`, `half_space` and `compound`. Shapes do not change and may be shared by any
/// number of bodies. Capsules, cylinders and cones stand along y, around the origin.
///
/// >>> import jostle
/// >>> jostle.Shape.capsule(radius=0.5, half_height=1)
/// Shape.capsule(radius=0.5, half_height=1.0)
/// >>> jostle.Shape.sphere(radius=2).bounds(([1, 0, 0], [0, 0, 0, 1]))
/// array([-1., -2., -2.,  3.,  2.,  2.], dtype=float32)
#[pyclass(frozen, module = "jostle", from_py_object)]
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) inner: Engine,
}

fn made(py: Python<'_>, shape: Result<Engine, ShapeError>) -> PyResult<Shape> {
    shape.map(|inner| Shape { inner }).map_err(|fault| bad_shape(py, fault))
}

#[pymethods]
impl Shape {
    /// A ball around the origin.
    #[staticmethod]
    fn sphere(py: Python<'_>, radius: f64) -> PyResult<Shape> {
        made(py, Engine::sphere(radius))
    }

    /// A box around the origin, from half its lengths.
    #[staticmethod]
    fn cuboid(py: Python<'_>, half_extents: &Bound<'_, PyAny>) -> PyResult<Shape> {
        made(py, Engine::cuboid(vector(half_extents, "half_extents")?))
    }

    /// A segment along y, `half_height` up and down, with a radius.
    #[staticmethod]
    fn capsule(py: Python<'_>, radius: f64, half_height: f64) -> PyResult<Shape> {
        made(py, Engine::capsule(radius, half_height))
    }

    /// A cylinder along y.
    #[staticmethod]
    fn cylinder(py: Python<'_>, radius: f64, half_height: f64) -> PyResult<Shape> {
        made(py, Engine::cylinder(radius, half_height))
    }

    /// A cone along y, its tip up.
    #[staticmethod]
    fn cone(py: Python<'_>, radius: f64, half_height: f64) -> PyResult<Shape> {
        made(py, Engine::cone(radius, half_height))
    }

    /// An ellipsoid around the origin, from half its lengths.
    #[staticmethod]
    fn ellipsoid(py: Python<'_>, radii: &Bound<'_, PyAny>) -> PyResult<Shape> {
        made(py, Engine::ellipsoid(vector(radii, "radii")?))
    }

    /// A triangle, from a (3, 3) array of corners.
    #[staticmethod]
    fn triangle(py: Python<'_>, points: &Bound<'_, PyAny>) -> PyResult<Shape> {
        let points = <[DVec3; 3]>::try_from(vectors(points, "points")?)
            .map_err(|given| wrong_value(format!("points: {} given; give 3", given.len())))?;
        made(py, Engine::triangle(points))
    }

    /// The convex hull of an (n, 3) array of points.
    #[staticmethod]
    fn hull(py: Python<'_>, points: &Bound<'_, PyAny>) -> PyResult<Shape> {
        let points = vectors(points, "points")?;
        made(py, py.detach(|| Engine::hull(&points)))
    }

    /// All points p with p · normal ≤ offset; the normal may have any length but 0.
    #[staticmethod]
    #[pyo3(signature = (normal, offset = 0.0))]
    fn half_space(py: Python<'_>, normal: &Bound<'_, PyAny>, offset: f64) -> PyResult<Shape> {
        made(py, Engine::half_space(vector(normal, "normal")?, offset))
    }

    /// Several convex shapes in one: a list of shapes, and a pose for each.
    #[staticmethod]
    #[pyo3(signature = (shapes, poses = None))]
    fn compound(
        py: Python<'_>,
        shapes: Vec<Shape>,
        poses: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Shape> {
        let poses = Poses::read(poses, "poses")?;
        if poses.list.len() != 1 && poses.list.len() != shapes.len() {
            let (given, count) = (poses.list.len(), shapes.len());
            return Err(crate::errors::wrong_length("poses", given, "shapes", count));
        }
        let each = shapes.into_iter().enumerate();
        let pieces = each.map(|(k, shape)| (shape.inner, poses.at(k))).collect();
        made(py, Engine::compound(pieces))
    }

    /// Its kind: `"sphere"` and so on.
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner.kind()
    }

    /// The box around the shape at a pose, as an array of six.
    #[pyo3(signature = (pose = None))]
    fn bounds<'py>(
        &self,
        py: Python<'py>,
        pose: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let poses = Poses::read(pose, "pose")?;
        let rows: Vec<[f32; 6]> = py.detach(|| {
            let bounds = poses.list.iter().map(|pose| self.inner.bounds(pose));
            bounds
                .map(|b| std::array::from_fn(|k| if k < 3 { b.min[k] } else { b.max[k - 3] }))
                .collect()
        });
        match rows.as_slice() {
            [row] if poses.single => Ok(PyArray1::from_slice(py, row).into_any()),
            _ => table(py, rows),
        }
    }

    /// The corners of a hull or triangle: (n, 3).
    #[getter]
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows = |points: &[DVec3]| points.iter().map(|point| point.to_array()).collect();
        match &self.inner {
            Engine::Hull(hull) => table(py, rows(hull.vertices())),
            Engine::Triangle { points } => table(py, rows(points)),
            other => Err(wrong_type(format!("a {} has no list of vertices", other.kind()))),
        }
    }

    /// The surface of a hull as triangles of places in `vertices`: (n, 3).
    #[getter]
    fn triangles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.inner {
            Engine::Hull(hull) => table(py, hull.triangles().to_vec()),
            other => Err(wrong_type(format!("a {} has no list of triangles", other.kind()))),
        }
    }

    fn __repr__(&self) -> String {
        let (kind, vec) = (self.inner.kind(), |v: &DVec3| format!("{:?}", v.to_array()));
        let fields = match &self.inner {
            Engine::Sphere { radius } => format!("radius={radius:?}"),
            Engine::Cuboid { half_extents } => format!("half_extents={}", vec(half_extents)),
            Engine::Capsule { radius, half_height }
            | Engine::Cylinder { radius, half_height }
            | Engine::Cone { radius, half_height } => {
                format!("radius={radius:?}, half_height={half_height:?}")
            }
            Engine::Ellipsoid { radii } => format!("radii={}", vec(radii)),
            Engine::Triangle { points } => {
                format!("points=[{}]", points.each_ref().map(vec).join(", "))
            }
            Engine::HalfSpace { normal, offset } => {
                format!("normal={}, offset={offset:?}", vec(normal))
            }
            Engine::Hull(hull) => format!("<{} vertices>", hull.vertices().len()),
            Engine::Compound(compound) => format!("<{} pieces>", compound.pieces().len()),
            _ => String::new(),
        };
        format!("Shape.{kind}({fields})")
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = rmp_serde::to_vec_named(&self.inner)
            .map_err(|error| raise(py, "SnapshotError", error.to_string()))?;
        let restore = py.import("jostle._native")?.getattr("restore_shape")?;
        Ok((restore, (PyBytes::new(py, &bytes),)))
    }
}

/// A shape from what pickle kept of one.
#[pyfunction]
pub(crate) fn restore_shape(py: Python<'_>, data: &[u8]) -> PyResult<Shape> {
    match rmp_serde::from_slice(data) {
        Ok(inner) => Ok(Shape { inner }),
        Err(error) => Err(raise(py, "SnapshotError", error.to_string())),
    }
}

/// One shape, or a list of them.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) list: Vec<Engine>,
    /// Given as one, rather than as a list of one.
    pub(crate) single: bool,
}

impl Shapes {
    pub(crate) fn read(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Shapes> {
        if let Ok(shape) = object.cast::<Shape>() {
            return Ok(Shapes { list: vec![shape.get().inner.clone()], single: true });
        }
        let list: Vec<Shape> = object.extract().map_err(|_| {
            let found = object.get_type();
            wrong_type(format!("{name}: give a Shape or a sequence of them, not {found}"))
        })?;
        Ok(Shapes { list: list.into_iter().map(|shape| shape.inner).collect(), single: false })
    }

    /// The shape at a place; one shape is at every place.
    pub(crate) fn at(&self, index: usize) -> &Engine {
        if self.list.len() == 1 { &self.list[0] } else { &self.list[index] }
    }
}
