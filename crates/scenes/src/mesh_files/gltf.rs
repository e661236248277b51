//! glTF 2.0: `.gltf` (JSON, with buffers in it or in files beside it) and `.glb` (both in one).
//!
//! The triangles of all meshes that the default scene shows, each moved by its nodes; of a file
//! without scenes, all meshes as they are. Points and lines are skipped.
//!
//! The JSON is read by serde. The crate `gltf` was tried first: it panics on accessors that are
//! not there while it validates, subtracts before it compares in binary containers, adds offsets
//! and lengths without looking, and unwraps what a sparse list may not have. Here every sum and
//! every place is checked. Buffers are looked for in the folder of the file and not outside of it.
//! Nodes form trees (a cycle is a fault), and a file that repeats a large mesh in many nodes is
//! read up to [`MOST_BYTES`] times its length.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use glam::{DMat4, DQuat, DVec3};

use super::gltf_json::{Accessor, Node, Primitive, Root};
use super::text::shown;
use super::{MeshData, Result, Wrong, fault};

/// Most bytes of vertices and triangles for each byte of the file and its buffers.
const MOST_BYTES: usize = 64;

/// Modes of primitives; between them are strips.
const TRIANGLES: u32 = 4;
const FAN: u32 = 6;

/// Types of numbers.
const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<MeshData> {
    let (json, blob) = if bytes.starts_with(b"glTF") { chunks(bytes)? } else { (bytes, None) };
    let root: Root = serde_json::from_slice(json)
        .map_err(|error| Wrong::new(format!("not readable as glTF: {error}")))?;
    if !root.asset.version.starts_with("2.") {
        return fault("the asset is not of version 2");
    }
    if let Some(name) = root.extensions_required.first() {
        return fault(format!("it needs the extension {}, which is not read", shown(name)));
    }
    let buffers = buffers(&root, path, blob)?;
    let given: usize = bytes.len() + buffers.iter().map(|buffer| buffer.len()).sum::<usize>();
    let most = given.saturating_mul(MOST_BYTES);
    let seen = vec![false; root.nodes.len()];
    let mut gather = Gather { root: &root, buffers, mesh: MeshData::default(), most, seen };
    if root.scenes.is_empty() {
        for mesh in 0..root.meshes.len() {
            gather.mesh(mesh, &DMat4::IDENTITY)?;
        }
        return Ok(gather.mesh);
    }
    let Some(scene) = root.scenes.get(root.scene.unwrap_or(0)) else {
        return fault("its default scene is not in the file");
    };
    for &node in &scene.nodes {
        gather.node(node)?;
    }
    Ok(gather.mesh)
}

/// The JSON and the buffer of a binary file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>)> {
    let word = |at: usize| {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    };
    if word(4) != Some(2) {
        return fault("not a glb file of version 2");
    }
    let (mut at, mut json, mut blob) = (12, None, None);
    while at < bytes.len() {
        let header = word(at).zip(word(at + 4));
        let chunk = header.and_then(|(length, _)| {
            let end = (at + 8).checked_add(length as usize)?;
            bytes.get(at + 8..end)
        });
        let (Some((_, kind)), Some(chunk)) = (header, chunk) else {
            return fault(format!("the file is cut off in the chunk at byte {at}"));
        };
        match kind {
            0x4E4F_534A if json.is_none() => json = Some(chunk),
            0x004E_4942 if blob.is_none() => blob = Some(chunk),
            _ => {}
        }
        at += 8 + chunk.len();
    }
    match json {
        Some(json) => Ok((json, blob)),
        None => fault("the file has no JSON chunk"),
    }
}

fn buffers<'a>(root: &Root, path: &Path, blob: Option<&'a [u8]>) -> Result<Vec<Cow<'a, [u8]>>> {
    let mut all = Vec::new();
    for (index, buffer) in root.buffers.iter().enumerate() {
        let bytes = match (&buffer.uri, blob) {
            (Some(uri), _) => Cow::Owned(fetch(index, path, uri, buffer.byte_length)?),
            (None, Some(blob)) => Cow::Borrowed(blob),
            (None, None) => return fault(format!("buffer {index} is not in the file")),
        };
        if bytes.len() < buffer.byte_length {
            let (wanted, found) = (buffer.byte_length, bytes.len());
            return fault(format!(
                "buffer {index} is cut off: the file claims {wanted} bytes, it has {found}"
            ));
        }
        all.push(bytes);
    }
    Ok(all)
}

