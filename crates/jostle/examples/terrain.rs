//! A box and a ball run down the slopes of two valleys and come to rest: one valley is a mesh, the
//! other a height field.
//!
//! The points of a touch have normals of their own, those of the ground and never those of the
//! edges between its triangles: nothing trips on the way down. The impulses of the solver stay with
//! the points in the world, which hands them on as long as the same features touch.

use std::error::Error;

use glam::{DQuat, DVec3};
use jostle::mesh::Mesh;
use jostle::shape::{HeightField, Pose, Shape};
use jostle::world::{Detail, Touch};
use jostle::{Body, BodyId, Filter, World};

const TIME: f64 = 1.0 / 120.0;
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const FRICTION: f64 = 0.5;
const ROUNDS: usize = 12;
/// Overlap that is left alone, so that points do not come and go.
const SLOP: f64 = 0.005;
/// Share of the other overlap that is corrected in a step.
const CORRECTION: f64 = 0.2;
/// Air and grass take this share of the motion in a step.
const DRAG: f64 = 0.01;
/// Vertices along a side of a valley, and the distance between them.
const SIDE: u32 = 41;
const CELL: f64 = 0.5;

/// A valley with bumps, over `0..20` in x and z.
fn height(x: f64, z: f64) -> f64 {
    let (x, z) = (x - 10.0, z - 10.0);
    0.04 * (x * x + z * z) + 0.02 * (3.0 * x).sin() * (2.0 * z).cos()
}

fn vertices() -> impl Iterator<Item = DVec3> {
    let at = |k: u32| CELL * f64::from(k);
    (0..SIDE * SIDE).map(move |k| {
        let (x, z) = (at(k % SIDE), at(k / SIDE));
        DVec3::new(x, height(x, z), z)
    })
}

fn mesh() -> Result<Shape, jostle::Error> {
    let mut triangles = Vec::new();
    for z in 0..SIDE - 1 {
        for x in 0..SIDE - 1 {
            let a = z * SIDE + x;
            let (b, c, d) = (a + 1, a + SIDE, a + SIDE + 1);
            // Diagonals to and fro, and some triangles upside down: it makes no difference.
            let two =
                if (x + z) % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, d, c], [a, d, b]] };
            triangles.extend(two);
        }
    }
    Ok(Shape::from(Mesh::new(vertices().collect(), triangles)?))
}

fn field() -> Result<Shape, jostle::Error> {
    let heights = vertices().map(|vertex| vertex.y).collect();
    Ok(Shape::from(HeightField::new(SIDE, [CELL; 2], heights)?))
}

#[derive(Clone, Copy)]
struct Solid {
    at: DVec3,
    turn: DQuat,
    velocity: DVec3,
    spin: DVec3,
    /// 0 for what does not move.
    inverse_mass: f64,
    inverse_inertia: f64,
}

impl Solid {
    fn push(&mut self, arm: DVec3, impulse: DVec3) {
        self.velocity += self.inverse_mass * impulse;
        self.spin += self.inverse_inertia * arm.cross(impulse);
    }

    fn softness(&self, arm: DVec3, direction: DVec3) -> f64 {
        self.inverse_mass + self.inverse_inertia * arm.cross(direction).length_squared()
    }

    fn advance(&mut self) {
        self.velocity *= 1.0 - DRAG;
        self.spin *= 1.0 - DRAG;
        self.at += TIME * self.velocity;
        self.turn = (DQuat::from_scaled_axis(TIME * self.spin) * self.turn).normalize();
    }
}

/// One contact point, and what the solver knows about it.
struct Constraint {
    touch: Touch,
    place: usize,
    bodies: [usize; 2],
    arms: [DVec3; 2],
    directions: [DVec3; 3],
    wanted: f64,
    impulses: [f64; 3],
}

impl Constraint {
    fn apply(&self, solids: &mut [Solid], impulse: DVec3) {
        solids[self.bodies[0]].push(self.arms[0], -impulse);
        solids[self.bodies[1]].push(self.arms[1], impulse);
    }

    fn solve(&mut self, solids: &mut [Solid]) {
        for (k, direction) in self.directions.into_iter().enumerate() {
            let [a, b] = self.bodies.map(|body| solids[body]);
            let velocity = |solid: &Solid, arm: DVec3| solid.velocity + solid.spin.cross(arm);
            let relative = velocity(&b, self.arms[1]) - velocity(&a, self.arms[0]);
            let softness =
                a.softness(self.arms[0], direction) + b.softness(self.arms[1], direction);
            let wanted = if k == 0 { self.wanted } else { 0.0 };
            let sum = self.impulses[k] + (wanted - relative.dot(direction)) / softness;
            let most = FRICTION * self.impulses[0];
            let sum = if k == 0 { sum.max(0.0) } else { sum.clamp(-most, most) };
            let change = sum - self.impulses[k];
            self.impulses[k] = sum;
            self.apply(solids, change * direction);
        }
    }
}

