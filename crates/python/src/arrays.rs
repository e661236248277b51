//! Whatever is like an array, as the numbers the engine reads.
//!
//! Arrays of NumPy are taken as they are; other objects go through `numpy.asarray`, which knows
//! `__array__` and the buffer protocol, or `numpy.from_dlpack`. float32 boxes in C order are read
//! where they are. Everything else is converted once: what is no float32 number is rounded outward,
//! so that no overlap is lost.
//!
//! An array can be contiguous in Fortran's order too, and a slice of it would mix up the rows:
//! nothing is borrowed that is not in C order.

use jostle::{Aabb, BoxId, Slot, round_down, round_up};
use numpy::{
    Element, PyArray1, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn,
    PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::errors::{wrong_length, wrong_type, wrong_value};

/// The array that an object is or can be turned into. `name` is what messages call it.
pub(crate) fn array<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = object.py();
    let numpy = py.import("numpy")?;
    let by_dlpack = object.hasattr("__dlpack__")?
        && !object.hasattr("__array__")?
        && !object.hasattr("__array_interface__")?;
    let reader = if by_dlpack { "from_dlpack" } else { "asarray" };
    let array = numpy.call_method1(reader, (object,)).map_err(|error| {
        let message = format!("{name}: cannot be read as an array: {}", error.value(py));
        if error.is_instance_of::<pyo3::exceptions::PyValueError>(py) {
            wrong_value(message)
        } else {
            wrong_type(message)
        }
    })?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// The array as one of `T` in C order: itself if it is one, else a copy that NumPy makes.
fn typed<'py, T: Element>(
    array: &Bound<'py, PyUntypedArray>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    let py = array.py();
    if let Ok(same) = array.cast::<PyArrayDyn<T>>()
        && readable(same)
    {
        return Ok(same.try_readonly()?);
    }
    let options = PyDict::new(py);
    options.set_item("dtype", dtype::<T>(py))?;
    options.set_item("requirements", ("C", "A"))?;
    let copy = py.import("numpy")?.call_method("require", (array,), Some(&options))?;
    Ok(copy.cast_into::<PyArrayDyn<T>>()?.try_readonly()?)
}

/// Returns true if the elements lie one after the other in C order, where the processor can read
/// them.
fn readable<T: Element>(array: &Bound<'_, PyArrayDyn<T>>) -> bool {
    array.is_c_contiguous() && (array.data() as usize).is_multiple_of(align_of::<T>())
}

/// The kind of a dtype's numbers and their bytes: `('f', 8)` for float64.
fn kind(array: &Bound<'_, PyUntypedArray>) -> (u8, usize) {
    let descr = array.dtype();
    (descr.kind(), descr.itemsize())
}

