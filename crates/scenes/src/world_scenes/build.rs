//! Where the bodies of each scene are at first.

use glam::{DQuat, DVec3};
use jostle::shape::Shape;

use super::{Joint, Planned};
use crate::Rng;
use crate::shape_pairs::random::{between, direction, rotation, small_turn, vector};

/// Bodies, and what joins them.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub bodies: Vec<Planned>,
    pub joints: Vec<Joint>,
    pub excluded: Vec<[usize; 2]>,
    pub runners: bool,
}

impl Plan {
    fn still(&mut self, half: DVec3, at: DVec3) {
        let shape = Shape::cuboid(half).expect("walls have sizes");
        self.push(shape, at, DQuat::IDENTITY, true);
    }

    fn push(&mut self, shape: Shape, at: DVec3, turn: DQuat, still: bool) {
        self.bodies.push(Planned { shape, at, turn, velocity: DVec3::ZERO, still });
    }

    /// A floor and four walls around a square from -half to half.
    fn bin(&mut self, half: f64, height: f64) {
        self.still(DVec3::new(half + 2.0, 1.0, half + 2.0), DVec3::new(0.0, -1.0, 0.0));
        for side in [-1.0, 1.0] {
            let (at, up) = (side * (half + 1.0), 0.5 * height);
            self.still(DVec3::new(1.0, up, half + 2.0), DVec3::new(at, up, 0.0));
            self.still(DVec3::new(half, up, 1.0), DVec3::new(0.0, up, at));
        }
    }
}

/// Places in layers of `side` by `side`, `pitch` apart, the lowest first.
fn layered(n: usize, side: usize, pitch: f64) -> impl Iterator<Item = DVec3> {
    let middle = 0.5 * pitch * (side as f64 - 1.0);
    (0..n).map(move |k| {
        let (x, z, y) = (k % side, k / side % side, k / (side * side));
        let place = DVec3::new(x as f64, y as f64, z as f64) * pitch;
        place - DVec3::new(middle, -0.55 * pitch, middle)
    })
}

fn side_of(n: usize, layers: f64) -> usize {
    ((n as f64 / layers).sqrt().ceil() as usize).max(1)
}

/// Boxes in eight layers, a little turned, on a wide floor.
pub(super) fn pile(n: usize, rng: &mut Rng) -> Plan {
    let mut plan = Plan::default();
    let side = side_of(n, 8.0);
    let wide = 2.0 * side as f64 + 20.0;
    plan.still(DVec3::new(wide, 1.0, wide), DVec3::new(0.0, -1.0, 0.0));
    for at in layered(n, side, 1.0) {
        let half = DVec3::splat(0.42) + vector(rng, 0.07);
        let turn = small_turn(vector(rng, 0.2));
        let shape = Shape::cuboid(half).expect("a legal size");
        plan.push(shape, at + vector(rng, 0.04), turn, false);
    }
    plan
}

/// Shapes of eight kinds, turned anyhow, that fall into a bin.
pub(super) fn pour(n: usize, rng: &mut Rng) -> Plan {
    let (mut plan, side) = (Plan::default(), side_of(n, 12.0));
    plan.bin(0.55 * side as f64, 40.0);
    for (k, at) in layered(n, side, 1.05).enumerate() {
        let shape = mixed(k, rng);
        plan.push(shape, at + vector(rng, 0.03), rotation(rng), false);
    }
    plan
}

