//! A stack of boxes comes to rest: what a physics engine does with a [`World`].
//!
//! The world finds contact manifolds: up to four points a pair, with ids that stay the same from
//! step to step. A small solver turns them into impulses: it goes over all points again and again
//! and corrects one at a time (sequential impulses), beginning with the impulses that the same
//! points had in the last step. That memory is what lets a stack stand still.

use std::collections::BTreeMap;
use std::error::Error;

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::world::Detail;
use jostle::{Algorithm, Body, BodyId, BodyPair, Filter, World};

const BOXES: usize = 5;
const TIME: f64 = 1.0 / 60.0;
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const FRICTION: f64 = 0.6;
const ROUNDS: usize = 12;
/// Overlap that is left alone, so that points do not come and go.
const SLOP: f64 = 0.005;
/// Share of the other overlap that is corrected in a step.
const CORRECTION: f64 = 0.2;

/// A box with its motion.
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
    fn velocity_at(&self, arm: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(arm)
    }

    fn push(&mut self, arm: DVec3, impulse: DVec3) {
        self.velocity += self.inverse_mass * impulse;
        self.spin += self.inverse_inertia * arm.cross(impulse);
    }

    /// How much the velocity at a point changes along a direction for an impulse of 1.
    fn softness(&self, arm: DVec3, direction: DVec3) -> f64 {
        self.inverse_mass + self.inverse_inertia * arm.cross(direction).length_squared()
    }

    fn advance(&mut self) {
        self.at += TIME * self.velocity;
        self.turn = (DQuat::from_scaled_axis(TIME * self.spin) * self.turn).normalize();
    }
}

/// One point of a manifold, and what the solver knows about it.
struct Constraint {
    key: (BodyPair, u64),
    bodies: [usize; 2],
    arms: [DVec3; 2],
    /// The normal, and two directions across it.
    directions: [DVec3; 3],
    /// Velocity along the normal that corrects the overlap.
    wanted: f64,
    /// Impulses so far in this step.
    impulses: [f64; 3],
}

impl Constraint {
    fn apply(&self, solids: &mut [Solid], impulse: DVec3) {
        let [a, b] = self.bodies;
        solids[a].push(self.arms[0], -impulse);
        solids[b].push(self.arms[1], impulse);
    }

    /// Corrects the velocities at this point: along the normal they may only push, across it no
    /// harder than friction allows.
    fn solve(&mut self, solids: &mut [Solid]) {
        for (k, direction) in self.directions.into_iter().enumerate() {
            let [a, b] = self.bodies.map(|body| &solids[body]);
            let relative = b.velocity_at(self.arms[1]) - a.velocity_at(self.arms[0]);
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

/// Impulses of the last step, by pair and point.
type Memory = BTreeMap<(BodyPair, u64), [f64; 3]>;

fn constraints(world: &mut World, solids: &[Solid]) -> Result<Vec<Constraint>, jostle::Error> {
    let step = world.step()?;
    let mut list = Vec::new();
    for touch in step.touches {
        let bodies = [touch.pair.a().index(), touch.pair.b().index()];
        let normal = touch.contact.normal;
        let across = normal.any_orthonormal_vector();
        for point in step.points(touch) {
            let overlap = (-point.separation - SLOP).max(0.0);
            list.push(Constraint {
                key: (touch.pair, point.id),
                bodies,
                arms: [point.point_a - solids[bodies[0]].at, point.point_b - solids[bodies[1]].at],
                directions: [normal, across, normal.cross(across)],
                wanted: CORRECTION * overlap / TIME,
                impulses: [0.0; 3],
            });
        }
    }
    Ok(list)
}

fn step(
    world: &mut World,
    ids: &[BodyId],
    solids: &mut [Solid],
    memory: &mut Memory,
) -> Result<(), Box<dyn Error>> {
    let poses: Result<Vec<Pose>, _> =
        solids.iter().map(|solid| Pose::new(solid.turn, solid.at)).collect();
    world.set_poses(ids, &poses?)?;
    let mut points = constraints(world, solids)?;
    for solid in solids.iter_mut().filter(|solid| solid.inverse_mass > 0.0) {
        solid.velocity += TIME * GRAVITY;
    }
    for point in &mut points {
        point.impulses = memory.get(&point.key).copied().unwrap_or_default();
        let impulse = (0..3).map(|k| point.impulses[k] * point.directions[k]).sum();
        point.apply(solids, impulse);
    }
    for _ in 0..ROUNDS {
        points.iter_mut().for_each(|point| point.solve(solids));
    }
    *memory = points.iter().map(|point| (point.key, point.impulses)).collect();
    solids.iter_mut().for_each(Solid::advance);
    Ok(())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let mut world = World::new(Algorithm::Auto);
    world.set_detail(Detail::Manifold);
    let at_rest = |at: DVec3, inverse_mass: f64| Solid {
        at,
        turn: DQuat::IDENTITY,
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        inverse_mass,
        // A cube of side 1 has the moment of inertia m / 6 about every axis.
        inverse_inertia: 6.0 * inverse_mass,
    };
    let mut solids = vec![at_rest(DVec3::new(0.0, -0.5, 0.0), 0.0)];
    let floor = Shape::cuboid(DVec3::new(10.0, 0.5, 10.0))?;
    let mut ids =
        vec![world.insert(Body::new(floor, Pose::at(solids[0].at)?).with_filter(Filter::STILL))?];
    for k in 0..BOXES {
        // Dropped from a little above each other, and not quite straight.
        let at = DVec3::new(0.02 * (k % 2) as f64, 0.6 + 1.1 * k as f64, 0.01 * k as f64);
        solids.push(at_rest(at, 1.0));
        ids.push(world.insert(Body::new(Shape::cuboid(DVec3::splat(0.5))?, Pose::at(at)?))?);
    }

    let mut memory = Memory::new();
    for _ in 0..300 {
        step(&mut world, &ids, &mut solids, &mut memory)?;
    }

    for (k, solid) in solids.iter().enumerate().skip(1) {
        let (height, speed) = (solid.at.y, solid.velocity.length());
        println!("box {k}: height {height:.3}, speed {speed:.4}");
        assert!((height - (k as f64 - 0.5)).abs() < 0.05, "it stands on the one below");
        assert!(speed < 0.02 && solid.spin.length() < 0.02, "it is at rest");
    }
    let touches = world.last_step().touches;
    assert_eq!(touches.len(), BOXES, "each box touches the one below, and nothing else");
    assert!(memory.len() == 4 * BOXES, "with four points each");
    Ok(())
}
