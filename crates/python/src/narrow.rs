//! Questions about pairs of shapes, one pair or thousands.

use glam::DVec3;
use jostle::narrow::{
    Contact, ImpactStatus, Method, Motion, Moving, Options, PairCache, Placed, Query,
};
use jostle::shape::Shape as Engine;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{Shape, floats};
use crate::detector::workers;
use crate::errors::{bad_pose, raise, wrong_value};
use crate::poses::Poses;
use crate::results::{CONTACT, contact_words, point_words, structured};
use crate::shape::Shapes;

/// Pairs that one task answers.
const CHUNK: usize = 64;

/// The two sides of many pairs, each of one thing or as many as there are pairs.
struct Pairs {
    shapes: [Shapes; 2],
    poses: [Poses; 2],
    count: usize,
    /// Everything was given as one.
    single: bool,
}

impl Pairs {
    fn read<'py>(
        shapes: [&Bound<'py, PyAny>; 2],
        poses: [Option<&Bound<'py, PyAny>>; 2],
    ) -> PyResult<Pairs> {
        let shapes = [Shapes::read(shapes[0], "a")?, Shapes::read(shapes[1], "b")?];
        let poses = [Poses::read(poses[0], "poses_a")?, Poses::read(poses[1], "poses_b")?];
        let lengths = [
            ("a", shapes[0].list.len(), shapes[0].single),
            ("b", shapes[1].list.len(), shapes[1].single),
            ("poses_a", poses[0].list.len(), poses[0].single),
            ("poses_b", poses[1].list.len(), poses[1].single),
        ];
        let count = common_length(&lengths)?;
        let single = lengths.iter().all(|&(_, _, single)| single);
        Ok(Pairs { shapes, poses, count, single })
    }

    fn placed(&self, side: usize, index: usize) -> Placed<'_> {
        Placed::new(self.shapes[side].at(index), self.poses[side].at(index))
    }

    /// Asks about every pair on some threads.
    fn each<T: Send + Clone + Default>(
        &self,
        py: Python<'_>,
        options: Options,
        threads: usize,
        ask: impl Fn(&mut Query, usize, &Placed<'_>, &Placed<'_>) -> T + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let workers = workers(threads)?;
        Ok(py.detach(|| {
            let mut answers = vec![T::default(); self.count];
            workers.for_each_chunk(&mut answers, CHUNK, |run, answers| {
                let mut query = Query::new(options);
                for (place, answer) in answers.iter_mut().enumerate() {
                    let index = run * CHUNK + place;
                    let (a, b) = (self.placed(0, index), self.placed(1, index));
                    *answer = ask(&mut query, index, &a, &b);
                }
            });
            answers
        }))
    }
}

/// The length of all lists; what has length 1 fits every other.
pub(crate) fn common_length(lengths: &[(&str, usize, bool)]) -> PyResult<usize> {
    let Some(&(name, count, _)) = lengths.iter().find(|&&(_, length, _)| length != 1) else {
        return Ok(1);
    };
    match lengths.iter().find(|&&(_, length, _)| length != 1 && length != count) {
        None => Ok(count),
        Some((other, length, _)) => Err(wrong_value(format!(
            "{name} has length {count} and {other} {length}; give as many of each, or one"
        ))),
    }
}

fn options(margin: f64, flat: bool, method: &str) -> PyResult<Options> {
    let method = match method {
        "auto" => Method::Auto,
        "gjk-epa" => Method::GjkEpa,
        "gjk-sat" => Method::GjkSat,
        other => {
            return Err(wrong_value(format!(
                "method: {other:?} is unknown; there are auto, gjk-epa, gjk-sat"
            )));
        }
    };
    if !(margin.is_finite() && margin >= 0.0) {
        return Err(wrong_value(format!("margin: {margin} is no distance; give 0 or more")));
    }
    Ok(Options::default().with_margin(margin).with_flat(flat).with_method(method))
}

/// The first of an array if there was one question, else the array.
fn one_or_all<'py>(array: Bound<'py, PyAny>, single: bool) -> PyResult<Bound<'py, PyAny>> {
    if single { array.get_item(0) } else { Ok(array) }
}

