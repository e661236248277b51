//! The same questions about a mesh to us and to parry3d-f64, interleaved, with answers compared;
//! rays to parry3d in f32 as well, which is its faster form.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Instant;

use glam::{DQuat, DVec3};
use jostle::Workers;
use jostle::mesh::{Mesh, MeshPair, MeshRay};
use jostle::narrow::{Placed, contact_within, intersects};
use jostle::shape::{Pose, Shape};
use jostle_scenes::{MeshPlacing, mesh_points, mesh_poses, mesh_rays};
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query::{self, PointQuery, Ray, RayCast};
use parry3d_f64::shape::{Ball, Cuboid, Shape as ParryShape, TriMesh};

/// One question: nanoseconds of ours and of parry's, the least of all passes.
#[derive(Clone, Debug)]
pub struct Score {
    /// What was asked.
    pub question: String,
    /// How often in a pass.
    pub asked: usize,
    /// Nanoseconds a question, or a triangle for build.
    pub ours: f64,
    /// The same of parry's.
    pub theirs: f64,
    /// Answers that differ by more than rounding.
    pub differ: usize,
}

/// How far an answer in f32 may be off, in radii of the mesh: rays begin a few radii away, and
/// times of flat hits are worse than the 6e-8 of their coordinates.
pub const SINGLE_TOLERANCE: f64 = 1e-4;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Poses of two meshes.
    pub poses: usize,
    /// Poses for which parry is asked for distances and pairs, which take it long.
    pub slow_poses: usize,
    /// Rays and points.
    pub rays: usize,
    /// Passes.
    pub passes: usize,
}

struct Pair<'a> {
    ours: &'a Mesh,
    theirs: &'a TriMesh,
    /// Theirs in f32.
    single: &'a parry3d::shape::TriMesh,
    effort: Effort,
}

fn vector(at: DVec3) -> Vector {
    Vector::new(at.x, at.y, at.z)
}

fn single(at: DVec3) -> parry3d::math::Vector {
    parry3d::math::Vector::from(at.as_vec3().to_array())
}

fn placed(pose: &Pose) -> ParryPose {
    let (q, t) = (pose.rotation(), pose.translation());
    ParryPose::from_parts(vector(t), Rotation::from_xyzw(q.x, q.y, q.z, q.w))
}

/// parry's mesh.
pub fn parry_mesh(mesh: &Mesh) -> TriMesh {
    let points = mesh.vertices().iter().map(|&at| vector(at)).collect();
    TriMesh::new(points, mesh.triangles().to_vec()).expect("parry takes every mesh")
}

/// parry's mesh in f32.
fn single_mesh(mesh: &Mesh) -> parry3d::shape::TriMesh {
    let points = mesh.vertices().iter().map(|&at| single(at)).collect();
    let made = parry3d::shape::TriMesh::new(points, mesh.triangles().to_vec());
    made.expect("parry takes every mesh")
}

/// Asks everything.
pub fn contest(mesh: &Mesh, effort: Effort) -> Vec<Score> {
    let (theirs, single) = (parry_mesh(mesh), single_mesh(mesh));
    let pair = Pair { ours: mesh, theirs: &theirs, single: &single, effort };
    let mut scores = vec![pair.build(1), pair.build(2), pair.two_builds(), pair.refit()];
    for placing in MeshPlacing::ALL {
        let poses = mesh_poses(mesh, mesh, placing, effort.poses, 7);
        scores.push(pair.boolean(placing, &poses));
        let few = &poses[..poses.len().min(effort.slow_poses)];
        match placing {
            MeshPlacing::Far => {}
            MeshPlacing::NearMiss => scores.push(pair.distance(placing, few)),
            _ => scores.push(pair.all_pairs(placing, few)),
        }
    }
    for coherent in [false, true] {
        scores.push(pair.rays(coherent));
        scores.push(pair.single_rays(coherent));
        scores.push(pair.rays_at_once(coherent));
    }
    for near in [true, false] {
        scores.push(pair.points(near));
    }
    scores.extend(pair.shapes());
    scores
}

/// A convex shape of either library.
struct Convex {
    name: &'static str,
    ours: Shape,
    theirs: Box<dyn ParryShape>,
}

impl Convex {
    /// A ball and a box of about a twentieth of the size of a mesh.
    fn both(size: f64) -> [Convex; 2] {
        let half = DVec3::new(0.05, 0.035, 0.02) * size;
        let ball = Shape::sphere(0.05 * size).expect("a mesh has a size");
        let cuboid = Shape::cuboid(half).expect("a mesh has a size");
        [
            Convex { name: "ball", ours: ball, theirs: Box::new(Ball::new(0.05 * size)) },
            Convex { name: "box", ours: cuboid, theirs: Box::new(Cuboid::new(vector(half))) },
        ]
    }
}

