//! Reads one query. Every fault is told with the path to it: `a.shape.sphere.radius`.

use glam::{DQuat, DVec3};
use jostle::mesh::Mesh;
use jostle::narrow::{CastOptions, Motion, Ray};
use jostle::shape::{LIMIT, Pose, Shape};
use serde_json::{Map, Value};
use std::sync::Arc;

use super::meshes::{Meshes, is_mesh};
use crate::support::names::{any_of, similar};

/// The kinds of shapes that can be read.
const KINDS: [&str; 10] = [
    "sphere",
    "cuboid",
    "capsule",
    "cylinder",
    "cone",
    "ellipsoid",
    "triangle",
    "hull",
    "half_space",
    "rounded",
];

/// Characters shown of a line that is not JSON, and of a value that is not what it should be.
const SHOWN: usize = 24;

/// A placed shape, and what is asked about it.
pub(crate) struct Query {
    /// Echoed in the answer.
    pub id: Value,
    /// The shape.
    pub a: Side,
    /// What it is asked about.
    pub other: Other,
}

/// What stands against the first shape.
pub(crate) enum Other {
    /// A second shape, how long they move and how near they may come.
    Shape { b: Box<Side>, duration: f64, options: CastOptions },
    /// A ray.
    Ray(Ray),
    /// A point.
    Point(DVec3),
}

/// A convex shape, or a mesh.
pub(crate) enum Geometry {
    /// A convex shape or a half-space.
    Shape(Box<Shape>),
    /// A mesh.
    Mesh(Arc<Mesh>),
}

/// One of the two shapes.
pub(crate) struct Side {
    /// The shape.
    pub shape: Geometry,
    /// Where it is.
    pub pose: Pose,
    /// How it moves, if that is given.
    pub motion: Option<Motion>,
}

impl Query {
    /// A query from a line, or what is wrong with it.
    pub(crate) fn parse(line: &[u8], meshes: &Meshes) -> Result<Query, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| not_json(line, &error))?;
        let query = object(&value).map_err(|fault| format!("the line{fault}"))?;
        let id = field(query, "id")?;
        if id.is_object() || id.is_array() {
            return Err("id is no number or text; give one".into());
        }
        let a = within("a", field(query, "a")?, |value| side(value, meshes))?;
        let other = other(query, meshes)?;
        if let Other::Shape { b, .. } = &other {
            check_pair(&a, b)?;
        }
        Ok(Query { id: id.clone(), a, other })
    }
}

/// Two meshes are compared where they are.
fn check_pair(a: &Side, b: &Side) -> Result<(), String> {
    let meshes = matches!((&a.shape, &b.shape), (Geometry::Mesh(_), Geometry::Mesh(_)));
    if meshes && (a.motion.is_some() || b.motion.is_some()) {
        return Err("motion is given; meshes are compared where they are".into());
    }
    Ok(())
}

fn other(query: &Map<String, Value>, meshes: &Meshes) -> Result<Other, String> {
    let given: Vec<&str> =
        ["b", "ray", "point"].into_iter().filter(|name| query.contains_key(*name)).collect();
    match given[..] {
        ["ray"] => Ok(Other::Ray(within("ray", &query["ray"], ray)?)),
        ["point"] => Ok(Other::Point(within("point", &query["point"], place)?)),
        [] | ["b"] => {
            let b = Box::new(within("b", field(query, "b")?, |value| side(value, meshes))?);
            let duration = query.get("duration").map_or(Ok(1.0), duration)?;
            Ok(Other::Shape { b, duration, options: cast_options(query)? })
        }
        _ => Err(format!("{} are given; give one of them", given.join(" and "))),
    }
}

/// A point within the limits of coordinates.
fn place(value: &Value) -> Result<DVec3, String> {
    let point = vector(value)?;
    match (0..3).find(|&axis| point[axis].abs() > LIMIT) {
        None => Ok(point),
        Some(axis) => {
            Err(format!("[{axis}] is {}; give a number from -{LIMIT:e} to {LIMIT:e}", point[axis]))
        }
    }
}

fn ray(value: &Value) -> Result<Ray, String> {
    let ray = object(value)?;
    known_only(ray, &["origin", "direction", "limit", "solid"])?;
    let (origin, direction) = (part(ray, "origin", place)?, part(ray, "direction", place)?);
    let limit = optional(ray, "limit", not_negative, f64::INFINITY)?;
    let solid = optional(ray, "solid", truth, true)?;
    let made = Ray::new(origin, direction).map_err(|fault| format!(".{fault}"))?;
    Ok(made.until(limit).with_solid(solid))
}

