//! `jostle mesh`: what the meshes in files are, and what is wrong with them.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::mesh::{Mesh, MeshReport};
use jostle_scenes::read_mesh;
use serde_json::{Value, json};

use crate::support::failure::Failure;
use crate::support::text::{bytes, count_of, grouped};

const ABOUT: &str = "\
Reads .obj, .stl (text and binary), .ply (text and binary) and .gltf or .glb. Polygons are cut into
triangles; equal vertices of .stl are merged.

A mesh is closed if every edge has two triangles, oriented if neighbours face the same way; both
together make it a solid with an inside and a volume. Nothing that is listed as wrong keeps a mesh
from being used as a surface. With --json, one object a file: file, vertices, triangles, closed,
oriented, solid, parts, area, volume, min, max, bytes, unused_vertices, duplicate_vertices,
degenerate_triangles, duplicate_triangles, border_edges, crowded_edges and flipped_edges.

Examples:
  jostle mesh bunny.ply
  jostle mesh parts/*.stl --json";

/// Tells what the mesh in a file is and what is wrong with it
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct MeshArgs {
    /// Files of meshes
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Prints one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &MeshArgs) -> Result<(), Failure> {
    let mut out = stdout().lock();
    for path in &args.files {
        let mesh = read_mesh(path)?.into_mesh(path)?;
        let report = mesh.report();
        if args.json {
            writeln!(out, "{}", object(path, &mesh, &report))?;
        } else {
            write!(out, "{}", text(path, &mesh, &report))?;
        }
    }
    Ok(())
}

fn object(path: &Path, mesh: &Mesh, report: &MeshReport) -> Value {
    json!({
        "file": path.display().to_string(),
        "vertices": report.vertices,
        "triangles": report.triangles,
        "closed": report.is_closed(),
        "oriented": report.is_oriented(),
        "solid": report.is_closed() && report.is_oriented(),
        "parts": report.parts,
        "area": report.area,
        "volume": report.volume,
        "min": mesh.min().to_array(),
        "max": mesh.max().to_array(),
        "bytes": report.bytes,
        "unused_vertices": report.unused_vertices,
        "duplicate_vertices": report.duplicate_vertices,
        "degenerate_triangles": report.degenerate_triangles,
        "duplicate_triangles": report.duplicate_triangles,
        "border_edges": report.border_edges,
        "crowded_edges": report.crowded_edges,
        "flipped_edges": report.flipped_edges,
    })
}

fn text(path: &Path, mesh: &Mesh, report: &MeshReport) -> String {
    let (closed, oriented) = (report.is_closed(), report.is_oriented());
    let kind = match (closed, oriented) {
        (true, true) if report.volume < 0.0 => "closed, but facing inward",
        (true, true) => "a solid: closed and oriented",
        (true, false) => "closed, but not oriented",
        (false, true) => "a surface with borders",
        (false, false) => "a surface with borders, not oriented",
    };
    let volume =
        if closed && oriented { format!(", volume {:.6e}", report.volume) } else { String::new() };
    let side = |at: glam::DVec3| format!("[{:.6}, {:.6}, {:.6}]", at.x, at.y, at.z);
    let mut lines = format!(
        "{}: {} vertices, {} triangles, {}\n  {kind}; area {:.6e}{volume}\n  bounds {} to {}\n  \
         {} of memory with its tree, {:.1} bytes a triangle\n",
        path.display(),
        grouped(report.vertices as u64),
        grouped(report.triangles as u64),
        count_of(report.parts as u64, "part", "parts"),
        report.area,
        side(mesh.min()),
        side(mesh.max()),
        bytes(report.bytes),
        report.bytes as f64 / report.triangles as f64,
    );
    for (count, one, many) in [
        (report.border_edges, "edge has one triangle: open", "edges have one triangle: open"),
        (
            report.crowded_edges,
            "edge has three triangles or more",
            "edges have three triangles or more",
        ),
        (
            report.flipped_edges,
            "edge between triangles that face different ways",
            "edges between triangles that face different ways",
        ),
        (report.degenerate_triangles, "triangle without area", "triangles without area"),
        (report.duplicate_triangles, "triangle twice", "triangles twice"),
        (
            report.duplicate_vertices,
            "vertex at the place of another",
            "vertices at the place of others",
        ),
        (report.unused_vertices, "vertex that no triangle uses", "vertices that no triangle uses"),
    ] {
        if count > 0 {
            lines += &format!("  wrong: {}\n", count_of(count as u64, one, many));
        }
    }
    lines
}
