//! Scenes that move, and files of boxes.
//!
//! [`Scene`] makes worlds of boxes that are the same bytes on every machine: own random
//! generator, only operations whose every bit IEEE 754 fixes, one thread. [`FrameReader`] and
//! [`FrameWriter`] read and write sequences of frames, one frame at a time (feature `files`, on by
//! default).
//! [`read_mesh`] reads triangle meshes (feature `meshes`, on by default).
//! [`PairScene`] makes pairs of shapes for the narrow phase, [`WorldScene`] worlds of bodies that
//! fall, roll and swing.
//!
//! ```
//! use jostle_scenes::Scene;
//!
//! let mut scene = Scene::new("tenth", 1000, 7, &[])?;
//! let before = scene.boxes().to_vec();
//! scene.advance();
//! let moved = before.iter().zip(scene.boxes()).filter(|(a, b)| a != b).count();
//! assert_eq!(moved, 100);
//! # Ok::<(), jostle_scenes::SceneError>(())
//! ```

#![forbid(unsafe_code)]

mod catalog;
#[cfg(feature = "files")]
mod io;
mod math;
mod measure;
#[cfg(feature = "meshes")]
mod mesh_files;
mod mesh_scenes;
mod motion;
mod rng;
mod scene;
mod shape_pairs;
mod world_scenes;

pub use catalog::{ParamInfo, SceneError, SceneInfo, parse_count};
#[cfg(feature = "files")]
pub use io::{
    FileError, FileFault, FrameReader, FrameWriter, Invalid, OutputFile, PairWriter, SkippedRow,
    read_boxes, read_pairs, write_boxes, write_pairs,
};
pub use measure::{Sorted, median, pair_hash};
#[cfg(feature = "meshes")]
pub use mesh_files::{MeshData, MeshFormat, ObjGroup, ObjWriter, parse_mesh, read_mesh, write_obj};
pub use mesh_scenes::{MeshPlacing, lumpy_ball, mesh_points, mesh_poses, mesh_rays};
pub use rng::Rng;
pub use scene::{Changes, MAX_BOXES, Scene, SceneSpec};
pub use shape_pairs::{PairScene, Placing, ShapeKind, ShapePair};
pub use world_scenes::{WorldKind, WorldScene};

/// The README's example is compiled and run as a test.
#[cfg(all(doctest, feature = "files"))]
#[doc = include_str!("../README.md")]
struct Readme;