fn not_negative(value: &Value) -> Result<f64, String> {
    match value.as_f64() {
        Some(number) if number >= 0.0 => Ok(number),
        _ => Err(format!(" is {}; give a number from 0 on", shown(value))),
    }
}

pub(super) fn truth(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!(" is {}; give true or false", shown(value)))
}

fn cast_options(query: &Map<String, Value>) -> Result<CastOptions, String> {
    let read = |name: &str| query.get(name).map(|value| within(name, value, not_negative));
    let target = read("target_distance").unwrap_or(Ok(0.0))?;
    let stop = query.get("stop_at_penetration");
    let stop = stop.map_or(Ok(true), |value| within("stop_at_penetration", value, truth))?;
    Ok(CastOptions::default().with_target_distance(target).with_stop_at_penetration(stop))
}

fn not_json(line: &[u8], error: &serde_json::Error) -> String {
    // The position is within this line; its number is told by the caller.
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default();
    if error.is_eof() {
        return format!("no JSON: {reason} at its end");
    }
    let start = error.column().saturating_sub(1).min(line.len());
    let rest = String::from_utf8_lossy(&line[start..]);
    let here: String = rest.chars().take(SHOWN).collect();
    format!("no JSON: {reason} at column {}, `{}`", start + 1, here.escape_debug())
}

/// Reads a part, and puts its name before the fault.
pub(super) fn within<'a, T>(
    name: &str,
    value: &'a Value,
    read: impl Fn(&'a Value) -> Result<T, String>,
) -> Result<T, String> {
    read(value).map_err(|fault| format!("{name}{fault}"))
}

/// As [`within`], for the part of an object: the name stands behind a dot.
pub(super) fn part<'a, T>(
    object: &'a Map<String, Value>,
    name: &str,
    read: impl Fn(&'a Value) -> Result<T, String>,
) -> Result<T, String> {
    let value = field(object, name).map_err(|fault| format!(".{fault}"))?;
    within(&format!(".{name}"), value, read)
}

pub(super) fn field<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    object.get(name).ok_or_else(|| format!("{name} is missing"))
}

pub(super) fn object(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!(" is {}; give an object", shown(value)))
}

pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.chars().count() {
        0..=SHOWN => text,
        _ => text.chars().take(SHOWN).chain(['…']).collect(),
    }
}

/// A misspelt field would be taken for one left out.
pub(super) fn known_only(object: &Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let known = known.join(", ");
            Err(format!(".{key} is unknown; there are {known}"))
        }
    }
}

fn side(value: &Value, meshes: &Meshes) -> Result<Side, String> {
    let side = object(value)?;
    known_only(side, &["shape", "translation", "rotation", "motion"])?;
    let shape = part(side, "shape", |value| geometry(value, meshes))?;
    let pose = pose(side)?;
    let motion = match side.get("motion") {
        Some(value) => Some(within(".motion", value, |value| motion(value, &shape))?),
        None => None,
    };
    Ok(Side { shape, pose, motion })
}

fn pose(side: &Map<String, Value>) -> Result<Pose, String> {
    let translation = optional(side, "translation", vector, DVec3::ZERO)?;
    let identity = [0.0, 0.0, 0.0, 1.0];
    let rotation = DQuat::from_array(optional(side, "rotation", numbers, identity)?);
    // The message begins with the name of the field.
    Pose::new(rotation, translation).map_err(|fault| format!(".{fault}"))
}

pub(super) fn optional<'a, T>(
    object: &'a Map<String, Value>,
    name: &str,
    read: impl Fn(&'a Value) -> Result<T, String>,
    otherwise: T,
) -> Result<T, String> {
    if object.contains_key(name) { part(object, name, read) } else { Ok(otherwise) }
}

fn geometry(value: &Value, meshes: &Meshes) -> Result<Geometry, String> {
    match value.as_object() {
        Some(map) if is_mesh(map) => {
            within(".mesh", &map["mesh"], |sizes| meshes.mesh(sizes)).map(Geometry::Mesh)
        }
        _ => Ok(Geometry::Shape(Box::new(shape(value)?))),
    }
}

fn motion(value: &Value, shape: &Geometry) -> Result<Motion, String> {
    let motion = object(value)?;
    known_only(motion, &["linear", "angular"])?;
    let linear = optional(motion, "linear", vector, DVec3::ZERO)?;
    let angular = optional(motion, "angular", vector, DVec3::ZERO)?;
    let plane =
        matches!(shape, Geometry::Shape(shape) if matches!(**shape, Shape::HalfSpace { .. }));
    if plane && angular != DVec3::ZERO {
        return Err(".angular is not zero; a half_space may move but not turn".into());
    }
    Motion::new(linear, angular)
        .map_err(|_| format!(" is too fast; give numbers from -{LIMIT:e} to {LIMIT:e}"))
}

