//! `campbell`: the rigid-body world of G. Campbell (*Broadphase Collision Detection on the Cell
//! Processor*, section 3.2).
//!
//! Cubes in a cubical world. A share is static; the others fly straight on, pass through each
//! other, and have their velocity inverted on an axis when they reach the bounds. With `rotate`
//! the cubes also turn, and each box is rebuilt around its turned cube; the thesis has this in
//! its framework and leaves it off in its experiments, as the default here does. The world is
//! the same for 64 to 1024 cubes, as there; above that it grows, so that the density of the
//! largest test stays.
//!
//! Orientations are quaternions stepped by their derivative and normalised with a square root:
//! no trigonometry, the same bits everywhere. One departure: a cube that has gone beyond the
//! bounds is put back to them, so that nothing ever leaves the world.

use super::{Motion, around, clipped, share_of};
use crate::catalog::Values;
use crate::math::cube_root;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// The most cubes in the thesis' tests.
const LARGEST_TEST: f64 = 1024.0;

/// The cubes that move.
pub(super) struct Campbell {
    bodies: Vec<Body>,
    rotate: bool,
}

struct Body {
    slot: u32,
    centre: [f32; 3],
    velocity: [f32; 3],
    /// Half the turn per frame about each axis.
    half_spin: [f32; 3],
    /// x, y, z, w.
    orientation: [f32; 4],
}

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, Campbell) {
    let growth = cube_root((n as f64 / LARGEST_TEST).max(1.0));
    let side = (values.get_or("bounds", 25.0) * growth) as f32;
    let world = Aabb::new([0.0; 3], [side; 3]);
    let rotate = values.get_or("rotate", 0.0) != 0.0;
    let movers = n - share_of(values.get_or("static_share", 0.9), n);
    let moves = rng.choose(movers, n);
    let mut campbell = Campbell { bodies: Vec::with_capacity(movers), rotate };
    let mut boxes = Vec::with_capacity(n);
    for (slot, &moves) in moves.iter().enumerate() {
        let body = Body::draw(slot as u32, values, side, rng);
        boxes.push(body.aabb(&world));
        if moves {
            campbell.bodies.push(body);
        }
    }
    let still = Some(moves.iter().map(|&moves| !moves).collect());
    (Frame { world, boxes, still, ..Frame::default() }, campbell)
}

impl Motion for Campbell {
    fn advance(&mut self, frame: &mut Frame) {
        for body in &mut self.bodies {
            if self.rotate {
                body.turn();
            }
            body.fly(&frame.world);
            frame.boxes[body.slot as usize] = body.aabb(&frame.world);
        }
    }
}

impl Body {
    /// A cube at a random place; turned only if the scene rotates.
    fn draw(slot: u32, values: &Values, side: f32, rng: &mut Rng) -> Body {
        let speed = values.get_or("speed", 0.1) as f32;
        let half_spin = 0.5 * values.get_or("spin", 0.05) as f32;
        let velocity = rng.direction().map(|x| x * speed);
        let half_spin = rng.direction().map(|x| x * half_spin);
        let turned = [rng.between(-1.0, 1.0), rng.between(-1.0, 1.0), rng.between(-1.0, 1.0), 1.0];
        let rotate = values.get_or("rotate", 0.0) != 0.0;
        let orientation = if rotate { normalised(turned) } else { [0.0, 0.0, 0.0, 1.0] };
        let centre = [0.0; 3];
        let mut body = Body { slot, centre, velocity, half_spin, orientation };
        let half = body.half_extents();
        body.centre = half.map(|half| rng.between(half, side - half));
        body
    }

    fn fly(&mut self, world: &Aabb) {
        let half = self.half_extents();
        for (k, half) in half.into_iter().enumerate() {
            let (low, high) = (world.min[k] + half, world.max[k] - half);
            let at = self.centre[k] + self.velocity[k];
            let speed = self.velocity[k].abs();
            if at < low {
                self.velocity[k] = speed;
            } else if at > high {
                self.velocity[k] = -speed;
            }
            self.centre[k] = at.clamp(low, high);
        }
    }

    /// One step of q' = q + (spin / 2) q.
    fn turn(&mut self) {
        let [x, y, z, w] = self.orientation;
        let [a, b, c] = self.half_spin;
        self.orientation = normalised([
            x + (a * w + b * z - c * y),
            y + (b * w + c * x - a * z),
            z + (c * w + a * y - b * x),
            w - (a * x + b * y + c * z),
        ]);
    }

    /// Half the size of the box around the turned unit cube: half the row sums of the rotation
    /// matrix without its signs.
    fn half_extents(&self) -> [f32; 3] {
        let [x, y, z, w] = self.orientation;
        let row = |a: f32, b: f32, c: f32| 0.5 * (a.abs() + b.abs() + c.abs());
        [
            row(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
            row(2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
            row(2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
        ]
    }

    fn aabb(&self, world: &Aabb) -> Aabb {
        clipped(around(self.centre, self.half_extents()), world)
    }
}

fn normalised(q: [f32; 4]) -> [f32; 4] {
    let length = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
    q.map(|x| x / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(orientation: [f32; 4]) -> Body {
        let (centre, velocity) = ([5.0; 3], [0.0; 3]);
        Body { slot: 0, centre, velocity, half_spin: [0.0, 0.0, 0.025], orientation }
    }

    #[test]
    fn a_cube_turned_by_an_eighth_is_wider_by_the_square_root_of_two() {
        // (0, 0, sin 22.5°, cos 22.5°)
        let body = turned([0.0, 0.0, 0.382_683_43, 0.923_879_5]);
        let half = body.half_extents();
        assert!((half[0] - 0.5 * 2.0f32.sqrt()).abs() < 1e-6 && (half[2] - 0.5).abs() < 1e-6);
    }

    #[test]
    fn turning_goes_on_at_the_stated_rate_and_stays_a_rotation() {
        let mut body = turned([0.0, 0.0, 0.0, 1.0]);
        // A full turn takes 2 pi / 0.05 = 125.7 frames; after 126 it is nearly upright again.
        let mut widest = 0.0f32;
        for _ in 0..126 {
            body.turn();
            widest = widest.max(body.half_extents()[0]);
        }
        assert!((widest - 0.5 * 2.0f32.sqrt()).abs() < 1e-3, "{widest}");
        assert!(body.half_extents()[0] < 0.52, "{:?}", body.half_extents());
    }
}
