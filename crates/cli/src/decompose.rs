//! `jostle decompose`: a mesh as convex pieces.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};

use clap::Args;
use jostle::Workers;
use jostle::decompose::{
    ConvexPiece, DecomposeError, DecomposeOptions, Decomposition, decompose_with,
};
use jostle::mesh::{Mesh, MeshReport};
use jostle_scenes::{ObjGroup, ObjWriter, read_mesh};
use serde_json::{Value, json};

use crate::support::failure::Failure;
use crate::support::feed::STANDARD;
use crate::support::progress::Progress;
use crate::support::text::{count_of, grouped};
use crate::support::{files, interrupt, names};

const ABOUT: &str = "\
Cuts a mesh into convex pieces that together hold all of it, and writes each as an object of the
.obj file: convex_0, the largest, and so on. Open meshes and soups are cut as well: inside is what
the winding number says. The same file and options give the same bytes on every machine.

The concavity is how far a point of a piece may be from the solid, as a share of the longest side
of the mesh; it is reached unless that takes more than the most pieces. With --json, one object:
file, output, pieces, volume, solid_volume (null unless the mesh is closed and oriented), concavity,
cuts, threads, and for each piece in convex its vertices, volume and concavity.

With --max-vertices, pieces of more vertices are put into larger ones of fewer, which hold all that
they held; volume and concavity are those of the larger ones. The number of threads changes nothing
but the time.

Examples:
  jostle decompose chair.obj -o chair_convex.obj
  jostle decompose chair.obj -o fine.obj --max-pieces 64 --concavity 0.01
  jostle decompose chair.obj -o game.obj --max-pieces 16 --max-vertices 32";

/// Cuts a mesh into convex pieces
#[derive(Args)]
#[command(after_help = ABOUT)]
pub(crate) struct DecomposeArgs {
    /// File of a mesh: .obj, .stl, .ply, .gltf or .glb
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The pieces, as .obj; - writes to standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Most pieces
    #[arg(long, value_name = "N", value_parser = names::positive, default_value = "32")]
    max_pieces: usize,
    /// How far pieces may be from the solid, as a share of the longest side
    #[arg(long, value_name = "SHARE", default_value_t = 0.02)]
    concavity: f64,
    /// Planes tried across each axis for a cut
    #[arg(long, value_name = "N", value_parser = names::positive, default_value = "16")]
    planes: usize,
    /// Most vertices of a piece, from 8 on; any number if not given
    #[arg(long, value_name = "N", value_parser = names::positive)]
    max_vertices: Option<usize>,
    /// Number of threads; 0 is one for each core
    #[arg(long, value_name = "N", value_parser = names::threads, default_value = "0")]
    threads: usize,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &DecomposeArgs) -> Result<(), Failure> {
    let standard = args.output == Path::new(STANDARD);
    if standard && args.json {
        return Err(Failure::input("-: give a file name; the report goes to standard output"));
    }
    files::apart(&args.output, &[&args.file])?;
    let workers = names::workers(args.threads)?;
    let mesh = read_mesh(&args.file)?.into_mesh(&args.file)?;
    let mut writer = ObjWriter::create(&args.output)?;
    let found = decomposed(args, &mesh, &workers)?;
    for (number, piece) in found.pieces.iter().enumerate() {
        let ConvexPiece { hull, .. } = piece;
        let name = format!("convex_{number}");
        let (vertices, triangles) = (hull.vertices(), hull.triangles());
        writer.write(&ObjGroup { name: &name, vertices, triangles })?;
    }
    writer.finish()?;
    let report = mesh.report();
    if args.json {
        writeln!(stdout(), "{}", object(args, &report, &found, workers.count()))?;
    } else if !standard {
        write!(stdout(), "{}", text(args, &report, &found))?;
    }
    Ok(())
}

fn decomposed(
    args: &DecomposeArgs,
    mesh: &Mesh,
    workers: &Workers,
) -> Result<Decomposition, Failure> {
    let options = DecomposeOptions::default()
        .with_max_pieces(args.max_pieces)
        .with_concavity(args.concavity)
        .with_planes(args.planes)
        .with_max_vertices(args.max_vertices.unwrap_or(usize::MAX));
    let bar = Progress::new(100, "decompose");
    let (mut shown, mut pieces) = (0, 0);
    let found = decompose_with(mesh, &options, workers, |progress| {
        while shown < (100.0 * progress.share) as u32 {
            bar.step();
            shown += 1;
        }
        pieces = progress.pieces;
        !interrupt::requested()
    });
    drop(bar);
    found.map_err(|error| match error {
        DecomposeError::Stopped => {
            let pieces = count_of(pieces as u64, "piece", "pieces");
            let (file, output) = (args.file.display(), args.output.display());
            Failure::Stopped(format!("{file}: at {pieces}; {output} was not written"))
        }
        error => Failure::Input(format!("{}: {error}", args.file.display())),
    })
}

/// The volume of the solid, if it has one.
fn solid_volume(report: &MeshReport) -> Option<f64> {
    (report.is_closed() && report.is_oriented()).then_some(report.volume.abs())
}

fn object(
    args: &DecomposeArgs,
    report: &MeshReport,
    found: &Decomposition,
    threads: usize,
) -> Value {
    let piece = |piece: &ConvexPiece| {
        json!({
            "vertices": piece.hull.vertices().len(),
            "volume": piece.volume,
            "concavity": piece.concavity,
        })
    };
    json!({
        "file": args.file.display().to_string(),
        "output": args.output.display().to_string(),
        "pieces": found.pieces.len(),
        "volume": found.volume,
        "solid_volume": solid_volume(report),
        "concavity": found.concavity,
        "cuts": found.cuts,
        "threads": threads,
        "convex": found.pieces.iter().map(piece).collect::<Vec<_>>(),
    })
}

fn text(args: &DecomposeArgs, report: &MeshReport, found: &Decomposition) -> String {
    let vertices: usize = found.pieces.iter().map(|piece| piece.hull.vertices().len()).sum();
    let volume = match solid_volume(report) {
        Some(solid) if solid > 0.0 => {
            format!(", {:.1} % of the solid's", 100.0 * found.volume / solid)
        }
        _ => String::new(),
    };
    let mut lines = format!(
        "{}: {} of {} vertices\n  volume {:.6e}{volume}; concavity {:.4}\n",
        args.output.display(),
        count_of(found.pieces.len() as u64, "piece", "pieces"),
        grouped(vertices as u64),
        found.volume,
        found.concavity,
    );
    if found.concavity > args.concavity {
        let more = if args.max_vertices.is_some() { "pieces or vertices" } else { "pieces" };
        lines += &format!("  not the {} wanted: allow more {more}\n", args.concavity);
    }
    lines
}
