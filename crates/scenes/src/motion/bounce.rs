//! `uniform`, `tenth`, `still`, `sizes`: boxes in a cube that fly through each other and bounce
//! off the walls.
//!
//! The synthetic test of Capannini and Larsson (*Adaptive Collision Culling for Massive
//! Simulations by a Parallel and Context-Aware Sweep and Prune Algorithm*) and of Tracy, Buss
//! and Woods (*Efficient Large-Scale Sweep and Prune Methods with AABB Insertion and Removal*).
//! The mean width is 1. Density is the sum of the boxes' volumes over the world's volume, as in
//! both papers; the world's side follows from the sizes actually drawn, so it is met exactly.
//! The world is never narrower than its widest box. One pass per frame, 48 bytes per box.

use super::{Motion, share_of};
use crate::catalog::Values;
use crate::math::{cube_root, power_of_two};
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// The moving boxes and the cube they live in.
pub(super) struct Bounce {
    pub(super) side: f32,
    /// The slots that move, ascending.
    movers: Vec<u32>,
    /// Size and velocity of each mover, in the order of `movers`.
    bodies: Vec<Body>,
}

#[derive(Clone, Copy)]
struct Body {
    size: [f32; 3],
    velocity: [f32; 3],
}

/// The size of one box; `uniform` draws three sides, `sizes` one for a cube.
pub(super) fn draw_size(values: &Values, rng: &mut Rng) -> [f32; 3] {
    if let Some(decades) = values.find("decades") {
        // log2(10), so that the exponent counts decades.
        let exponent = rng.unit_f64() * decades * std::f64::consts::LOG2_10;
        return [power_of_two(exponent) as f32; 3];
    }
    let spread = values.get_or("spread", 0.0) as f32;
    std::array::from_fn(|_| rng.between(1.0 - spread, 1.0 + spread))
}

/// The side of the cube in which the sizes have the given density.
pub(super) fn world_side(sizes: &[[f32; 3]], density: f64) -> f32 {
    let volume: f64 = sizes.iter().map(|s| s.iter().map(|&x| f64::from(x)).product::<f64>()).sum();
    let widest = sizes.iter().flatten().fold(1.0f32, |widest, &side| widest.max(side));
    (cube_root(volume / density) as f32).max(widest)
}

/// A box of this size at a random place in the cube.
pub(super) fn place(size: [f32; 3], side: f32, rng: &mut Rng) -> Aabb {
    let min: [f32; 3] = size.map(|width| rng.between(0.0, side - width));
    Aabb::new(min, std::array::from_fn(|k| (min[k] + size[k]).min(side)))
}

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, Bounce) {
    let sizes: Vec<[f32; 3]> = (0..n).map(|_| draw_size(values, rng)).collect();
    let side = world_side(&sizes, values.get_or("density", 0.05));
    let boxes = sizes.iter().map(|&size| place(size, side, rng)).collect();
    let still_scene = values.info.name == "still";
    let moving = values.get_or("moving", if still_scene { 0.0 } else { 1.0 });
    let chosen = rng.choose(share_of(moving, n), n);
    let movers: Vec<u32> = (0..n as u32).filter(|&slot| chosen[slot as usize]).collect();
    let bodies = movers.iter().map(|&slot| body(values, sizes[slot as usize], rng)).collect();
    let all_move = !still_scene && values.find("moving").is_none();
    let still = (!all_move).then(|| chosen.iter().map(|&moves| !moves).collect());
    let world = Aabb::new([0.0; 3], [side; 3]);
    (Frame { world, boxes, still, ..Frame::default() }, Bounce { side, movers, bodies })
}

fn body(values: &Values, size: [f32; 3], rng: &mut Rng) -> Body {
    // The mean width is 1, except in `sizes`, where each cube goes by its own.
    let width = if values.find("decades").is_some() { size[0] } else { 1.0 };
    let speed = values.get_or("speed", 0.0) as f32 * width;
    Body { size, velocity: rng.direction().map(|x| x * speed) }
}

impl Bounce {
    /// Gives a moving slot a new size and direction; a still slot has neither.
    pub(super) fn replace(&mut self, values: &Values, slot: u32, size: [f32; 3], rng: &mut Rng) {
        if let Ok(at) = self.movers.binary_search(&slot) {
            self.bodies[at] = body(values, size, rng);
        }
    }
}

impl Motion for Bounce {
    fn advance(&mut self, frame: &mut Frame) {
        let Frame { boxes, alive, .. } = frame;
        if self.movers.len() == boxes.len() && alive.is_none() {
            for (aabb, body) in boxes.iter_mut().zip(&mut self.bodies) {
                step(aabb, body, self.side);
            }
            return;
        }
        for (&slot, body) in self.movers.iter().zip(&mut self.bodies) {
            if alive.as_ref().is_none_or(|alive| alive[slot as usize]) {
                step(&mut boxes[slot as usize], body, self.side);
            }
        }
    }
}

/// Moves a box by its velocity and mirrors it at the walls.
#[inline(always)]
fn step(aabb: &mut Aabb, body: &mut Body, side: f32) {
    for k in 0..3 {
        let (size, way) = (body.size[k], body.velocity[k]);
        let limit = side - size;
        let mut at = aabb.min[k] + way;
        if at < 0.0 || at > limit {
            let wall = if at < 0.0 { 0.0 } else { limit };
            // The clamp is for a box faster than the world is wide.
            at = (2.0 * wall - at).clamp(0.0, limit);
            body.velocity[k] = -way;
        }
        aabb.min[k] = at;
        aabb.max[k] = (at + size).min(side);
    }
}