fn duration(value: &Value) -> Result<f64, String> {
    match value.as_f64() {
        Some(time) if (0.0..=LIMIT).contains(&time) => Ok(time),
        _ => Err(format!("duration is {}; give a number from 0 to {LIMIT:e}", shown(value))),
    }
}

fn shape(value: &Value) -> Result<Shape, String> {
    let shape = object(value)?;
    let mut kinds = shape.iter();
    let (Some((kind, sizes)), None) = (kinds.next(), kinds.next()) else {
        return Err(format!(" names {} kinds; give one", shape.len()));
    };
    within(&format!(".{kind}"), sizes, |sizes| sized(kind, sizes))
}

fn sized(kind: &str, sizes: &Value) -> Result<Shape, String> {
    // The name in files that came before the library's.
    let kind = if kind == "box" { "cuboid" } else { kind };
    if kind == "mesh" {
        return Err(" has no rounded form; give its convex parts as hulls".into());
    }
    if !KINDS.contains(&kind) {
        let meant = match any_of(&similar(kind, KINDS.into_iter())).as_str() {
            "" => String::new(),
            meant => format!("did you mean {meant}? "),
        };
        return Err(format!(" is no shape; {meant}There are {}", KINDS.join(", ")));
    }
    let sizes = object(sizes)?;
    known_only(sizes, fields(kind))?;
    let made = match kind {
        "sphere" => Shape::sphere(part(sizes, "radius", number)?),
        "cuboid" => Shape::cuboid(part(sizes, "half_extents", vector)?),
        "capsule" | "cylinder" | "cone" => round(kind, sizes)?,
        "ellipsoid" => Shape::ellipsoid(part(sizes, "radii", vector)?),
        "triangle" => Shape::triangle(part(sizes, "points", triangle)?),
        "hull" => Shape::hull(&part(sizes, "points", points)?),
        "rounded" => Shape::rounded(&part(sizes, "shape", shape)?, part(sizes, "margin", number)?),
        _ => Shape::half_space(part(sizes, "normal", vector)?, part(sizes, "offset", number)?),
    };
    // Most messages begin with the name of the field.
    made.map_err(|fault| format!(": {fault}"))
}

fn fields(kind: &str) -> &'static [&'static str] {
    match kind {
        "sphere" => &["radius"],
        "cuboid" => &["half_extents"],
        "ellipsoid" => &["radii"],
        "triangle" | "hull" => &["points"],
        "half_space" => &["normal", "offset"],
        "rounded" => &["shape", "margin"],
        _ => &["radius", "half_height"],
    }
}

type Made = Result<Shape, jostle::shape::ShapeError>;

fn round(kind: &str, sizes: &Map<String, Value>) -> Result<Made, String> {
    let (radius, half_height) =
        (part(sizes, "radius", number)?, part(sizes, "half_height", number)?);
    Ok(match kind {
        "capsule" => Shape::capsule(radius, half_height),
        "cylinder" => Shape::cylinder(radius, half_height),
        _ => Shape::cone(radius, half_height),
    })
}

fn number(value: &Value) -> Result<f64, String> {
    value.as_f64().ok_or_else(|| format!(" is {}; give a number", shown(value)))
}

pub(super) fn list(value: &Value) -> Result<&[Value], String> {
    let list = value.as_array().ok_or_else(|| format!(" is {}; give a list", shown(value)))?;
    Ok(list)
}

fn numbers<const N: usize>(value: &Value) -> Result<[f64; N], String> {
    let list = list(value)?;
    if list.len() != N {
        return Err(format!(" has {} numbers; give {N}", list.len()));
    }
    let mut numbers = [0.0; N];
    for (index, (number_at, value)) in numbers.iter_mut().zip(list).enumerate() {
        *number_at = within(&format!("[{index}]"), value, number)?;
    }
    Ok(numbers)
}

fn vector(value: &Value) -> Result<DVec3, String> {
    Ok(DVec3::from_array(numbers(value)?))
}

pub(super) fn points(value: &Value) -> Result<Vec<DVec3>, String> {
    let each = list(value)?.iter().enumerate();
    each.map(|(index, point)| vector(point).map_err(|fault| format!("[{index}]{fault}"))).collect()
}

fn triangle(value: &Value) -> Result<[DVec3; 3], String> {
    let points = points(value)?;
    <[DVec3; 3]>::try_from(points).map_err(|points| format!(" has {} points; give 3", points.len()))
}
