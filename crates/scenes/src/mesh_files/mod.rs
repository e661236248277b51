//! Files of triangle meshes: `.obj`, `.stl`, `.ply`, `.gltf` and `.glb`.
//!
//! A file is read whole, then walked once; numbers in its headers are checked against its length
//! before anything is reserved for them, so memory stays within a small factor of the file.
//! Polygons become triangles ([`polygon`]). Equal vertices are merged for STL alone, which has no
//! other way to say that two triangles share one. What a mesh is good for is not asked here: see
//! [`Mesh::report`](jostle::mesh::Mesh::report).
//!
//! All four are read by hand; the crates `tobj` 4.0, `stl_io` 0.11 and `ply-rs-bw` 4.0 check the
//! readers in the tests. Reasons: the first two state no line, nor which triangle is wrong;
//! `stl_io` takes a binary file that begins with "solid" for text; `ply-rs-bw` loops as often as a
//! header claims over elements that have no bytes; and `gltf` 1.4 panics on files that lie
//! ([`gltf`]).

mod gltf;
mod gltf_json;
mod merge;
mod obj;
mod ply;
mod ply_header;
mod polygon;
mod stl;
mod text;
mod write;

pub use write::{ObjGroup, ObjWriter, write_obj};

use crate::io::{FileError, FileFault};
use glam::DVec3;
use jostle::mesh::Mesh;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Vertices and triangles as a file has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshData {
    /// The vertices.
    pub vertices: Vec<DVec3>,
    /// Three places in the list of vertices each.
    pub triangles: Vec<[u32; 3]>,
}

/// The kinds of mesh files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshFormat {
    /// Wavefront: text, vertices and polygons.
    Obj,
    /// Stereolithography: loose triangles, text or binary.
    Stl,
    /// Stanford: text or binary of either byte order.
    Ply,
    /// glTF 2.0: JSON with buffers in it or beside it, or both in one binary file.
    Gltf,
}

impl MeshFormat {
    /// Every format.
    pub const ALL: [MeshFormat; 4] =
        [MeshFormat::Obj, MeshFormat::Stl, MeshFormat::Ply, MeshFormat::Gltf];

    /// The format that the ending of a name states.
    pub fn of(path: impl AsRef<Path>) -> Result<MeshFormat, FileError> {
        let path = path.as_ref();
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("obj") => Ok(MeshFormat::Obj),
            Some("stl") => Ok(MeshFormat::Stl),
            Some("ply") => Ok(MeshFormat::Ply),
            Some("gltf" | "glb") => Ok(MeshFormat::Gltf),
            _ => Err(FileError::new(path, FileFault::MeshEnding)),
        }
    }
}

/// Reads the triangles of a file; the ending of its name states the format.
///
/// ```no_run
/// let spot = jostle_scenes::read_mesh("spot.ply")?;
/// println!("{} triangles", spot.triangles.len());
/// # Ok::<(), jostle_scenes::FileError>(())
/// ```
pub fn read_mesh(path: impl AsRef<Path>) -> Result<MeshData, FileError> {
    let path = path.as_ref();
    let format = MeshFormat::of(path)?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(FileError::io(path))?;
    // No mesh that fits in 32-bit places is longer; a device without end stops here.
    let read = file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(FileError::io(path))?;
    if read as u64 > LONGEST {
        return Err(FileError::new(path, FileFault::mesh("the file is longer than 64 GiB")));
    }
    parse_mesh(path, format, &bytes)
}

/// Longest file that is read.
const LONGEST: u64 = 64 << 30;

/// Reads the triangles of a file that is in memory; messages call it `path`, and buffers beside a
/// glTF file are looked for in the folder of that name.
pub fn parse_mesh(path: &Path, format: MeshFormat, bytes: &[u8]) -> Result<MeshData, FileError> {
    let mesh = match format {
        MeshFormat::Obj => obj::read(bytes),
        MeshFormat::Stl => stl::read(bytes),
        MeshFormat::Ply => ply::read(bytes),
        MeshFormat::Gltf => gltf::read(path, bytes),
    };
    let mesh = mesh.and_then(|mesh| match mesh.triangles.is_empty() {
        true => fault("there is no triangle in it"),
        false => Ok(mesh),
    });
    mesh.map_err(|Wrong { line, fault }| {
        let error = FileError::new(path, fault);
        if line > 0 { error.at_line(line) } else { error }
    })
}

impl MeshData {
    /// The mesh with its tree, or what is wrong with the file called `path`.
    pub fn into_mesh(self, path: &Path) -> Result<Mesh, FileError> {
        Mesh::new(self.vertices, self.triangles)
            .map_err(|fault| FileError::new(path, FileFault::mesh(fault)))
    }

    /// Appends a polygon, cut into triangles.
    fn push_polygon(&mut self, corners: &[u32]) {
        polygon::cut(&self.vertices, corners, &mut self.triangles);
    }
}

/// A fault on a line of text, counted from 1; on no line in particular if it is 0.
#[derive(Debug)]
struct Wrong {
    line: u64,
    fault: FileFault,
}

impl Wrong {
    fn new(message: impl ToString) -> Wrong {
        Wrong { line: 0, fault: FileFault::mesh(message) }
    }
}

type Result<T, E = Wrong> = std::result::Result<T, E>;

fn fault<T>(message: impl ToString) -> Result<T> {
    Err(Wrong::new(message))
}

fn fault_at<T>(line: u64, message: impl ToString) -> Result<T> {
    Err(Wrong { line, fault: FileFault::mesh(message) })
}