/// The bytes that a reference stands for: in itself, or in a file beside ours.
fn fetch(index: usize, path: &Path, uri: &str, length: usize) -> Result<Vec<u8>> {
    if let Some(data) = uri.strip_prefix("data:") {
        let Some((_, text)) = data.split_once(";base64,") else {
            return fault(format!("buffer {index} holds data that is not base64"));
        };
        return STANDARD
            .decode(text)
            .map_err(|error| Wrong::new(format!("buffer {index}: {error}")));
    }
    let name = unescaped(uri);
    let near = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
    if !near || name.is_empty() {
        return fault(format!("buffer {index} is not in the folder of the file"));
    }
    let beside = path.parent().unwrap_or(Path::new("")).join(&name);
    let mut bytes = Vec::new();
    let read =
        File::open(&beside).and_then(|file| file.take(length as u64).read_to_end(&mut bytes));
    read.map_err(|error| Wrong::new(format!("buffer {index}, {}: {error}", beside.display())))?;
    Ok(bytes)
}

/// A name with `%20` and the like replaced.
fn unescaped(uri: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), uri.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|two| std::str::from_utf8(two).ok());
        match code.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a node does to those below it.
fn transform(node: &Node) -> DMat4 {
    if let Some(matrix) = &node.matrix {
        return DMat4::from_cols_array(matrix);
    }
    DMat4::from_scale_rotation_translation(
        node.scale.map_or(DVec3::ONE, DVec3::from),
        node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array),
        node.translation.map_or(DVec3::ZERO, DVec3::from),
    )
}

struct Gather<'a> {
    root: &'a Root,
    buffers: Vec<Cow<'a, [u8]>>,
    mesh: MeshData,
    most: usize,
    /// Nodes that were visited.
    seen: Vec<bool>,
}