/// How far two shapes are apart, 0 if they touch or overlap. With lists of shapes or poses, an
/// array with an answer for each pair; what is given once stands for all.
///
/// Poses are a tuple (translations, quaternions), quaternions as x y z w; or 4×4 matrices; or rows
/// of seven; or translations alone. None is the origin.
///
/// >>> import jostle
/// >>> ball, cube = jostle.Shape.sphere(radius=1), jostle.Shape.cuboid(half_extents=[1, 1, 1])
/// >>> jostle.distance(ball, cube, None, [5, 0, 0])
/// 3.0
/// >>> jostle.distance(ball, cube, None, [[5, 0, 0], [0, 2.5, 0], [1, 0, 0]])
/// array([3. , 0.5, 0. ])
#[pyfunction]
#[pyo3(signature = (
    a, b, poses_a = None, poses_b = None, *,
    margin = 0.0, flat = false, method = "auto", threads = 1
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn distance<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    margin: f64,
    flat: bool,
    method: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = Pairs::read([a, b], [poses_a, poses_b])?;
    let answers = pairs.each(py, options(margin, flat, method)?, threads, |query, _, a, b| {
        query.distance(a, b, &mut PairCache::none())
    })?;
    match answers.as_slice() {
        [one] if pairs.single => Ok(one.into_pyobject(py)?.into_any()),
        _ => Ok(PyArray1::from_vec(py, answers).into_any()),
    }
}

/// Whether two shapes touch or overlap. Arguments are those of `distance`.
///
/// >>> import jostle
/// >>> ball = jostle.Shape.sphere(radius=1)
/// >>> jostle.intersects(ball, ball, None, [[2, 0, 0], [2.1, 0, 0]])
/// array([ True, False])
#[pyfunction]
#[pyo3(signature = (
    a, b, poses_a = None, poses_b = None, *,
    margin = 0.0, flat = false, method = "auto", threads = 1
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn intersects<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    margin: f64,
    flat: bool,
    method: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = Pairs::read([a, b], [poses_a, poses_b])?;
    let answers = pairs.each(py, options(margin, flat, method)?, threads, |query, _, a, b| {
        query.intersects(a, b, &mut PairCache::none()).hit
    })?;
    match answers.as_slice() {
        [one] if pairs.single => Ok(one.into_pyobject(py)?.to_owned().into_any()),
        _ => Ok(PyArray1::from_vec(py, answers).into_any()),
    }
}

/// Distance or depth of two shapes, the normal from a to b, and a point on each: a structured
/// array of dtype `jostle.CONTACT`, or one record of it. Arguments are those of `distance`.
///
/// Exactly one of distance and depth is positive, or both are 0 and they touch. `status` is 0
/// (separated), 1 (touching) or 2 (overlapping).
///
/// >>> import jostle
/// >>> ball, cube = jostle.Shape.sphere(radius=1), jostle.Shape.cuboid(half_extents=[1, 1, 1])
/// >>> found = jostle.contact(ball, cube, None, [1.5, 0, 0])
/// >>> float(found["depth"]), float(found["normal"][0])
/// (0.5, 1.0)
#[pyfunction]
#[pyo3(signature = (
    a, b, poses_a = None, poses_b = None, *,
    margin = 0.0, flat = false, method = "auto", threads = 1
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn contact<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    margin: f64,
    flat: bool,
    method: &str,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = Pairs::read([a, b], [poses_a, poses_b])?;
    let rows = pairs.each(py, options(margin, flat, method)?, threads, |query, _, a, b| {
        contact_words(&query.contact(a, b, &mut PairCache::none()))
    })?;
    one_or_all(structured(py, rows, "CONTACT")?, pairs.single)
}

/// The points that hold two shapes apart, up to four: a structured array of dtype `jostle.POINT`,
/// empty if the shapes are farther apart than `reach`. One pair at a time.
///
/// >>> import jostle
/// >>> cube = jostle.Shape.cuboid(half_extents=[1, 1, 1])
/// >>> jostle.manifold(cube, cube, None, [0, 1.75, 0])["separation"]
/// array([-0.25, -0.25, -0.25, -0.25])
#[pyfunction]
#[pyo3(signature = (
    a, b, pose_a = None, pose_b = None, *, reach = 0.0, margin = 0.0, flat = false
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn manifold<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    pose_a: Option<&Bound<'py, PyAny>>,
    pose_b: Option<&Bound<'py, PyAny>>,
    reach: f64,
    margin: f64,
    flat: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let pairs = Pairs::read([a, b], [pose_a, pose_b])?;
    if pairs.count != 1 {
        return Err(wrong_value(format!("{} pairs given; give one", pairs.count)));
    }
    let mut query = Query::new(options(margin, flat, "auto")?);
    let (a, b) = (pairs.placed(0, 0), pairs.placed(1, 0));
    let found = py.detach(|| query.manifold(&a, &b, reach, &mut PairCache::none()));
    let points = found.as_ref().map_or(&[][..], |manifold| manifold.points());
    structured(py, points.iter().map(point_words).collect(), "POINT")
}

/// Words of an impact.
const IMPACT: usize = 3 + CONTACT;

