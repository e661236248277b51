//! Whole steps of moving worlds, from poses to contact manifolds, next to rapier3d's
//! `CollisionPipeline` on the same poses.
//!
//! Both must find the same touching pairs. rapier computes in f32 and has no ellipsoids: pairs
//! whose depth or distance is within a thousandth of touching, and those with an ellipsoid (for
//! rapier a hull of 162 corners), may differ. rapier clips faces of cylinders and cones that it has
//! made polygons of, and then some pairs that overlap have no point that does; where the two
//! differ by more, parry's boolean test of the same two shapes decides whether we are wrong.

use std::collections::BTreeSet;
use std::io::Write;

use clap::Args;
use glam::DVec3;
use jostle::shape::{Hull, Pose, Shape};
use jostle::world::Detail;
use jostle::{Algorithm, Body, BodyId, World, narrow};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{Sorted, WorldKind, WorldScene, median};
use rapier3d::geometry::{ColliderBuilder, ColliderHandle};
use rapier3d::parry::query::intersection_test;
use rapier3d::prelude as rapier;

use crate::stopwatch::milliseconds;

/// Times a world's whole steps next to rapier3d's collision pipeline
#[derive(Args, Debug)]
pub struct WorldRivalsArgs {
    /// Scenes by name, or all
    #[arg(long, value_delimiter = ',', default_value = "all")]
    scene: Vec<String>,
    /// Number of bodies; each scene has a usual one
    #[arg(long, value_parser = names::positive)]
    n: Option<usize>,
    /// Number of frames that are timed
    #[arg(long, value_parser = names::positive, default_value = "20")]
    frames: usize,
}

/// rapier3d's broad and narrow phase.
struct Rapier {
    pipeline: rapier::CollisionPipeline,
    islands: rapier::IslandManager,
    broad: rapier::BroadPhaseBvh,
    narrow: rapier::NarrowPhase,
    bodies: rapier::RigidBodySet,
    colliders: rapier::ColliderSet,
    handles: Vec<ColliderHandle>,
}

/// The distance up to which rapier makes contact points, in metres: its usual one.
const PREDICTION: f32 = 0.002;

impl Rapier {
    fn new(bodies: &[Body]) -> Rapier {
        let mut all = Rapier {
            pipeline: rapier::CollisionPipeline::new(),
            islands: rapier::IslandManager::new(),
            broad: rapier::BroadPhaseBvh::new(),
            narrow: rapier::NarrowPhase::new(),
            bodies: rapier::RigidBodySet::new(),
            colliders: rapier::ColliderSet::new(),
            handles: Vec::new(),
        };
        for (number, body) in bodies.iter().enumerate() {
            let mut collider = collider(&body.shape).position(pose(&body.pose));
            if !body.filter.still {
                collider = collider.active_collision_types(rapier::ActiveCollisionTypes::all());
            }
            let collider = collider.user_data(number as u128);
            all.handles.push(all.colliders.insert(collider));
        }
        all
    }

    fn set(&mut self, bodies: &[Body], poses: &[Pose]) {
        for ((handle, body), at) in self.handles.iter().zip(bodies).zip(poses) {
            if !body.filter.still {
                self.colliders[*handle].set_position(pose(at));
            }
        }
    }

    fn step(&mut self) {
        self.pipeline.step(
            PREDICTION,
            &mut self.islands,
            &mut self.broad,
            &mut self.narrow,
            &mut self.bodies,
            &mut self.colliders,
            &(),
            &(),
        );
    }

    /// Whether two bodies overlap by parry's boolean test, without points.
    fn overlap(&self, a: usize, b: usize) -> Option<bool> {
        let [one, other] = [a, b].map(|body| &self.colliders[self.handles[body]]);
        let (at, there) = (one.position(), other.position());
        let found = intersection_test(at, one.shape(), there, other.shape()).ok()?;
        Some(found.intersecting)
    }

    /// Pairs with a point that does not part them, by the places of their bodies.
    fn touching(&self) -> BTreeSet<[usize; 2]> {
        let place = |handle: ColliderHandle| self.colliders[handle].user_data as usize;
        let touches = |pair: &&rapier::ContactPair| {
            pair.manifolds().iter().flat_map(|manifold| &manifold.points).any(|p| p.dist <= 0.0)
        };
        let pairs = self.narrow.contact_pairs().filter(touches);
        let places = pairs.map(|pair| [place(pair.collider1), place(pair.collider2)]);
        places.map(|[a, b]| [a.min(b), a.max(b)]).collect()
    }
}

fn vector(v: DVec3) -> rapier::Vector {
    rapier::Vector::new(v.x as f32, v.y as f32, v.z as f32)
}

fn pose(pose: &Pose) -> rapier::Pose {
    let [x, y, z, w] = pose.rotation().to_array().map(|part| part as f32);
    let turn = rapier::Rotation::from_xyzw(x, y, z, w);
    rapier::Pose::from_parts(vector(pose.translation()), turn)
}

fn hull(points: impl Iterator<Item = DVec3>) -> ColliderBuilder {
    let points: Vec<rapier::Vector> = points.map(vector).collect();
    ColliderBuilder::convex_hull(&points).expect("scenes have solid hulls")
}

