//! How the boxes of each scene are placed and moved; one file per kind of motion.

mod ball;
mod bounce;
mod campbell;
mod churn;
mod city;
mod plane;
mod worst;

use crate::catalog::Values;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// What moves a scene. `frame.number` is already that of the frame to make, and the lists of
/// changes are empty.
pub(crate) trait Motion: Send {
    fn advance(&mut self, frame: &mut Frame);
}

/// Builds a scene's first frame and its motion.
pub(crate) fn build(values: &Values, n: usize, seed: u64) -> (Frame, Box<dyn Motion>) {
    let mut rng = Rng::new(seed);
    match values.info.name {
        "ball" => boxed(ball::build(values, n, &mut rng)),
        "plane" => boxed(plane::build(values, n, &mut rng)),
        "campbell" => boxed(campbell::build(values, n, &mut rng)),
        "churn" => boxed(churn::build(values, n, rng)),
        "city" => boxed(city::build(values, n, &mut rng)),
        "worst" => boxed(worst::build(values, n, &mut rng)),
        // uniform, tenth, still and sizes differ in their numbers only.
        _ => boxed(bounce::build(values, n, &mut rng)),
    }
}

fn boxed<M: Motion + 'static>((frame, motion): (Frame, M)) -> (Frame, Box<dyn Motion>) {
    (frame, Box::new(motion))
}

/// The box around a centre.
fn around(centre: [f32; 3], half: [f32; 3]) -> Aabb {
    Aabb::new(
        std::array::from_fn(|k| centre[k] - half[k]),
        std::array::from_fn(|k| centre[k] + half[k]),
    )
}

/// The part of a box inside the world. Takes off what rounding added; boxes inside stay as
/// they are.
fn clipped(aabb: Aabb, world: &Aabb) -> Aabb {
    Aabb::new(
        std::array::from_fn(|k| aabb.min[k].max(world.min[k])),
        std::array::from_fn(|k| aabb.max[k].min(world.max[k])),
    )
}

/// The number of things a share of `n` is, rounded.
fn share_of(share: f64, n: usize) -> usize {
    ((share * n as f64).round() as usize).min(n)
}
