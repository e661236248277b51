//! Meshes in queries: given corner by corner, or by the name of a file.
//!
//! Thousands of queries may name the same file, so meshes that were read are kept, up to a limit of
//! memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jostle::mesh::{Fill, Mesh};
use jostle_scenes::read_mesh;
use serde_json::{Map, Value};

use super::query::{field, known_only, list, object, optional, part, points, shown, truth, within};

/// Bytes of meshes that are kept.
const MOST_BYTES: usize = 1 << 30;

/// The meshes of one file of queries.
pub(crate) struct Meshes {
    /// The folder that names of files are relative to.
    folder: PathBuf,
    read: RefCell<BTreeMap<(PathBuf, bool), Arc<Mesh>>>,
}

impl Meshes {
    /// For queries from a file, or from standard input: then names are relative to the working
    /// directory.
    pub(crate) fn beside(input: &Path) -> Meshes {
        let folder = input.parent().unwrap_or(Path::new("")).to_owned();
        Meshes { folder, read: RefCell::default() }
    }

    /// The mesh that the sizes of a shape describe.
    pub(crate) fn mesh(&self, sizes: &Value) -> Result<Arc<Mesh>, String> {
        let sizes = object(sizes)?;
        let solid = optional(sizes, "solid", truth, false)?;
        if sizes.contains_key("file") {
            known_only(sizes, &["file", "solid"])?;
            return self.read_file(field(sizes, "file")?, solid);
        }
        known_only(sizes, &["vertices", "triangles", "solid"])?;
        let vertices = part(sizes, "vertices", points)?;
        let triangles = part(sizes, "triangles", triangles)?;
        let mesh = Mesh::new(vertices, triangles).map_err(|fault| format!(": {fault}"))?;
        Ok(Arc::new(filled(mesh, solid)))
    }

    fn read_file(&self, name: &Value, solid: bool) -> Result<Arc<Mesh>, String> {
        let Some(text) = name.as_str() else {
            return Err(format!(".file is {}; give a name", shown(name)));
        };
        let key = (self.folder.join(text), solid);
        if let Some(mesh) = self.read.borrow().get(&key) {
            return Ok(Arc::clone(mesh));
        }
        let read = read_mesh(&key.0).and_then(|data| data.into_mesh(&key.0));
        let mesh = Arc::new(filled(read.map_err(|fault| format!(".file: {fault}"))?, solid));
        let mut all = self.read.borrow_mut();
        let held: usize = all.values().map(|mesh| mesh.bytes()).sum();
        if held.saturating_add(mesh.bytes()) > MOST_BYTES {
            all.clear();
        }
        all.insert(key, Arc::clone(&mesh));
        Ok(mesh)
    }
}

fn filled(mesh: Mesh, solid: bool) -> Mesh {
    mesh.with_fill(if solid { Fill::Solid } else { Fill::Surface })
}

fn triangles(value: &Value) -> Result<Vec<[u32; 3]>, String> {
    let each = list(value)?.iter().enumerate();
    each.map(|(index, corners)| within(&format!("[{index}]"), corners, triangle)).collect()
}

fn triangle(value: &Value) -> Result<[u32; 3], String> {
    let corners = list(value)?;
    let [a, b, c] = corners else {
        return Err(format!(" has {} corners; give 3", corners.len()));
    };
    let index = |value: &Value| match value.as_u64().map(u32::try_from) {
        Some(Ok(index)) => Ok(index),
        _ => Err(format!(" has the corner {}; give the place of a vertex", shown(value))),
    };
    Ok([index(a)?, index(b)?, index(c)?])
}

/// Returns true if a shape is given as a mesh.
pub(crate) fn is_mesh(shape: &Map<String, Value>) -> bool {
    shape.len() == 1 && shape.contains_key("mesh")
}