fn constraints(world: &World, solids: &[Solid]) -> Vec<Constraint> {
    let step = world.last_step();
    let mut list = Vec::new();
    for touch in step.touches {
        let bodies = [touch.pair.a().index(), touch.pair.b().index()];
        let impulses = step.impulses(touch);
        for (place, point) in step.points(touch).iter().enumerate() {
            let across = point.normal.any_orthonormal_vector();
            list.push(Constraint {
                touch: *touch,
                place,
                bodies,
                arms: [point.point_a - solids[bodies[0]].at, point.point_b - solids[bodies[1]].at],
                directions: [point.normal, across, point.normal.cross(across)],
                wanted: CORRECTION * (-point.separation - SLOP).max(0.0) / TIME,
                impulses: impulses.get(place).copied().unwrap_or_default(),
            });
        }
    }
    list
}

fn step(world: &mut World, ids: &[BodyId], solids: &mut [Solid]) -> Result<(), Box<dyn Error>> {
    for (&id, solid) in ids.iter().zip(&*solids).filter(|(_, solid)| solid.inverse_mass > 0.0) {
        world.set_pose(id, Pose::new(solid.turn, solid.at)?)?;
    }
    world.step()?;
    let mut points = constraints(world, solids);
    for solid in solids.iter_mut().filter(|solid| solid.inverse_mass > 0.0) {
        solid.velocity += TIME * GRAVITY;
    }
    for point in &points {
        // The ground never pushes sideways: its slopes are gentle.
        assert!(point.bodies[0] > 1 || point.directions[0].y > 0.7, "{:?}", point.directions[0]);
        let impulse = (0..3).map(|k| point.impulses[k] * point.directions[k]).sum();
        point.apply(solids, impulse);
    }
    for _ in 0..ROUNDS {
        points.iter_mut().for_each(|point| point.solve(solids));
    }
    for point in &points {
        if let Some(place) = world.impulses_mut(&point.touch).get_mut(point.place) {
            *place = point.impulses;
        }
    }
    solids.iter_mut().for_each(Solid::advance);
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::default();
    world.set_detail(Detail::Pieces);
    let solid = |at: DVec3, inverse_mass: f64, inverse_inertia: f64| Solid {
        at,
        turn: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        inverse_mass,
        inverse_inertia,
    };
    let (mut ids, mut solids) = (Vec::new(), Vec::new());
    let origins = [DVec3::ZERO, DVec3::new(30.0, 0.0, 0.0)];
    for (shape, origin) in [mesh()?, field()?].into_iter().zip(origins) {
        let body = Body::new(shape, Pose::at(origin)?).with_filter(Filter::STILL);
        ids.push(world.insert(body)?);
        solids.push(solid(origin, 0.0, 0.0));
    }
    for origin in origins {
        // A cube of side 1 has a sixth of its mass as moment of inertia, a ball two fifths of the
        // square of its radius.
        let start = origin + DVec3::new(4.0, height(4.0, 9.0) + 0.7, 9.0);
        ids.push(world.insert(Body::new(Shape::cuboid(DVec3::splat(0.5))?, Pose::at(start)?))?);
        solids.push(solid(start, 1.0, 6.0));
        let start = origin + DVec3::new(15.0, height(15.0, 12.0) + 0.7, 12.0);
        ids.push(world.insert(Body::new(Shape::sphere(0.5)?, Pose::at(start)?))?);
        solids.push(solid(start, 1.0, 10.0));
    }

    for _ in 0..1500 {
        step(&mut world, &ids, &mut solids)?;
    }

    for (k, solid) in solids.iter().enumerate().skip(2) {
        let (at, speed) = (solid.at - origins[usize::from(k > 3)], solid.velocity.length());
        println!("body {k}: at {at:.2}, speed {speed:.4}");
        assert!(speed < 0.05 && solid.spin.length() < 0.1, "it is at rest");
        let above = at.y - height(at.x, at.z);
        assert!((0.4..0.9).contains(&above), "it lies on the ground, {above} above it");
    }
    Ok(())
}
