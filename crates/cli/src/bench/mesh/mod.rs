//! `jostle bench --mesh`: questions about triangle meshes, each over many poses, rays or points.
//!
//! A mesh is asked about a copy of itself, which touches it in few places or in many. Every pass
//! asks the same questions; the least time counts, since all that disturbs a run makes it longer.
//! The number of hits is told, so that two versions can be seen to answer alike.

use std::hint::black_box;
use std::time::Instant;

use glam::DVec3;
use jostle::Workers;
use jostle::mesh::{Mesh, MeshPair, MeshRay};
use jostle::shape::Pose;
use jostle_scenes::{MeshPlacing, Sorted, mesh_points, mesh_poses, mesh_rays};

use crate::support::failure::Failure;
use crate::support::interrupt;

pub mod command;
mod report;

/// What is run.
#[derive(Debug)]
pub struct Course {
    /// The mesh, as it is called in the table.
    pub name: String,
    /// The mesh.
    pub mesh: Mesh,
    /// Poses of two meshes; a hundred times as many rays and points.
    pub poses: usize,
    /// Passes over all questions.
    pub passes: usize,
    /// Seed of the questions.
    pub seed: u64,
    /// Threads that build, refit and cast many rays at once.
    pub threads: usize,
}

/// One question on one course.
#[derive(Clone, Debug)]
pub struct Row {
    /// The mesh.
    pub mesh: String,
    /// Its triangles.
    pub triangles: usize,
    /// Bytes it holds.
    pub bytes: usize,
    /// What is asked.
    pub question: &'static str,
    /// How often in a pass.
    pub asked: usize,
    /// Hits, pairs of triangles, or what else was found in a pass.
    pub found: u64,
    /// Nanoseconds a question, or a triangle for the tree; one number a pass.
    pub times: Sorted,
}

/// Asks all questions about one mesh.
pub fn measure(course: &Course) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let workers = crate::support::names::workers(course.threads)?;
    trees(course, &workers, &mut rows)?;
    pairs(course, &mut rows);
    rays(course, &workers, &mut rows);
    points(course, &mut rows);
    Ok(rows)
}

/// Times passes over questions; `ask` says what a question found.
fn ask<Q>(
    course: &Course,
    question: &'static str,
    questions: &[Q],
    ask: impl Fn(&Q) -> u64,
) -> Row {
    let pass = || questions.iter().map(|question| ask(black_box(question))).sum();
    ask_all(course, question, questions.len(), pass)
}

/// Times passes; `ask` says what all questions of a pass found.
fn ask_all(course: &Course, question: &'static str, asked: usize, ask: impl Fn() -> u64) -> Row {
    let (mut times, mut found) = (Vec::new(), 0);
    for pass in 0..course.passes {
        let start = Instant::now();
        found = ask();
        times.push(1e9 * start.elapsed().as_secs_f64() / asked.max(1) as f64);
        if pass > 0 && interrupt::requested() {
            break;
        }
    }
    Row {
        mesh: course.name.clone(),
        triangles: course.mesh.triangles().len(),
        bytes: course.mesh.bytes(),
        question,
        asked,
        found,
        times: Sorted::new(times),
    }
}

/// Building and refitting, in nanoseconds a triangle.
fn trees(course: &Course, workers: &Workers, rows: &mut Vec<Row>) -> Result<(), Failure> {
    let mesh = &course.mesh;
    let count = mesh.triangles().len();
    let shrunk: Vec<DVec3> = mesh.vertices().iter().map(|at| *at * 0.999).collect();
    let (mut built, mut fitted) = (Vec::new(), Vec::new());
    let mut refits = 0;
    for _ in 0..course.passes {
        let (vertices, triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
        let start = Instant::now();
        let mut copy = Mesh::with_workers(vertices, triangles, workers).map_err(Failure::input)?;
        built.push(1e9 * start.elapsed().as_secs_f64() / count as f64);
        for moved in [&shrunk[..], mesh.vertices()] {
            let start = Instant::now();
            let refit = copy.set_vertices(moved, workers).map_err(Failure::input)?;
            fitted.push(1e9 * start.elapsed().as_secs_f64() / count as f64);
            refits += u64::from(refit == jostle::mesh::Refit::Fitted);
        }
    }
    let row = |question, found, times| Row {
        mesh: course.name.clone(),
        triangles: count,
        bytes: mesh.bytes(),
        question,
        asked: 1,
        found,
        times: Sorted::new(times),
    };
    rows.push(row("build", course.passes as u64, built));
    rows.push(row("refit", refits, fitted));
    Ok(())
}

/// Two meshes: boolean, distance and all pairs of triangles.
fn pairs(course: &Course, rows: &mut Vec<Row>) {
    let mesh = &course.mesh;
    let between = |pose: &Pose| MeshPair::new(mesh, &Pose::IDENTITY, mesh, pose);
    for placing in MeshPlacing::ALL {
        let poses = mesh_poses(mesh, mesh, placing, course.poses, course.seed);
        let [boolean, distance, list] = names(placing);
        rows.push(ask(course, boolean, &poses, |pose| between(pose).intersects().into()));
        if matches!(placing, MeshPlacing::Far | MeshPlacing::NearMiss) {
            let near = |pose: &Pose| u64::from(between(pose).distance() > 0.0);
            rows.push(ask(course, distance, &poses, near));
        } else {
            let count =
                |pose: &Pose| between(pose).triangle_pairs(usize::MAX).map_or(0, |all| all.len());
            rows.push(ask(course, list, &poses, |pose| count(pose) as u64));
        }
    }
}

/// What is asked of a placing: the boolean, the distance, all pairs.
fn names(placing: MeshPlacing) -> [&'static str; 3] {
    match placing {
        MeshPlacing::Far => ["boolean, far", "distance, far", ""],
        MeshPlacing::NearMiss => ["boolean, near miss", "distance, near miss", ""],
        MeshPlacing::NearHit => ["boolean, near hit", "", "all pairs, near hit"],
        MeshPlacing::Deep => ["boolean, deep", "", "all pairs, deep"],
    }
}

/// Rays one by one, and all of them in one question.
fn rays(course: &Course, workers: &Workers, rows: &mut Vec<Row>) {
    let mesh = &course.mesh;
    let names =
        [["ray, random", "rays at once, random"], ["ray, coherent", "rays at once, coherent"]];
    for ([single, together], coherent) in names.into_iter().zip([false, true]) {
        let rays = mesh_rays(mesh, coherent, 100 * course.poses, course.seed);
        rows.push(ask(course, single, &rays, |(origin, direction)| {
            mesh.cast_ray(*origin, *direction, f64::INFINITY).is_some().into()
        }));
        let ray = |(origin, direction)| MeshRay { origin, direction, limit: f64::INFINITY };
        let rays: Vec<MeshRay> = rays.into_iter().map(ray).collect();
        rows.push(ask_all(course, together, rays.len(), || {
            black_box(mesh.cast_rays(&rays, workers)).iter().flatten().count() as u64
        }));
    }
}

fn points(course: &Course, rows: &mut Vec<Row>) {
    let mesh = &course.mesh;
    for (name, near) in [("closest point, near", true), ("closest point, far", false)] {
        let points = mesh_points(mesh, near, 100 * course.poses, course.seed);
        let close = 0.1 * mesh.bounding_radius();
        rows.push(ask(course, name, &points, |point| {
            u64::from(mesh.project(*point).distance < close)
        }));
    }
}
