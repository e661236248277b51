//! Questions about triangle meshes next to parry3d-f64: one thread, the same poses, rays and
//! points, interleaved; every answer is compared. Rays are asked of parry3d in f32 too.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use jostle::mesh::Mesh;
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{lumpy_ball, read_mesh};

use crate::mesh_contest::{Effort, SINGLE_TOLERANCE, contest};

/// Times questions about meshes next to parry3d-f64, and rays next to parry3d in f32 too
#[derive(Args, Debug)]
pub struct MeshRivalsArgs {
    /// Files of meshes; without any, a lumpy ball is made
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Triangles of the ball
    #[arg(long, value_parser = names::positive, default_value = "5000")]
    n: usize,
    /// Poses of two meshes for each placing; a hundred times as many rays and points
    #[arg(long, value_parser = names::positive, default_value = "40")]
    poses: usize,
    /// Passes over the questions; the least time counts
    #[arg(long, value_parser = names::positive, default_value = "3")]
    passes: usize,
}

/// Runs the stopwatch.
pub fn run(args: &MeshRivalsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let mut meshes: Vec<(String, Mesh)> = Vec::new();
    for path in &args.files {
        meshes.push((path.display().to_string(), read_mesh(path)?.into_mesh(path)?));
    }
    if meshes.is_empty() {
        meshes.push(("lumpy ball".into(), lumpy_ball(args.n)));
    }
    let MeshRivalsArgs { poses, passes, .. } = *args;
    let effort = Effort { poses, slow_poses: poses.div_ceil(10), rays: 100 * poses, passes };
    for (name, mesh) in &meshes {
        let rows = contest(mesh, effort).into_iter().map(|score| {
            vec![
                score.question,
                score.asked.to_string(),
                format!("{:.0}", score.ours),
                format!("{:.0}", score.theirs),
                format!("{:.1}", score.theirs / score.ours),
                score.differ.to_string(),
            ]
        });
        let header = ["question", "asked", "ours ns", "parry ns", "parry / ours", "differ"];
        let count = mesh.triangles().len();
        let each = mesh.bytes() as f64 / count as f64;
        writeln!(out, "{name}: {count} triangles, {each:.1} bytes each")?;
        write!(out, "{}", table(&header, &rows.collect::<Vec<_>>(), &[0]))?;
    }
    writeln!(
        out,
        "f32: parry3d in f32; more than {SINGLE_TOLERANCE:e} of the radius is a difference"
    )?;
    Ok(())
}