fn collider(shape: &Shape) -> ColliderBuilder {
    let number = |value: &f64| *value as f32;
    match shape {
        Shape::Sphere { radius } => ColliderBuilder::ball(number(radius)),
        Shape::Cuboid { half_extents: half } => {
            ColliderBuilder::cuboid(number(&half.x), number(&half.y), number(&half.z))
        }
        Shape::Capsule { radius, half_height } => {
            ColliderBuilder::capsule_y(number(half_height), number(radius))
        }
        Shape::Cylinder { radius, half_height } => {
            ColliderBuilder::cylinder(number(half_height), number(radius))
        }
        Shape::Cone { radius, half_height } => {
            ColliderBuilder::cone(number(half_height), number(radius))
        }
        Shape::Ellipsoid { radii } => {
            let ball = Hull::icosphere(1.0, 2).expect("a unit ball");
            hull(ball.vertices().iter().map(|&corner| corner * *radii))
        }
        Shape::Hull(points) => hull(points.vertices().iter().copied()),
        Shape::Compound(compound) => {
            let part = |piece: &jostle::shape::Piece| {
                (pose(&piece.pose), collider(&piece.shape).build().shared_shape().clone())
            };
            ColliderBuilder::compound(compound.pieces().iter().map(part).collect())
        }
        _ => unreachable!("scenes have no such shapes"),
    }
}

/// Runs the subcommand.
pub fn run(args: &WorldRivalsArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let all = args.scene.iter().any(|name| name == "all");
    let known = || WorldKind::ALL.iter().map(|kind| kind.name);
    if let Some(name) =
        args.scene.iter().find(|name| *name != "all" && !known().any(|k| k == *name))
    {
        return Err(Failure::Input(names::unknown("scene", name, known())));
    }
    let named = |kind: &&WorldKind| all || args.scene.iter().any(|name| name == kind.name);
    let rows: Vec<Vec<String>> = WorldKind::ALL
        .iter()
        .filter(named)
        .map(|kind| contest(kind, args.n.unwrap_or(kind.usual), args.frames))
        .collect::<Result<_, _>>()?;
    let header =
        ["scene", "bodies", "touches", "ours ms", "rapier3d ms", "rapier / ours", "doubtful pairs"];
    write!(out, "{}", table(&header, &rows, &[0]))?;
    Ok(())
}

/// One scene: both see each frame before the next.
fn contest(kind: &WorldKind, n: usize, frames: usize) -> Result<Vec<String>, Failure> {
    let mut scene = WorldScene::new(kind, n, 1);
    (0..kind.settle).for_each(|_| scene.advance());
    let mut world = World::new(Algorithm::Auto);
    world.set_detail(Detail::Manifold);
    let ids = world.insert_all(scene.bodies().to_vec()).map_err(Failure::input)?;
    for [one, other] in scene.excluded() {
        world.exclude(ids[*one], ids[*other]).map_err(Failure::input)?;
    }
    let mut rapier = Rapier::new(scene.bodies());
    let (mut ours, mut theirs, mut doubtful) = (Vec::new(), Vec::new(), 0);
    for frame in 0..frames + 2 {
        scene.advance();
        world.set_poses(&ids, scene.poses()).map_err(Failure::input)?;
        rapier.set(scene.bodies(), scene.poses());
        let own = milliseconds(|| drop(world.step()));
        let other = milliseconds(|| rapier.step());
        if frame >= 2 {
            ours.push(own);
            theirs.push(other);
        }
        doubtful += compare(kind, &world, &ids, &rapier, scene.excluded())?;
    }
    let ratio = median(ours.iter().zip(&theirs).map(|(own, other)| other / own));
    Ok(vec![
        kind.name.into(),
        ids.len().to_string(),
        world.last_step().touches.len().to_string(),
        format!("{:.2}", Sorted::new(ours).median()),
        format!("{:.2}", Sorted::new(theirs).median()),
        format!("{ratio:.2}×"),
        doubtful.to_string(),
    ])
}

/// Fails if one finds a pair that the other must find too. Returns the number of doubtful pairs.
fn compare(
    kind: &WorldKind,
    world: &World,
    ids: &[BodyId],
    rapier: &Rapier,
    excluded: &[[usize; 2]],
) -> Result<usize, Failure> {
    let touches = world.last_step().touches.iter();
    let ours: BTreeSet<[usize; 2]> =
        touches.map(|touch| [touch.pair.a().index(), touch.pair.b().index()]).collect();
    let mut doubtful = 0;
    for &[a, b] in ours.symmetric_difference(&rapier.touching()) {
        let (one, other) = (world.placed(ids[a]), world.placed(ids[b]));
        let (Some(one), Some(other)) = (one, other) else { continue };
        let curved = [one.shape, other.shape].iter().any(|s| matches!(s, Shape::Ellipsoid { .. }));
        let apart = narrow::contact(&one, &other).signed_distance();
        if excluded.contains(&[a, b]) {
            continue;
        }
        let touch = ours.contains(&[a, b]);
        if !curved && apart.abs() > 1e-3 && rapier.overlap(a, b) != Some(touch) {
            let says = if touch { "a touch" } else { "none" };
            return Err(Failure::Check(format!(
                "{}: bodies {a} and {b} are {apart} apart; the world has {says}, rapier and parry \
                 say otherwise",
                kind.name
            )));
        }
        doubtful += 1;
    }
    Ok(doubtful)
}
