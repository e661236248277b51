//! Writes meshes as `.obj`, one group after the other.

use super::MeshFormat;
use crate::io::{FileError, FileFault, OutputFile};
use glam::DVec3;
use std::fmt::Write;
use std::path::Path;

/// A part of a mesh file, with a name of its own.
#[derive(Clone, Copy, Debug)]
pub struct ObjGroup<'a> {
    /// The name, without spaces.
    pub name: &'a str,
    /// The vertices.
    pub vertices: &'a [DVec3],
    /// Three places in the list of vertices each.
    pub triangles: &'a [[u32; 3]],
}

/// Writes groups of triangles to an `.obj` file. Numbers are written so that they are read back
/// exactly. The file appears whole or not at all.
pub fn write_obj(path: impl AsRef<Path>, groups: &[ObjGroup<'_>]) -> Result<(), FileError> {
    let path = path.as_ref();
    let standard = path == Path::new("-");
    if !standard && MeshFormat::of(path).ok() != Some(MeshFormat::Obj) {
        return Err(FileError::new(path, FileFault::ObjEnding));
    }
    let mut file = OutputFile::create(path)?;
    let (mut text, mut before) = (String::new(), 1u64);
    for group in groups {
        text.clear();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "o {}", group.name);
        for at in group.vertices {
            let _ = writeln!(text, "v {:?} {:?} {:?}", at.x, at.y, at.z);
        }
        for corners in group.triangles {
            let [a, b, c] = corners.map(|k| u64::from(k) + before);
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        before += group.vertices.len() as u64;
        file.put(text.as_bytes())?;
    }
    file.finish()
}