/// When two moving shapes first touch: a structured array of dtype `jostle.IMPACT`, or one record
/// of it. A motion is a tuple (linear, angular) of velocities, one or n of each, or None. Shapes
/// and poses are those of `distance`.
///
/// `status` is 0 (they touch at the start), 1 (they first touch at `time`), 2 (they do not touch
/// within `duration`) or 3 (undecided, but nothing touches before `time`).
///
/// >>> import jostle
/// >>> ball = jostle.Shape.sphere(radius=1)
/// >>> hit = jostle.time_of_impact(ball, ball, None, [5, 0, 0], ([6, 0, 0], [0, 0, 0]))
/// >>> int(hit["status"]), round(float(hit["time"]), 6)
/// (1, 0.5)
#[pyfunction]
#[pyo3(signature = (
    a, b, poses_a = None, poses_b = None, motions_a = None, motions_b = None, *, duration = 1.0,
    margin = 0.0, flat = false, threads = 1
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn time_of_impact<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    poses_a: Option<&Bound<'py, PyAny>>,
    poses_b: Option<&Bound<'py, PyAny>>,
    motions_a: Option<&Bound<'py, PyAny>>,
    motions_b: Option<&Bound<'py, PyAny>>,
    duration: f64,
    margin: f64,
    flat: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if !(0.0..=jostle::shape::LIMIT).contains(&duration) {
        return Err(wrong_value(format!("duration: {duration} is no time; give 0 or more")));
    }
    let mut pairs = Pairs::read([a, b], [poses_a, poses_b])?;
    let motions = [motions(motions_a, "motions_a")?, motions(motions_b, "motions_b")?];
    let lengths = [
        ("poses", pairs.count, pairs.single),
        ("motions_a", motions[0].len(), true),
        ("motions_b", motions[1].len(), true),
    ];
    pairs.count = common_length(&lengths)?;
    pairs.single &= pairs.count == 1;
    for (side, moves) in motions.iter().enumerate() {
        let turns = moves.iter().any(|motion| motion.angular() != DVec3::ZERO);
        let half_space = |shape: &Engine| matches!(shape, Engine::HalfSpace { .. });
        if turns && pairs.shapes[side].list.iter().any(half_space) {
            return Err(raise(py, "PoseError", "a half_space may move but not turn".into()));
        }
    }
    let at = |side: usize, k: usize| motions[side][if motions[side].len() == 1 { 0 } else { k }];
    let rows = pairs.each(py, options(margin, flat, "auto")?, threads, |query, k, a, b| {
        let (a, b) = (Moving::new(*a, at(0, k)), Moving::new(*b, at(1, k)));
        let impact = query.time_of_impact(&a, &b, duration, &mut PairCache::none());
        impact_words(impact.time, impact.status, impact.steps, &impact.contact)
    })?;
    one_or_all(structured(py, rows, "IMPACT")?, pairs.single)
}

fn impact_words(time: f64, status: ImpactStatus, steps: u32, contact: &Contact) -> [u64; IMPACT] {
    let status = match status {
        ImpactStatus::AtStart => 0,
        ImpactStatus::Hit => 1,
        ImpactStatus::Miss => 2,
        ImpactStatus::StepLimit => 3,
    };
    let mut words = [0; IMPACT];
    words[..3].copy_from_slice(&[time.to_bits(), status, u64::from(steps)]);
    words[3..].copy_from_slice(&contact_words(contact));
    words
}

/// Motions from None or a tuple (linear, angular), one or n of each.
fn motions(object: Option<&Bound<'_, PyAny>>, name: &str) -> PyResult<Vec<Motion>> {
    let Some(object) = object.filter(|object| !object.is_none()) else {
        return Ok(vec![Motion::STILL]);
    };
    let py = object.py();
    let tuple = object.cast::<PyTuple>().ok().filter(|tuple| tuple.len() == 2);
    let Some(tuple) = tuple else {
        return Err(wrong_value(format!("{name}: give a tuple (linear, angular) of velocities")));
    };
    let mut parts = Vec::new();
    for item in tuple.iter() {
        let (values, shape) = floats(&item, name)?;
        if !matches!(shape.as_slice(), [3] | [_, 3]) {
            let shape = Shape(&shape).to_string();
            return Err(wrong_value(format!("{name}: shape {shape}; give (n, 3)")));
        }
        parts.push(values.as_chunks::<3>().0.iter().map(|&v| v.into()).collect::<Vec<DVec3>>());
    }
    let lengths = [("linear", parts[0].len(), true), ("angular", parts[1].len(), true)];
    let of = |part: &[DVec3], k: usize| part[if part.len() == 1 { 0 } else { k }];
    let each = (0..common_length(&lengths)?).map(|k| {
        Motion::new(of(&parts[0], k), of(&parts[1], k)).map_err(|fault| bad_pose(py, k, fault))
    });
    each.collect()
}
