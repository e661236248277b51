//! Reading of contact queries, shared by the tests of the narrow phase.

use glam::{DQuat, DVec3};
use jostle::narrow::{Contact, Method, Options, PairCache, Placed, Query};
use jostle::shape::{Pose, Shape};
use serde_json::Value;
use std::path::PathBuf;

/// A query with its expected answer.
pub(crate) struct Case {
    pub name: String,
    pub a: (Shape, Pose),
    pub b: (Shape, Pose),
    pub expected: Value,
}

impl Case {
    /// The contact of its shapes, without memory of an earlier question.
    pub(crate) fn contact(&self, method: Method) -> Contact {
        let (a, b) = (Placed::new(&self.a.0, self.a.1), Placed::new(&self.b.0, self.b.1));
        let mut query = Query::new(Options::default().with_method(method));
        query.contact(&a, &b, &mut PairCache::default())
    }
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(crate) fn vector(value: &Value) -> DVec3 {
    DVec3::new(number(&value[0]), number(&value[1]), number(&value[2]))
}

pub(crate) fn points(value: &Value) -> Vec<DVec3> {
    value.as_array().expect("points").iter().map(vector).collect()
}

pub(crate) fn shape(value: &Value) -> Shape {
    let (kind, size) = value.as_object().and_then(|o| o.iter().next()).expect("one kind of shape");
    let height = || number(&size["half_height"]);
    let radius = || number(&size["radius"]);
    match kind.as_str() {
        "sphere" => Shape::sphere(radius()),
        "box" => Shape::cuboid(vector(&size["half_extents"])),
        "capsule" => Shape::capsule(radius(), height()),
        "cylinder" => Shape::cylinder(radius(), height()),
        "cone" => Shape::cone(radius(), height()),
        "ellipsoid" => Shape::ellipsoid(vector(&size["radii"])),
        "triangle" => {
            let corners = points(&size["points"]);
            Shape::triangle([corners[0], corners[1], corners[2]])
        }
        "hull" => Shape::hull(&points(&size["points"])),
        "half_space" => Shape::half_space(vector(&size["normal"]), number(&size["offset"])),
        other => panic!("unknown shape {other}"),
    }
    .expect("a legal shape")
}

pub(crate) fn placed(value: &Value) -> (Shape, Pose) {
    let r = &value["rotation"];
    let rotation = DQuat::from_xyzw(number(&r[0]), number(&r[1]), number(&r[2]), number(&r[3]));
    let pose = Pose::new(rotation, vector(&value["translation"])).expect("a legal pose");
    (shape(&value["shape"]), pose)
}

pub(crate) fn lines(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().filter(|l| !l.trim().is_empty()).map(|l| serde_json::from_str(l).expect("JSON"))
}

/// The folder of shared data, if it is there.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let folder = std::env::var_os("JOSTLE_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    folder.is_dir().then_some(folder)
}

pub(crate) fn is_polyhedral(pair: &Case) -> bool {
    pair.a.0.is_polyhedral() && pair.b.0.is_polyhedral()
}
