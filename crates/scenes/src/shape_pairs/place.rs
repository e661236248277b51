//! How two shapes are placed, from deep in each other to well apart.

use super::random::{between, direction, rotation, small_turn, vector};
use crate::Rng;
use crate::math::power_of_two;
use glam::{DQuat, DVec3};
use jostle::narrow::{self, Motion, Placed};
use jostle::shape::{Pose, Shape};

/// How the pairs of a scene lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placing {
    /// Apart by 2 to 50 hundredths of their size, the sum of their radii.
    Separated,
    /// Half of them apart and half overlapping, by between 2^-26 and 2^-10 of their size.
    Touching,
    /// The centres 2 to 8 tenths as far from each other as when touching.
    Deep,
    /// The centres 0 to 2 times as far from each other as when touching: half of them touch.
    Scattered,
    /// Scattered, then drifting and turning.
    Moving {
        /// Number of frames.
        frames: usize,
        /// Way in a frame as a share of their mean radius, and turn in radians, at most, along
        /// each axis.
        speed: f64,
    },
}

/// Two shapes that touch: where everything else starts from.
pub(crate) struct Place<'a> {
    shapes: [&'a Shape; 2],
    turns: [DQuat; 2],
    /// The first one's centre.
    center: DVec3,
    /// From the first one's centre to the second's, where they touch.
    touching: DVec3,
    /// From the first to the second.
    normal: DVec3,
    /// Sum of the radii.
    size: f64,
}

impl<'a> Place<'a> {
    /// Turns two shapes at random and brings them together from far apart.
    pub(crate) fn new(shapes: [&'a Shape; 2], rng: &mut Rng) -> Place<'a> {
        let turns = [0; 2].map(|_| rotation(rng));
        let size = shapes[0].bounding_radius() + shapes[1].bounding_radius();
        let center = vector(rng, size);
        let apart = direction(rng) * (1.5 * size);
        let mut place = Place { shapes, turns, center, touching: apart, normal: apart, size };
        let [a, b] = place.poses(apart);
        let near = narrow::closest_points(&Placed::new(shapes[0], a), &Placed::new(shapes[1], b));
        place.normal = near.normal;
        place.touching = apart - near.normal * near.distance;
        place
    }

    /// The poses at which the centres are an offset apart.
    pub(crate) fn poses(&self, offset: DVec3) -> [Pose; 2] {
        let centers = [self.center, self.center + offset];
        [0, 1].map(|side| {
            let inside = self.turns[side] * self.shapes[side].center();
            Pose::new(self.turns[side], centers[side] - inside).expect("places are finite")
        })
    }

    /// The offset of a placing, and whether the shapes touch there.
    pub(crate) fn offset(&self, placing: Placing, rng: &mut Rng) -> (DVec3, bool) {
        let (gap, scale) = match placing {
            Placing::Separated => (between(rng, 0.02, 0.5), 1.0),
            Placing::Touching => {
                let little = 1.0 / power_of_two(between(rng, 10.0, 26.0));
                if rng.below(2) == 0 { (little, 1.0) } else { (0.0, 1.0 - little) }
            }
            Placing::Deep => (0.0, between(rng, 0.2, 0.8)),
            Placing::Scattered | Placing::Moving { .. } => (0.0, between(rng, 0.0, 2.0)),
        };
        let offset = self.touching * scale + self.normal * (gap * self.size);
        (offset, gap == 0.0 && scale < 1.0)
    }

    /// Motions that close a gap sooner or later, or miss; pairs that nearly touch go anywhere.
    pub(crate) fn motions(&self, offset: DVec3, rng: &mut Rng) -> [Motion; 2] {
        let gap = (offset - self.touching).dot(self.normal).max(0.0);
        let way = -self.normal * (gap * between(rng, 0.5, 2.0))
            + vector(rng, 0.3 * gap + 0.02 * self.size);
        [0.5, -0.5]
            .map(|share| Motion::new(-way * share, vector(rng, 0.1)).expect("speeds are finite"))
    }

    /// A drift and a turn from frame to frame.
    pub(crate) fn course(
        &self,
        start: [Pose; 2],
        frames: usize,
        speed: f64,
        rng: &mut Rng,
    ) -> Vec<[Pose; 2]> {
        let drifts = [0; 2].map(|_| vector(rng, speed * 0.5 * self.size));
        let turns = [0; 2].map(|_| small_turn(vector(rng, speed)));
        let next = |poses: &[Pose; 2]| {
            let step = |side: usize| {
                let turn = (turns[side] * poses[side].rotation()).normalize();
                Pose::new(turn, poses[side].translation() + drifts[side])
            };
            Some([0, 1].map(|side| step(side).expect("courses are finite")))
        };
        std::iter::successors(Some(start), next).take(frames).collect()
    }
}
