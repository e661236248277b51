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

/// An `.obj` file being written, group by group. It appears whole or not at all.
#[derive(Debug)]
pub struct ObjWriter {
    file: OutputFile,
    text: String,
    /// The number of the next vertex; the first is 1.
    next: u64,
}

impl ObjWriter {
    /// Begins a file; `-` is standard output. A name that cannot be written is told at once, before
    /// any work is done for it.
    pub fn create(path: impl AsRef<Path>) -> Result<ObjWriter, FileError> {
        let path = path.as_ref();
        let device = path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir());
        let named = path == Path::new("-") || device;
        if !named && MeshFormat::of(path).ok() != Some(MeshFormat::Obj) {
            return Err(FileError::new(path, FileFault::ObjEnding));
        }
        Ok(ObjWriter { file: OutputFile::create(path)?, text: String::new(), next: 1 })
    }

    /// Writes a group. Numbers are written so that they are read back exactly.
    pub fn write(&mut self, group: &ObjGroup<'_>) -> Result<(), FileError> {
        let text = &mut self.text;
        text.clear();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "o {}", group.name);
        for at in group.vertices {
            let _ = writeln!(text, "v {:?} {:?} {:?}", at.x, at.y, at.z);
        }
        for corners in group.triangles {
            let [a, b, c] = corners.map(|k| u64::from(k) + self.next);
            let _ = writeln!(text, "f {a} {b} {c}");
        }
        self.next += group.vertices.len() as u64;
        self.file.put(text.as_bytes())
    }

    /// Gives the file its name.
    pub fn finish(self) -> Result<(), FileError> {
        self.file.finish()
    }
}

/// Writes groups of triangles to an `.obj` file, which appears whole or not at all.
pub fn write_obj(path: impl AsRef<Path>, groups: &[ObjGroup<'_>]) -> Result<(), FileError> {
    let mut writer = ObjWriter::create(path)?;
    groups.iter().try_for_each(|group| writer.write(group))?;
    writer.finish()
}