fn mixed(number: usize, rng: &mut Rng) -> Shape {
    let [x, y, z] = std::array::from_fn(|_| between(rng, 0.22, 0.38));
    let shape = match number % 8 {
        0 => Shape::sphere(x + 0.1),
        1 => Shape::cuboid(DVec3::new(x, y, z)),
        2 => Shape::capsule(0.7 * x, y),
        3 => Shape::cylinder(x, y),
        4 => Shape::cone(x, y + 0.1),
        5 => Shape::ellipsoid(DVec3::new(x, y, z)),
        6 => {
            let stretch = DVec3::new(x, y, z) + 0.08;
            let points: Vec<DVec3> = (0..14).map(|_| direction(rng) * stretch).collect();
            Shape::hull(&points)
        }
        _ => {
            let arm = |half: DVec3| Shape::cuboid(half).expect("a legal size");
            let arms = [DVec3::new(x, 0.1, 0.1), DVec3::new(0.1, y, 0.1)];
            Shape::compound(arms.map(|half| (arm(half), Default::default())).to_vec())
        }
    };
    shape.expect("sizes are positive")
}

/// Balls of slightly different sizes in a bin.
pub(super) fn balls(n: usize, rng: &mut Rng) -> Plan {
    let (mut plan, side) = (Plan::default(), side_of(n, 16.0));
    plan.bin(0.51 * side as f64, 40.0);
    for at in layered(n, side, 1.0) {
        let shape = Shape::sphere(between(rng, 0.42, 0.49)).expect("a legal size");
        plan.push(shape, at + vector(rng, 0.02), DQuat::IDENTITY, false);
    }
    plan
}

/// Links of a chain.
const LINKS: usize = 20;

/// Chains that hang from fixed points, near enough to tangle when they swing.
pub(super) fn chains(n: usize, rng: &mut Rng) -> Plan {
    let mut plan = Plan::default();
    let count = n.div_ceil(LINKS);
    let side = side_of(count, 1.0);
    let (radius, half, top) = (0.15, 0.25, 12.0);
    plan.still(DVec3::new(100.0, 1.0, 100.0), DVec3::new(0.0, -1.0, 0.0));
    let arm = DVec3::new(0.0, half + 0.05, 0.0);
    let link = Shape::capsule(radius, half).expect("a legal size");
    for at in layered(count, side, 0.45) {
        let at = DVec3::new(at.x, top, at.z);
        let velocity = DVec3::new(between(rng, -6.0, 6.0), 0.0, between(rng, -6.0, 6.0));
        for k in 0..LINKS.min(n + 1 - plan.bodies.len()) {
            let (number, low) = (plan.bodies.len(), 2.0 * arm.y * (k as f64 + 0.5));
            plan.push(link.clone(), at - DVec3::new(0.0, low, 0.0), DQuat::IDENTITY, false);
            plan.bodies[number].velocity = velocity * (k as f64 / LINKS as f64);
            plan.joints.push(match k {
                0 => Joint { bodies: [0, number], arms: [at + DVec3::Y, arm] },
                _ => Joint { bodies: [number - 1, number], arms: [-arm, arm] },
            });
            if k > 0 {
                plan.excluded.push([number - 1, number]);
            }
        }
    }
    plan
}

/// A field of still boxes of different heights, a tenth of the bodies on it.
pub(super) fn level(n: usize, rng: &mut Rng) -> Plan {
    let mut plan = Plan { runners: true, ..Plan::default() };
    let moving = n.div_ceil(10);
    let side = side_of(n - moving, 1.0).max(2);
    let pitch = 2.0;
    let half = 0.5 * pitch * side as f64;
    plan.bin(half, 12.0);
    for at in layered(n - moving, side, pitch) {
        let up = between(rng, 0.05, 0.35);
        let size = DVec3::new(between(rng, 0.4, 1.0), up, between(rng, 0.4, 1.0));
        plan.still(size, DVec3::new(at.x, up, at.z));
    }
    for k in 0..moving {
        let at = DVec3::new(between(rng, -half, half), 1.6, between(rng, -half, half)) * 0.95;
        let shape = match k % 3 {
            0 => Shape::capsule(0.3, 0.4),
            1 => Shape::sphere(0.4),
            _ => Shape::cuboid(DVec3::new(0.3, 0.4, 0.3)),
        };
        plan.push(shape.expect("a legal size"), at, DQuat::IDENTITY, false);
    }
    plan
}