fn no_numbers(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyErr {
    wrong_type(format!(
        "{name}: dtype {} is not supported; give float16, float32, float64 or an integer type",
        array.dtype()
    ))
}

/// A number that can be the bound of a box.
pub(crate) trait Bounding: Element + Copy {
    /// The largest float32 that is not above it.
    fn down(self) -> f32;
    /// The smallest float32 that is not below it.
    fn up(self) -> f32;
}

impl Bounding for f32 {
    fn down(self) -> f32 {
        self
    }
    fn up(self) -> f32 {
        self
    }
}

impl Bounding for f64 {
    fn down(self) -> f32 {
        round_down(self)
    }
    fn up(self) -> f32 {
        round_up(self)
    }
}

/// Integers of 64 bits: to float64 and from there to float32, both in the same direction.
macro_rules! bounding_integer {
    ($integer:ty) => {
        impl Bounding for $integer {
            fn down(self) -> f32 {
                let nearest = self as f64;
                let above = nearest as i128 > i128::from(self);
                round_down(if above { nearest.next_down() } else { nearest })
            }
            fn up(self) -> f32 {
                let nearest = self as f64;
                let below = (nearest as i128) < i128::from(self);
                round_up(if below { nearest.next_up() } else { nearest })
            }
        }
    };
}
bounding_integer!(i64);
bounding_integer!(u64);

/// Calls `$read` with the array as one of a type that holds its numbers exactly.
macro_rules! with_exact_type {
    ($array:expr, $name:expr, |$values:ident| $read:expr) => {
        match kind($array) {
            (b'f', 1..=4) | (b'i' | b'u', 1..=2) => {
                let $values = typed::<f32>($array)?;
                $read
            }
            (b'f', 8) | (b'i' | b'u', 4) => {
                let $values = typed::<f64>($array)?;
                $read
            }
            (b'i', 8) => {
                let $values = typed::<i64>($array)?;
                $read
            }
            (b'u', 8) => {
                let $values = typed::<u64>($array)?;
                $read
            }
            _ => return Err(no_numbers($array, $name)),
        }
    };
}

/// Boxes as the engine reads them.
pub(crate) enum BoxInput<'py> {
    /// The caller's array itself: n rows of six.
    Borrowed(PyReadonlyArrayDyn<'py, f32>),
    /// Converted.
    Owned(Vec<Aabb>),
}

impl<'py> BoxInput<'py> {
    /// Reads (n, 6), (n, 2, 3), (n, 4) or (n, 2, 2) numbers, or a tuple (mins, maxs).
    pub(crate) fn read(object: &Bound<'py, PyAny>, name: &str) -> PyResult<BoxInput<'py>> {
        if let Some(corners) = corners(object, name)? {
            return Ok(BoxInput::Owned(corners));
        }
        let array = array(object, name)?;
        let width = match array.shape() {
            [0] => return Ok(BoxInput::Owned(Vec::new())),
            [_, 6] | [_, 2, 3] => 6,
            [_, 4] | [_, 2, 2] => 4,
            shape => return Err(wrong_shape(shape, name)),
        };
        if width == 6
            && let Ok(same) = array.cast::<PyArrayDyn<f32>>()
            && readable(same)
        {
            return Ok(BoxInput::Borrowed(same.try_readonly()?));
        }
        Ok(BoxInput::Owned(with_exact_type!(&array, name, |values| rows(
            values.as_slice()?,
            width
        ))))
    }

    /// The boxes.
    pub(crate) fn as_slice(&self) -> PyResult<&[Aabb]> {
        match self {
            BoxInput::Owned(boxes) => Ok(boxes),
            BoxInput::Borrowed(array) => Ok(as_boxes(array.as_slice()?)),
        }
    }

    /// Returns true if the boxes are the caller's memory, which other threads may write to.
    pub(crate) fn is_borrowed(&self) -> bool {
        matches!(self, BoxInput::Borrowed(_))
    }
}

/// Rows of six numbers as boxes, where they are.
#[allow(unsafe_code, reason = "boxes in the memory of an array, without a copy")]
fn as_boxes(numbers: &[f32]) -> &[Aabb] {
    const { assert!(size_of::<Aabb>() == 24 && align_of::<Aabb>() == align_of::<f32>()) };
    let (rows, _) = numbers.as_chunks::<6>();
    // SAFETY: Aabb is repr(C) and consists of six f32, so it has the size and alignment of a row,
    // no padding, and no bit pattern is invalid.
    unsafe { std::slice::from_raw_parts(rows.as_ptr().cast::<Aabb>(), rows.len()) }
}

fn wrong_shape(shape: &[usize], name: &str) -> PyErr {
    wrong_value(format!(
        "{name}: shape {} is no list of boxes; give (n, 6), (n, 2, 3), flat (n, 4) or (n, 2, 2), \
         or a tuple (mins, maxs)",
        Shape(shape)
    ))
}

/// A shape as Python writes it.
pub(crate) struct Shape<'a>(pub(crate) &'a [usize]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lengths: Vec<String> = self.0.iter().map(usize::to_string).collect();
        match lengths.as_slice() {
            [one] => write!(f, "({one},)"),
            more => write!(f, "({})", more.join(", ")),
        }
    }
}

fn rows<T: Bounding>(values: &[T], width: usize) -> Vec<Aabb> {
    let half = width / 2;
    values.chunks_exact(width).map(|row| aabb(&row[..half], &row[half..])).collect()
}

/// The box between two corners of three or two numbers; a flat box is at z = 0.
fn aabb<T: Bounding, U: Bounding>(min: &[T], max: &[U]) -> Aabb {
    let mut aabb = Aabb::default();
    for (axis, (low, high)) in min.iter().zip(max).enumerate() {
        aabb.min[axis] = low.down();
        aabb.max[axis] = high.up();
    }
    aabb
}

