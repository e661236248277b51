//! The part of glTF's JSON that triangles need. Unknown fields are skipped; places are checked
//! where they are used.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Root {
    pub asset: Asset,
    pub extensions_required: Vec<String>,
    pub scene: Option<usize>,
    pub scenes: Vec<Scene>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<View>,
    pub buffers: Vec<Buffer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Scene {
    #[serde(default)]
    pub nodes: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Mesh {
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<usize>,
    /// Points, lines, triangles, strips or fans.
    #[serde(default = "triangles")]
    pub mode: u32,
}

fn triangles() -> u32 {
    4
}

#[derive(Debug, Deserialize)]
pub(super) struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    pub count: usize,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Sparse>,
}

/// Elements that differ from those of the view.
#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub count: usize,
    pub indices: Places,
    pub values: Values,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Places {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Values {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: usize,
}
