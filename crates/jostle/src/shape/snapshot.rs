//! Shapes and poses as foreign data: everything that comes in is checked as if a caller had made
//! it, and what went out comes back with the same bits, if the format keeps them (serde_json does
//! with its feature `float_roundtrip`).
//!
//! A shape is `{"sphere": {"radius": 1}}` and so on, with the names and fields of the command's
//! files, which may also call a cuboid a `box`. A hull is written as points from which the same
//! hull is built again: its vertices, or the cloud it was made from if they alone would give other
//! faces. A shape with a support function of the user's cannot be written: that is an error, and
//! nothing of the snapshot is to be used.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::mesh::{Fill, Mesh};
use super::{Compound, HeightField, Hull, Pose, Shape, SupportSearch};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Foreign {
    Sphere {
        radius: f64,
    },
    #[serde(alias = "box")]
    Cuboid {
        half_extents: DVec3,
    },
    Capsule {
        radius: f64,
        half_height: f64,
    },
    Cylinder {
        radius: f64,
        half_height: f64,
    },
    Cone {
        radius: f64,
        half_height: f64,
    },
    Ellipsoid {
        radii: DVec3,
    },
    Triangle {
        points: [DVec3; 3],
    },
    Hull {
        points: Vec<DVec3>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        search: Option<SupportSearch>,
    },
    HalfSpace {
        normal: DVec3,
        offset: f64,
    },
    Compound {
        pieces: Vec<ForeignPiece>,
    },
    Rounded {
        shape: Box<Shape>,
        margin: f64,
    },
    Mesh {
        vertices: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
        #[serde(default)]
        solid: bool,
    },
    HeightField {
        columns: u32,
        spacing: [f64; 2],
        heights: Vec<f64>,
        /// Each by its place along x and along z.
        #[serde(default)]
        holes: Vec<[u32; 2]>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignPiece {
    shape: Shape,
    pose: Pose,
}

impl Foreign {
    /// None for a shape that cannot be written: a function of the user's.
    fn of(shape: &Shape) -> Option<Foreign> {
        Some(match *shape {
            Shape::Sphere { radius } => Foreign::Sphere { radius },
            Shape::Cuboid { half_extents } => Foreign::Cuboid { half_extents },
            Shape::Capsule { radius, half_height } => Foreign::Capsule { radius, half_height },
            Shape::Cylinder { radius, half_height } => Foreign::Cylinder { radius, half_height },
            Shape::Cone { radius, half_height } => Foreign::Cone { radius, half_height },
            Shape::Ellipsoid { radii } => Foreign::Ellipsoid { radii },
            Shape::Triangle { points } => Foreign::Triangle { points },
            Shape::Hull(ref hull) => {
                Foreign::Hull { points: hull.source().to_vec(), search: hull.forced_search() }
            }
            Shape::HalfSpace { normal, offset } => Foreign::HalfSpace { normal, offset },
            Shape::Compound(ref compound) => {
                let pieces = compound.pieces().iter();
                let pieces = pieces
                    .map(|piece| ForeignPiece { shape: piece.shape.clone(), pose: piece.pose });
                Foreign::Compound { pieces: pieces.collect() }
            }
            Shape::Rounded(ref rounded) => Foreign::Rounded {
                shape: Box::new(rounded.shape().clone()),
                margin: rounded.margin(),
            },
            Shape::Custom(_) => return None,
            Shape::Mesh(ref mesh) => Foreign::Mesh {
                vertices: mesh.vertices().to_vec(),
                triangles: mesh.triangles().to_vec(),
                solid: mesh.fill() == Fill::Solid,
            },
            Shape::HeightField(ref field) => {
                let wide = field.size()[0] - 1;
                let holes = field.holes().iter().map(|cell| [cell % wide, cell / wide]);
                Foreign::HeightField {
                    columns: field.size()[0],
                    spacing: field.spacing(),
                    heights: field.heights().to_vec(),
                    holes: holes.collect(),
                }
            }
        })
    }
}

impl Foreign {
    fn shape(self) -> Result<Shape, Box<dyn std::error::Error>> {
        let shape = match self {
            Foreign::Sphere { radius } => Shape::Sphere { radius },
            Foreign::Cuboid { half_extents } => Shape::Cuboid { half_extents },
            Foreign::Capsule { radius, half_height } => Shape::Capsule { radius, half_height },
            Foreign::Cylinder { radius, half_height } => Shape::Cylinder { radius, half_height },
            Foreign::Cone { radius, half_height } => Shape::Cone { radius, half_height },
            Foreign::Ellipsoid { radii } => Shape::Ellipsoid { radii },
            Foreign::Triangle { points } => Shape::Triangle { points },
            Foreign::Hull { points, search: None } => Shape::Hull(Arc::new(Hull::new(&points)?)),
            Foreign::Hull { points, search: Some(search) } => {
                Shape::Hull(Arc::new(Hull::with_search(&points, search)?))
            }
            // Not made by its constructor, which would divide by the length again.
            Foreign::HalfSpace { normal, offset } => Shape::HalfSpace { normal, offset },
            Foreign::Compound { pieces } => {
                let pieces = pieces.into_iter().map(|piece| (piece.shape, piece.pose)).collect();
                Shape::Compound(Arc::new(Compound::new(pieces)?))
            }
            Foreign::Rounded { shape, margin } => Shape::rounded(&shape, margin)?,
            Foreign::Mesh { vertices, triangles, solid } => {
                let fill = if solid { Fill::Solid } else { Fill::Surface };
                Mesh::new(vertices, triangles)?.with_fill(fill).into()
            }
            Foreign::HeightField { columns, spacing, heights, holes } => {
                HeightField::new(columns, spacing, heights)?.with_holes(&holes).into()
            }
        };
        shape.check()?;
        Ok(shape)
    }
}

impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let foreign = Foreign::of(self).ok_or_else(|| {
            ser::Error::custom("a custom shape is a function and cannot be written; replace it")
        })?;
        foreign.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shape, D::Error> {
        Foreign::deserialize(deserializer)?.shape().map_err(de::Error::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ForeignPose {
    rotation: DQuat,
    translation: DVec3,
}

impl Serialize for Pose {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ForeignPose { rotation: self.rotation(), translation: self.translation() }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pose, D::Error> {
        let ForeignPose { rotation, translation } = ForeignPose::deserialize(deserializer)?;
        Pose::restored(rotation, translation).map_err(de::Error::custom)
    }
}