/// Boxes from a tuple of two arrays of points; none if it is no such tuple.
fn corners(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Vec<Aabb>>> {
    let Ok(tuple) = object.cast::<PyTuple>() else { return Ok(None) };
    if tuple.len() != 2 {
        return Ok(None);
    }
    let low = array(&tuple.get_item(0)?, name)?;
    if !matches!(low.shape(), [_, 2 | 3]) {
        return Ok(None);
    }
    let high = array(&tuple.get_item(1)?, name)?;
    if low.shape() != high.shape() {
        return Err(wrong_value(format!(
            "{name}: mins have shape {} and maxs {}; give one for each",
            Shape(low.shape()),
            Shape(high.shape())
        )));
    }
    let width = low.shape()[1];
    let lower: Vec<Aabb> =
        with_exact_type!(&low, name, |values| points_down_up(values.as_slice()?, width));
    let upper: Vec<Aabb> =
        with_exact_type!(&high, name, |values| points_down_up(values.as_slice()?, width));
    let joined = lower.iter().zip(&upper).map(|(low, high)| Aabb::new(low.min, high.max));
    Ok(Some(joined.collect()))
}

fn points_down_up<T: Bounding>(values: &[T], width: usize) -> Vec<Aabb> {
    values.chunks_exact(width).map(|point| aabb(point, point)).collect()
}

/// Points as the smallest boxes that contain them: of no size if they are float32 numbers.
pub(crate) fn point_boxes(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<Aabb>> {
    let array = array(object, name)?;
    let width = match array.shape() {
        [0] => return Ok(Vec::new()),
        [width @ (2 | 3)] | [_, width @ (2 | 3)] => *width,
        shape => return Err(no_points(shape, name)),
    };
    Ok(with_exact_type!(&array, name, |values| points_down_up(values.as_slice()?, width)))
}

fn no_points(shape: &[usize], name: &str) -> PyErr {
    wrong_value(format!("{name}: shape {} is no list of points; give (n, 3)", Shape(shape)))
}

/// Points or vectors, the nearest float32 to each number.
pub(crate) fn points(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<[f32; 3]>> {
    let (values, shape) = floats(object, name)?;
    let width = match shape.as_slice() {
        [0] => return Ok(Vec::new()),
        [width @ (2 | 3)] | [_, width @ (2 | 3)] => *width,
        shape => return Err(no_points(shape, name)),
    };
    let point = |row: &[f64]| std::array::from_fn(|k| row.get(k).map_or(0.0, |&part| part as f32));
    Ok(values.chunks_exact(width).map(point).collect())
}

/// One float32 for each of `count` things, or one for all.
pub(crate) fn per_item(object: &Bound<'_, PyAny>, name: &str, count: usize) -> PyResult<Vec<f32>> {
    let values = per_item_f64(object, name, count)?;
    Ok(values.into_iter().map(|value| value as f32).collect())
}

/// As [`per_item`], in double precision.
pub(crate) fn per_item_f64(
    object: &Bound<'_, PyAny>,
    name: &str,
    count: usize,
) -> PyResult<Vec<f64>> {
    let (values, shape) = floats(object, name)?;
    match shape.as_slice() {
        [] => Ok(vec![values[0]; count]),
        [length] if *length == count => Ok(values),
        [length] => Err(wrong_length(name, *length, "queries", count)),
        shape => Err(wrong_value(format!(
            "{name}: shape {} is no list of numbers; give one, or one for each query",
            Shape(shape)
        ))),
    }
}

/// All numbers of an array as float64, and its shape.
pub(crate) fn floats(object: &Bound<'_, PyAny>, name: &str) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let array = array(object, name)?;
    if !matches!(kind(&array), (b'f', 1..=8) | (b'i' | b'u', _)) {
        return Err(no_numbers(&array, name));
    }
    Ok((typed::<f64>(&array)?.as_slice()?.to_vec(), array.shape().to_vec()))
}

/// A vector of three numbers.
pub(crate) fn vector(object: &Bound<'_, PyAny>, name: &str) -> PyResult<glam::DVec3> {
    let (values, shape) = floats(object, name)?;
    match (shape.as_slice(), values.as_slice()) {
        ([3], &[x, y, z]) => Ok(glam::DVec3::new(x, y, z)),
        (shape, _) => {
            Err(wrong_value(format!("{name}: shape {} is no vector; give (3,)", Shape(shape))))
        }
    }
}

/// A list of vectors of three numbers.
pub(crate) fn vectors(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<glam::DVec3>> {
    let (values, shape) = floats(object, name)?;
    match shape.as_slice() {
        [0] => Ok(Vec::new()),
        [_, 3] => Ok(values.as_chunks::<3>().0.iter().map(|&v| v.into()).collect()),
        shape => Err(no_points(shape, name)),
    }
}

/// Whole numbers from 0 to 2^64 - 1, one or many.
pub(crate) fn integers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<u64>> {
    let array = array(object, name)?;
    if array.ndim() > 1 {
        return Err(wrong_value(format!(
            "{name}: shape {} is no list; give (n,)",
            Shape(array.shape())
        )));
    }
    match kind(&array) {
        _ if array.len() == 0 => Ok(Vec::new()),
        (b'u', _) => Ok(typed::<u64>(&array)?.as_slice()?.to_vec()),
        (b'i', _) => {
            let values = typed::<i64>(&array)?;
            let each = values.as_slice()?.iter().enumerate();
            let checked = each.map(|(index, &value)| {
                u64::try_from(value)
                    .map_err(|_| wrong_value(format!("{name}: number {index} is {value}, below 0")))
            });
            checked.collect()
        }
        _ => Err(wrong_type(format!("{name}: dtype {} is no integer type", array.dtype()))),
    }
}

/// Triangles: an (m, 3) array of places in a list of vertices.
pub(crate) fn indices(object: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    let array = array(object, "triangles")?;
    if !matches!(array.shape(), [0] | [_, 3]) {
        return Err(wrong_value(format!(
            "triangles: shape {} is no list of triangles; give (m, 3)",
            Shape(array.shape())
        )));
    }
    let flat = integers(array.call_method0("ravel")?.as_any(), "triangles")?;
    let narrow = |(place, &index): (usize, &u64)| {
        u32::try_from(index)
            .map_err(|_| wrong_value(format!("triangles: row {} names vertex {index}", place / 3)))
    };
    let flat = flat.iter().enumerate().map(narrow).collect::<PyResult<Vec<u32>>>()?;
    Ok(flat.as_chunks::<3>().0.to_vec())
}

/// Ids of boxes or bodies: the slot in the lower 32 bits, the generation in the upper ones.
pub(crate) fn ids(object: &Bound<'_, PyAny>) -> PyResult<Vec<BoxId>> {
    Ok(integers(object, "ids")?.into_iter().map(id_of).collect())
}

/// The id that a number stands for.
pub(crate) fn id_of(number: u64) -> BoxId {
    BoxId::new(Slot::new(number as u32), (number >> 32) as u32)
}

/// The number that stands for an id.
pub(crate) fn number_of(id: BoxId) -> u64 {
    u64::from(id.generation()) << 32 | u64::from(id.slot().get())
}

/// Ids as an array.
pub(crate) fn id_array<'py>(
    py: Python<'py>,
    ids: impl IntoIterator<Item = BoxId>,
) -> Bound<'py, PyArray1<u64>> {
    PyArray1::from_vec(py, ids.into_iter().map(number_of).collect())
}

/// Rows of `N` numbers as an array of two dimensions, without a copy.
pub(crate) fn table<'py, T: Element, const N: usize>(
    py: Python<'py>,
    rows: Vec<[T; N]>,
) -> PyResult<Bound<'py, PyAny>> {
    let length = rows.len();
    Ok(PyArray1::from_vec(py, rows.into_flattened()).reshape([length, N])?.into_any())
}

/// Where the engine would read these boxes: the address of the first, none if they would be
/// converted. For tests.
#[pyfunction]
pub(crate) fn borrowed_address(boxes: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let input = BoxInput::read(boxes, "boxes")?;
    Ok(if input.is_borrowed() { Some(input.as_slice()?.as_ptr() as usize) } else { None })
}

/// A class or constant of the package, looked up once.
pub(crate) fn cached<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyAny>>,
    module: &str,
    name: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let value =
        cell.get_or_try_init(py, || Ok::<_, PyErr>(py.import(module)?.getattr(name)?.unbind()))?;
    Ok(value.bind(py).clone())
}
