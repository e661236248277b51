//! Convex decompositions next to the V-HACD of parry3d-f64: time, pieces, and two errors that are
//! measured alike for both. The volume error is what the pieces hold together and the solid does
//! not, over the solid's volume; the distance error is how far a point of a piece is from the
//! solid, over the longest side of the mesh. Both are taken at the same points of a grid.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use jostle::decompose::{DecomposeOptions, decompose_with};
use jostle::mesh::{Fill, Mesh};
use jostle::shape::Hull;
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{lumpy_ball, read_mesh};
use parry3d_f64::math::Vector;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};

use crate::stopwatch::milliseconds;

/// Times convex decompositions next to parry3d-f64's V-HACD
#[derive(Args, Debug)]
pub struct DecomposeRivalsArgs {
    /// Files of meshes; without any, a lumpy ball is made
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Triangles of the ball
    #[arg(long, value_parser = names::positive, default_value = "5000")]
    n: usize,
    /// Most pieces
    #[arg(long, value_parser = names::positive, default_value = "32")]
    max_pieces: usize,
    /// Wanted concavity, as a share of the longest side
    #[arg(long, default_value_t = 0.02)]
    concavity: f64,
    /// Resolution of the rival's voxels
    #[arg(long, value_parser = names::positive, default_value = "64")]
    resolution: usize,
    /// Points of the grid along the longest side
    #[arg(long, value_parser = names::positive, default_value = "48")]
    grid: usize,
    /// Most vertices of a piece of ours; any number if not given
    #[arg(long, value_parser = names::positive)]
    max_vertices: Option<usize>,
    /// Threads of ours; the rival has one
    #[arg(long, value_parser = names::threads, default_value = "1")]
    threads: usize,
    /// Without the rival
    #[arg(long)]
    alone: bool,
}

/// Runs the stopwatch.
pub fn run(args: &DecomposeRivalsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut meshes: Vec<(String, Mesh)> = Vec::new();
    for path in &args.files {
        meshes.push((path.display().to_string(), read_mesh(path)?.into_mesh(path)?));
    }
    if meshes.is_empty() {
        meshes.push(("lumpy ball".into(), lumpy_ball(args.n)));
    }
    for (name, mesh) in &meshes {
        let mut rows = vec![ours(args, mesh)?];
        if !args.alone {
            rows.push(theirs(args, mesh));
        }
        let header = ["by", "ms", "pieces", "vertices", "volume error", "distance error", "lost"];
        writeln!(out, "{name}: {} triangles", mesh.triangles().len())?;
        write!(out, "{}", table(&header, &rows, &[0]))?;
    }
    Ok(())
}

fn ours(args: &DecomposeRivalsArgs, mesh: &Mesh) -> Result<Vec<String>, Failure> {
    let options = DecomposeOptions::default()
        .with_max_pieces(args.max_pieces)
        .with_concavity(args.concavity)
        .with_max_vertices(args.max_vertices.unwrap_or(usize::MAX));
    let (workers, mut found) = (names::workers(args.threads)?, None);
    let time = milliseconds(|| found = Some(decompose_with(mesh, &options, &workers, |_| true)));
    let found = found.expect("it ran").map_err(Failure::input)?;
    let hulls: Vec<&Hull> = found.pieces.iter().map(|piece| &*piece.hull).collect();
    Ok(row("jostle", time, mesh, &hulls, args.grid))
}

fn theirs(args: &DecomposeRivalsArgs, mesh: &Mesh) -> Vec<String> {
    let points: Vec<Vector> =
        mesh.vertices().iter().map(|at| Vector::new(at.x, at.y, at.z)).collect();
    let parameters = VHACDParameters {
        resolution: args.resolution as u32,
        max_convex_hulls: args.max_pieces as u32,
        ..VHACDParameters::default()
    };
    let mut found = Vec::new();
    let time = milliseconds(|| {
        let parts = VHACD::decompose(&parameters, &points, mesh.triangles(), true);
        found = parts.compute_exact_convex_hulls(&points, mesh.triangles());
    });
    let hulls: Vec<Hull> = found
        .iter()
        .filter_map(|(points, _)| {
            let points: Vec<DVec3> = points.iter().map(|at| DVec3::new(at.x, at.y, at.z)).collect();
            Hull::new(&points).ok()
        })
        .collect();
    row("parry V-HACD", time, mesh, &hulls.iter().collect::<Vec<_>>(), args.grid)
}

fn row(by: &str, time: f64, mesh: &Mesh, hulls: &[&Hull], grid: usize) -> Vec<String> {
    let vertices: usize = hulls.iter().map(|hull| hull.vertices().len()).sum();
    let errors = errors(mesh, hulls, grid);
    vec![
        by.to_owned(),
        format!("{time:.0}"),
        hulls.len().to_string(),
        vertices.to_string(),
        format!("{:.2} %", 100.0 * errors.volume),
        format!("{:.4}", errors.distance),
        format!("{:.2} %", 100.0 * errors.lost),
    ]
}

struct Errors {
    volume: f64,
    distance: f64,
    /// Share of the solid that no piece holds.
    lost: f64,
}

fn errors(mesh: &Mesh, hulls: &[&Hull], grid: usize) -> Errors {
    let solid = mesh.clone().with_fill(Fill::Solid);
    let size = mesh.max() - mesh.min();
    let step = size.max_element() / grid as f64;
    let count = |axis: usize| (size[axis] / step) as usize + 1;
    let (mut inside, mut extra, mut lost, mut furthest) = (0u32, 0u32, 0u32, 0.0f64);
    for x in 0..count(0) {
        for y in 0..count(1) {
            for z in 0..count(2) {
                let cell = DVec3::new(x as f64, y as f64, z as f64) + 0.5;
                let point = mesh.min() + cell * step;
                let distance = solid.project(point).distance;
                let held = hulls.iter().any(|hull| holds(hull, point));
                inside += u32::from(distance <= 0.0);
                lost += u32::from(distance <= 0.0 && !held);
                if held && distance > 0.0 {
                    extra += 1;
                    furthest = furthest.max(distance);
                }
            }
        }
    }
    let whole = f64::from(inside.max(1));
    let distance = furthest / size.max_element();
    Errors { volume: f64::from(extra) / whole, distance, lost: f64::from(lost) / whole }
}

fn holds(hull: &Hull, point: DVec3) -> bool {
    hull.dimension() == 3
        && (0..hull.face_count())
            .all(|face| hull.face_normal(face).dot(point) <= hull.face_offset(face))
}
