//! Impulses at contact points and joints: what moves the bodies of a scene.
//!
//! Sequential impulses: all points are gone over a few times, each corrected on its own, beginning
//! with the impulses that the same points had in the last frame. Inertia is that of a ball of the
//! body's radius, which tumbles well enough.

use glam::{DQuat, DVec3};
use jostle::shape::Pose;
use jostle::world::{BodyPair, Step};

use crate::shape_pairs::random::small_turn;

const TIME: f64 = 1.0 / 60.0;
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
const FRICTION: f64 = 0.5;
const ROUNDS: usize = 6;
/// Share of the speed that is left after a frame.
const DAMPING: f64 = 0.998;
/// Overlap that is left alone, so that points do not come and go.
const SLOP: f64 = 0.005;
/// Share of the other overlap that is corrected in a frame.
const CORRECTION: f64 = 0.2;
/// No faster than this, in metres a second.
const FASTEST: f64 = 30.0;

/// A body in motion.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    at: DVec3,
    turn: DQuat,
    pub velocity: DVec3,
    spin: DVec3,
    /// 0 for what does not move.
    inverse_mass: f64,
    inverse_inertia: f64,
}

impl Solid {
    pub(super) fn new(
        at: DVec3,
        turn: DQuat,
        velocity: DVec3,
        inverse_mass: f64,
        radius: f64,
    ) -> Solid {
        let inverse_inertia = inverse_mass * 2.5 / (radius * radius);
        Solid { at, turn, velocity, spin: DVec3::ZERO, inverse_mass, inverse_inertia }
    }

    pub(super) fn is_still(&self) -> bool {
        self.inverse_mass == 0.0
    }

    /// Moves on by a frame.
    pub(super) fn advance(&mut self) -> Pose {
        self.velocity = (self.velocity * DAMPING).clamp_length_max(FASTEST);
        self.spin = (self.spin * DAMPING).clamp_length_max(FASTEST);
        self.at += TIME * self.velocity;
        self.turn = (small_turn(TIME * self.spin) * self.turn).normalize();
        Pose::new(self.turn, self.at).expect("speeds are bounded")
    }

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
}

/// Holds a point of one body to a point of another, each in its body's own frame.
#[derive(Clone, Debug)]
pub(super) struct Joint {
    pub bodies: [usize; 2],
    pub arms: [DVec3; 2],
}

/// Corrects the velocities of two bodies at one point.
#[derive(Clone, Debug)]
struct Constraint {
    /// The pair and the point's id; nothing for joints.
    key: Option<(BodyPair, u64)>,
    bodies: [usize; 2],
    arms: [DVec3; 2],
    /// The normal, and two directions across it.
    directions: [DVec3; 3],
    /// Velocities wanted along them.
    wanted: DVec3,
    softness: [f64; 3],
    /// Impulses so far in this frame.
    impulses: [f64; 3],
}

impl Constraint {
    fn new(bodies: [usize; 2], arms: [DVec3; 2], normal: DVec3, solids: &[Solid]) -> Constraint {
        let across = normal.any_orthonormal_vector();
        let directions = [normal, across, normal.cross(across)];
        let [a, b] = bodies.map(|body| &solids[body]);
        let softness = directions.map(|d| a.softness(arms[0], d) + b.softness(arms[1], d));
        let (key, wanted, impulses) = (None, DVec3::ZERO, [0.0; 3]);
        Constraint { key, bodies, arms, directions, wanted, softness, impulses }
    }

    fn apply(&self, solids: &mut [Solid], impulse: DVec3) {
        let [a, b] = self.bodies;
        solids[a].push(self.arms[0], -impulse);
        solids[b].push(self.arms[1], impulse);
    }

    fn begin(&self, solids: &mut [Solid]) {
        let impulse = (0..3).map(|k| self.impulses[k] * self.directions[k]).sum();
        self.apply(solids, impulse);
    }

    /// Contacts may only push, and no harder across than friction allows; joints hold.
    fn solve(&mut self, solids: &mut [Solid]) {
        for (k, direction) in self.directions.into_iter().enumerate() {
            let [a, b] = self.bodies.map(|body| &solids[body]);
            let relative = b.velocity_at(self.arms[1]) - a.velocity_at(self.arms[0]);
            let missing = self.wanted[k] - relative.dot(direction);
            let mut sum = self.impulses[k] + missing / self.softness[k];
            if self.key.is_some() {
                let most = FRICTION * self.impulses[0];
                sum = if k == 0 { sum.max(0.0) } else { sum.clamp(-most, most) };
            }
            let change = sum - self.impulses[k];
            self.impulses[k] = sum;
            self.apply(solids, change * direction);
        }
    }
}

/// Solves for the impulses of a frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    joints: Vec<Joint>,
    /// Joints first, then contact points in the order of their keys.
    points: Vec<Constraint>,
    last: Vec<Constraint>,
}

impl Solver {
    pub(super) fn new(joints: Vec<Joint>) -> Solver {
        Solver { joints, ..Solver::default() }
    }

    /// Gives the bodies the velocities of the next frame.
    pub(super) fn solve(&mut self, step: &Step<'_>, solids: &mut [Solid]) {
        std::mem::swap(&mut self.points, &mut self.last);
        self.points.clear();
        self.join(solids);
        self.touch(step, solids);
        self.remember();
        for solid in solids.iter_mut().filter(|solid| !solid.is_still()) {
            solid.velocity += TIME * GRAVITY;
        }
        self.points.iter().for_each(|point| point.begin(solids));
        for _ in 0..ROUNDS {
            self.points.iter_mut().for_each(|point| point.solve(solids));
        }
    }

    fn join(&mut self, solids: &[Solid]) {
        for joint in &self.joints {
            let [a, b] = joint.bodies.map(|body| &solids[body]);
            let arms = [a.turn * joint.arms[0], b.turn * joint.arms[1]];
            let apart = (b.at + arms[1]) - (a.at + arms[0]);
            let mut point = Constraint::new(joint.bodies, arms, DVec3::Y, solids);
            let wanted = point.directions.map(|d| -CORRECTION * apart.dot(d) / TIME);
            point.wanted = DVec3::from_array(wanted);
            self.points.push(point);
        }
    }

    fn touch(&mut self, step: &Step<'_>, solids: &[Solid]) {
        for touch in step.touches {
            let bodies = [touch.pair.a().index(), touch.pair.b().index()];
            for at in step.points(touch) {
                let arms = [at.point_a - solids[bodies[0]].at, at.point_b - solids[bodies[1]].at];
                let mut point = Constraint::new(bodies, arms, at.normal, solids);
                let overlap = (-at.separation - SLOP).max(0.0);
                point.wanted.x = (CORRECTION * overlap / TIME).min(2.0);
                point.key = Some((touch.pair, at.id));
                self.points.push(point);
            }
        }
    }

    /// Takes the impulses of the last frame over: both lists are in the order of their keys.
    fn remember(&mut self) {
        let joints = self.joints.len().min(self.last.len());
        let (held, touching) = self.last.split_at(joints);
        for (point, last) in self.points.iter_mut().zip(held) {
            point.impulses = last.impulses;
        }
        let mut last = touching.iter().peekable();
        for point in &mut self.points[joints..] {
            while last.next_if(|last| last.key < point.key).is_some() {}
            if let Some(same) = last.next_if(|last| last.key == point.key) {
                point.impulses = same.impulses;
            }
        }
    }
}