impl Pair<'_> {
    /// Asks both in turn; answers are numbers that should agree.
    fn ask<Q>(
        &self,
        question: String,
        questions: &[Q],
        ours: impl Fn(&Q) -> f64,
        theirs: impl Fn(&Q) -> f64,
        tolerance: f64,
    ) -> Score {
        let mut least = [f64::INFINITY; 2];
        let mut answers = [Vec::new(), Vec::new()];
        for _ in 0..self.effort.passes {
            for side in 0..2 {
                answers[side].clear();
                let start = Instant::now();
                for question in questions {
                    let question = black_box(question);
                    answers[side].push(if side == 0 { ours(question) } else { theirs(question) });
                }
                let each = 1e9 * start.elapsed().as_secs_f64() / questions.len().max(1) as f64;
                least[side] = least[side].min(each);
            }
        }
        let [one, other] = &answers;
        let differ = one.iter().zip(other).filter(|(a, b)| (*a - *b).abs() > tolerance);
        Score {
            question,
            asked: questions.len(),
            ours: least[0],
            theirs: least[1],
            differ: differ.count(),
        }
    }

    /// Builds one mesh after the other, so that threads are awake, on some threads each.
    fn build(&self, threads: usize) -> Score {
        let workers = Workers::new(threads).expect("threads");
        let name = match threads {
            1 => "build, a triangle".into(),
            _ => format!("build with {threads} threads"),
        };
        let builds = vec![(); self.builds()];
        let ours = |(): &()| black_box(self.built(&workers)) as f64;
        let theirs = |(): &()| {
            black_box(parry_mesh(self.ours).vertices().len());
            0.0
        };
        self.per_triangle(self.ask(name, &builds, ours, theirs, f64::INFINITY), 1)
    }

    /// Builds two meshes at the same time, each on one thread: no build with two threads can be
    /// faster than this, and it tells whether the machine has a second core to spare.
    fn two_builds(&self) -> Score {
        let twice = |build: &(dyn Fn() + Sync)| {
            let all = || (0..self.builds()).for_each(|_| build());
            std::thread::scope(|scope| {
                scope.spawn(all);
                all();
            });
            0.0
        };
        let ours = |(): &()| twice(&|| _ = black_box(self.built(&Workers::one())));
        let theirs = |(): &()| twice(&|| drop(black_box(parry_mesh(self.ours))));
        let score = self.ask("two builds at once".into(), &[()], ours, theirs, f64::INFINITY);
        self.per_triangle(score, 2 * self.builds())
    }

    /// Bytes of a mesh that was built again.
    fn built(&self, workers: &Workers) -> usize {
        let (points, triangles) = (self.ours.vertices().to_vec(), self.ours.triangles().to_vec());
        Mesh::with_workers(points, triangles, workers).expect("a mesh").bytes()
    }

    /// Builds in a row: as many as take some milliseconds.
    fn builds(&self) -> usize {
        (50_000 / self.ours.triangles().len().max(1)).clamp(1, 50)
    }

    /// Times of some builds, for each triangle.
    fn per_triangle(&self, score: Score, builds: usize) -> Score {
        let count = (builds * self.ours.triangles().len()) as f64;
        Score { ours: score.ours / count, theirs: score.theirs / count, ..score }
    }

    /// The vertices move a little and back. parry has no such question: it builds again.
    fn refit(&self) -> Score {
        let moved: Vec<DVec3> = self.ours.vertices().iter().map(|at| *at * 0.999).collect();
        let ways = [moved, self.ours.vertices().to_vec()];
        let mesh = RefCell::new(self.ours.clone());
        let ours = |points: &Vec<DVec3>| {
            let refit = mesh.borrow_mut().set_vertices(points, &Workers::one());
            f64::from(u8::from(refit.is_ok()))
        };
        let theirs = |points: &Vec<DVec3>| {
            let points: Vec<Vector> = points.iter().map(|&at| vector(at)).collect();
            let mesh = TriMesh::new(points, self.ours.triangles().to_vec());
            f64::from(u8::from(mesh.is_ok()))
        };
        self.per_triangle(self.ask("refit, a triangle".into(), &ways, ours, theirs, 0.5), 1)
    }

    /// A ball and a turned box near the surface: do they touch it, and how deep?
    fn shapes(&self) -> Vec<Score> {
        let mesh = Shape::from(self.ours.clone());
        let points = mesh_points(self.ours, true, self.effort.rays / 4, 11);
        let poses: Vec<Pose> = (0u32..)
            .zip(&points)
            .map(|(k, &at)| {
                let axis = (at - self.ours.center()).normalize_or(DVec3::X);
                Pose::new(DQuat::from_axis_angle(axis, f64::from(k)), at).expect("near the mesh")
            })
            .collect();
        let size = self.ours.bounding_radius();
        let mut scores = Vec::new();
        for convex in &Convex::both(size) {
            scores.push(self.shape_boolean(&mesh, convex, &poses));
            scores.push(self.shape_contact(&mesh, convex, &poses, 1e-6 * size));
        }
        scores
    }

    fn shape_boolean(&self, mesh: &Shape, convex: &Convex, poses: &[Pose]) -> Score {
        let placed_mesh = Placed::new(mesh, Pose::IDENTITY);
        let ours = |pose: &Pose| {
            f64::from(u8::from(intersects(&placed_mesh, &Placed::new(&convex.ours, *pose)).hit))
        };
        let theirs = |pose: &Pose| {
            let (origin, pose) = (ParryPose::IDENTITY, placed(pose));
            let found = query::intersection_test(&origin, self.theirs, &pose, &*convex.theirs);
            f64::from(u8::from(found.expect("supported").intersecting))
        };
        self.ask(format!("{}, boolean", convex.name), poses, ours, theirs, 0.5)
    }

    fn shape_contact(
        &self,
        mesh: &Shape,
        convex: &Convex,
        poses: &[Pose],
        tolerance: f64,
    ) -> Score {
        let placed_mesh = Placed::new(mesh, Pose::IDENTITY);
        let ours = |pose: &Pose| {
            let found = contact_within(&placed_mesh, &Placed::new(&convex.ours, *pose), 0.0);
            found.map_or(1.0, |contact| contact.signed_distance())
        };
        let theirs = |pose: &Pose| {
            let (origin, pose) = (ParryPose::IDENTITY, placed(pose));
            let found = query::contact(&origin, self.theirs, &pose, &*convex.theirs, 0.0);
            found.expect("supported").map_or(1.0, |contact| contact.dist)
        };
        self.ask(format!("{}, contact", convex.name), poses, ours, theirs, tolerance)
    }

    fn boolean(&self, placing: MeshPlacing, poses: &[Pose]) -> Score {
        let ours = |pose: &Pose| {
            let pair = MeshPair::new(self.ours, &Pose::IDENTITY, self.ours, pose);
            f64::from(u8::from(pair.intersects()))
        };
        let theirs = |pose: &Pose| {
            let (origin, pose) = (ParryPose::IDENTITY, placed(pose));
            let found = query::intersection_test(&origin, self.theirs, &pose, self.theirs);
            f64::from(u8::from(found.expect("supported").intersecting))
        };
        self.ask(format!("boolean, {}", placing.name()), poses, ours, theirs, 0.5)
    }

    fn distance(&self, placing: MeshPlacing, poses: &[Pose]) -> Score {
        let ours =
            |pose: &Pose| MeshPair::new(self.ours, &Pose::IDENTITY, self.ours, pose).distance();
        let theirs = |pose: &Pose| {
            let (origin, pose) = (ParryPose::IDENTITY, placed(pose));
            let found = query::distance(&origin, self.theirs, &pose, self.theirs);
            found.expect("supported").distance
        };
        let tolerance = 1e-8 * self.ours.bounding_radius();
        self.ask(format!("distance, {}", placing.name()), poses, ours, theirs, tolerance)
    }

    /// parry has no such question: every triangle asks the other's tree, as its own meshes do.
    fn all_pairs(&self, placing: MeshPlacing, poses: &[Pose]) -> Score {
        let ours = |pose: &Pose| {
            let pair = MeshPair::new(self.ours, &Pose::IDENTITY, self.ours, pose);
            pair.triangle_pairs(usize::MAX).map_or(0, |all| all.len()) as f64
        };
        let theirs = |pose: &Pose| {
            let pose = placed(pose);
            let mut count = 0;
            for triangle in self.theirs.triangles() {
                let moved = triangle.transformed(&pose);
                let aabb = moved.local_aabb().loosened(1e-9);
                for leaf in self.theirs.bvh().intersect_aabb(&aabb) {
                    let other = self.theirs.triangle(leaf);
                    let origin = ParryPose::IDENTITY;
                    let found = query::intersection_test(&origin, &other, &origin, &moved);
                    count += u32::from(found.expect("supported").intersecting);
                }
            }
            f64::from(count)
        };
        self.ask(format!("all pairs, {}", placing.name()), poses, ours, theirs, 0.5)
    }

    fn rays(&self, coherent: bool) -> Score {
        let rays = mesh_rays(self.ours, coherent, self.effort.rays, 7);
        let ours = |(origin, direction): &(DVec3, DVec3)| {
            self.ours.cast_ray(*origin, *direction, 1e9).map_or(-1.0, |hit| hit.time)
        };
        let theirs = |(origin, direction): &(DVec3, DVec3)| {
            let ray = Ray::new(vector(*origin), vector(*direction));
            self.theirs.cast_local_ray(&ray, 1e9, false).unwrap_or(-1.0)
        };
        let name = if coherent { "ray, coherent" } else { "ray, random" };
        self.ask(name.into(), &rays, ours, theirs, 1e-8 * self.ours.bounding_radius())
    }

    /// parry in f32 gets its rays converted beforehand. Times may be off by its rounding, and a ray
    /// that slips past an edge in f32 counts as one that differs.
    fn single_rays(&self, coherent: bool) -> Score {
        let both = |(origin, direction): (DVec3, DVec3)| {
            let ray = parry3d::query::Ray::new(single(origin), single(direction));
            (origin, direction, ray)
        };
        let rays = mesh_rays(self.ours, coherent, self.effort.rays, 7).into_iter().map(both);
        let rays: Vec<_> = rays.collect();
        let ours = |(origin, direction, _): &(DVec3, DVec3, _)| {
            self.ours.cast_ray(*origin, *direction, 1e9).map_or(-1.0, |hit| hit.time)
        };
        let theirs = |(_, _, ray): &(DVec3, DVec3, parry3d::query::Ray)| {
            use parry3d::query::RayCast;
            self.single.cast_local_ray(ray, 1e9, false).map_or(-1.0, f64::from)
        };
        let name = if coherent { "ray, coherent, f32" } else { "ray, random, f32" };
        self.ask(name.into(), &rays, ours, theirs, SINGLE_TOLERANCE * self.ours.bounding_radius())
    }

    /// All rays in one question to ours, which answers them in an order of its own; next to parry
    /// in f32, as in `single_rays`.
    fn rays_at_once(&self, coherent: bool) -> Score {
        let rays = mesh_rays(self.ours, coherent, self.effort.rays, 7);
        let ray = |&(origin, direction): &(DVec3, DVec3)| MeshRay { origin, direction, limit: 1e9 };
        let own: Vec<MeshRay> = rays.iter().map(ray).collect();
        let ray = |&(origin, direction): &(DVec3, DVec3)| {
            parry3d::query::Ray::new(single(origin), single(direction))
        };
        let other: Vec<parry3d::query::Ray> = rays.iter().map(ray).collect();
        let workers = Workers::one();
        let mut least = [f64::INFINITY; 2];
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..self.effort.passes {
            let start = Instant::now();
            ours = black_box(self.ours.cast_rays(black_box(&own), &workers));
            least[0] = least[0].min(start.elapsed().as_secs_f64());
            let start = Instant::now();
            let cast = |ray: &parry3d::query::Ray| {
                parry3d::query::RayCast::cast_local_ray(self.single, black_box(ray), 1e9, false)
            };
            theirs = black_box(other.iter().map(cast).collect());
            least[1] = least[1].min(start.elapsed().as_secs_f64());
        }
        let tolerance = SINGLE_TOLERANCE * self.ours.bounding_radius();
        let differ = ours.iter().zip(&theirs).filter(|(ours, theirs)| {
            let ours = ours.map_or(-1.0, |hit| hit.time);
            (ours - theirs.map_or(-1.0, f64::from)).abs() > tolerance
        });
        let [ours_ns, theirs_ns] = least.map(|time| 1e9 * time / own.len().max(1) as f64);
        let kind = if coherent { "coherent" } else { "random" };
        Score {
            question: format!("rays at once, {kind}, f32"),
            asked: own.len(),
            ours: ours_ns,
            theirs: theirs_ns,
            differ: differ.count(),
        }
    }

    fn points(&self, near: bool) -> Score {
        let points = mesh_points(self.ours, near, self.effort.rays, 7);
        let ours = |point: &DVec3| self.ours.project(*point).distance;
        let theirs = |point: &DVec3| {
            let at = vector(*point);
            (self.theirs.project_local_point(at, false).point - at).length()
        };
        let name = if near { "closest point, near" } else { "closest point, far" };
        self.ask(name.into(), &points, ours, theirs, 1e-8 * self.ours.bounding_radius())
    }
}