impl Gather<'_> {
    /// A node and all below it, without recursion.
    fn node(&mut self, node: usize) -> Result<()> {
        let mut open = vec![(node, DMat4::IDENTITY)];
        while let Some((index, above)) = open.pop() {
            let Some(node) = self.root.nodes.get(index) else {
                return fault(format!("node {index} is named; there are {}", self.seen.len()));
            };
            if std::mem::replace(&mut self.seen[index], true) {
                return fault(format!("node {index} has two parents or is its own"));
            }
            let place = above * transform(node);
            if let Some(mesh) = node.mesh {
                self.mesh(mesh, &place)?;
            }
            // The first child is the next.
            open.extend(node.children.iter().rev().map(|&child| (child, place)));
        }
        Ok(())
    }

    fn mesh(&mut self, index: usize, place: &DMat4) -> Result<()> {
        let Some(mesh) = self.root.meshes.get(index) else {
            return fault(format!("mesh {index} is named; there are {}", self.root.meshes.len()));
        };
        for (number, primitive) in mesh.primitives.iter().enumerate() {
            self.primitive(primitive, place).map_err(|wrong| {
                Wrong::new(format!("mesh {index}, primitive {number}: {}", wrong.fault))
            })?;
        }
        Ok(())
    }

    fn accessor(&self, index: usize) -> Result<&Accessor> {
        match self.root.accessors.get(index) {
            Some(accessor) => Ok(accessor),
            None => fault(format!("accessor {index} is not in the file")),
        }
    }

    fn primitive(&mut self, primitive: &Primitive, place: &DMat4) -> Result<()> {
        if !(TRIANGLES..=FAN).contains(&primitive.mode) {
            return Ok(());
        }
        let Some(positions) = primitive.attributes.position else {
            return fault("it has no positions");
        };
        let first = self.mesh.vertices.len();
        let count = self.positions(positions, place)?;
        let indices = match primitive.indices {
            Some(accessor) => self.indices(accessor, count)?,
            None => (0..count as u32).collect(),
        };
        self.reserve(indices.len() * 12)?;
        // A mirrored mesh shows its triangles from behind.
        let mirrored = place.determinant() < 0.0;
        let mut push = |mut corners: [u32; 3]| {
            if mirrored {
                corners.swap(1, 2);
            }
            self.mesh.triangles.push(corners.map(|k| k + first as u32));
        };
        match primitive.mode {
            TRIANGLES => {
                indices.chunks_exact(3).for_each(|three| push([three[0], three[1], three[2]]));
            }
            FAN => {
                let fan = indices.get(1..).unwrap_or_default().windows(2);
                fan.for_each(|two| push([indices[0], two[0], two[1]]));
            }
            _ => indices.windows(3).enumerate().for_each(|(k, three)| {
                let turn = k % 2;
                push([three[0], three[1 + turn], three[2 - turn]]);
            }),
        }
        Ok(())
    }

    /// Keeps the memory in proportion to the file.
    fn reserve(&self, more: usize) -> Result<()> {
        let held = self.mesh.vertices.len() * 24 + self.mesh.triangles.len() * 12;
        let numbered = (self.mesh.vertices.len() as u64) < u64::from(u32::MAX);
        if held.saturating_add(more) > self.most || !numbered {
            return fault("repeated meshes make it more than 64 times as large as the file");
        }
        Ok(())
    }

    fn positions(&mut self, accessor: usize, place: &DMat4) -> Result<usize> {
        let accessor = self.accessor(accessor)?;
        if (accessor.component_type, accessor.kind.as_str()) != (F32, "VEC3") {
            return fault("positions are not three float32 each");
        }
        self.reserve(accessor.count.saturating_mul(24))?;
        let bytes = self.elements(accessor, 12)?;
        for (index, at) in bytes.chunks_exact(12).enumerate() {
            let number =
                |k: usize| f64::from(f32::from_le_bytes([at[k], at[k + 1], at[k + 2], at[k + 3]]));
            let point = DVec3::new(number(0), number(4), number(8));
            let moved =
                if *place == DMat4::IDENTITY { point } else { place.transform_point3(point) };
            if !moved.is_finite() {
                return fault(format!("vertex {index}: a coordinate is not finite"));
            }
            self.mesh.vertices.push(moved);
        }
        Ok(bytes.len() / 12)
    }

    fn indices(&self, accessor: usize, vertices: usize) -> Result<Vec<u32>> {
        let accessor = self.accessor(accessor)?;
        let size = match width(accessor.component_type) {
            Some(size) if accessor.kind == "SCALAR" => size,
            _ => return fault("indices are not whole numbers from 0 on"),
        };
        self.reserve(accessor.count.saturating_mul(4))?;
        let bytes = self.elements(accessor, size)?;
        let mut indices = Vec::with_capacity(bytes.len() / size);
        for (place, at) in bytes.chunks_exact(size).enumerate() {
            let index = unsigned(at);
            if index as usize >= vertices {
                let triangle = place / 3;
                return fault(format!(
                    "triangle {triangle} names vertex {index}; there are {vertices}"
                ));
            }
            indices.push(index);
        }
        Ok(indices)
    }

    /// The elements of an accessor, closely packed.
    fn elements(&self, accessor: &Accessor, size: usize) -> Result<Vec<u8>> {
        let count = accessor.count;
        let mut packed = match accessor.buffer_view {
            Some(view) => self.strided(view, accessor.byte_offset, count, size)?,
            // Zeros, which the caller has compared with the length of the file.
            None => vec![0; count * size],
        };
        let Some(sparse) = &accessor.sparse else { return Ok(packed) };
        let (at, values) = (&sparse.indices, &sparse.values);
        let Some(width) = width(at.component_type) else {
            return fault("sparse indices are not whole numbers from 0 on");
        };
        let places = self.strided(at.buffer_view, at.byte_offset, sparse.count, width)?;
        let fresh = self.strided(values.buffer_view, values.byte_offset, sparse.count, size)?;
        for (place, value) in places.chunks_exact(width).zip(fresh.chunks_exact(size)) {
            let start = (unsigned(place) as usize).saturating_mul(size);
            let Some(target) = packed.get_mut(start..start.saturating_add(size)) else {
                return fault(format!("a sparse value for element {}", start / size));
            };
            target.copy_from_slice(value);
        }
        Ok(packed)
    }

    /// Elements of a view, without what is between them.
    fn strided(&self, view: usize, offset: usize, count: usize, size: usize) -> Result<Vec<u8>> {
        let misfit = || fault(format!("{count} elements do not fit in buffer view {view}"));
        let Some(about) = self.root.buffer_views.get(view) else {
            return fault(format!("buffer view {view} is not in the file"));
        };
        let end = about.byte_offset.checked_add(about.byte_length);
        let bytes = self.buffers.get(about.buffer).zip(end);
        let bytes = bytes.and_then(|(buffer, end)| buffer.get(about.byte_offset..end));
        let stride = about.byte_stride.filter(|&stride| stride > 0).unwrap_or(size);
        let length = match count.checked_sub(1) {
            None => Some(0),
            Some(before) => before.checked_mul(stride).and_then(|last| last.checked_add(size)),
        };
        let end = length.and_then(|length| offset.checked_add(length));
        let bytes = bytes.zip(end).and_then(|(bytes, end)| bytes.get(offset..end));
        let Some(bytes) = bytes.filter(|_| stride >= size) else { return misfit() };
        if stride == size {
            return Ok(bytes.to_vec());
        }
        Ok(bytes
            .chunks(stride)
            .flat_map(|chunk| &chunk[..size.min(chunk.len())])
            .copied()
            .collect())
    }
}

/// Bytes of an index.
fn width(component_type: u32) -> Option<usize> {
    match component_type {
        U8 => Some(1),
        U16 => Some(2),
        U32 => Some(4),
        _ => None,
    }
}

/// A little-endian number of up to four bytes.
fn unsigned(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}
