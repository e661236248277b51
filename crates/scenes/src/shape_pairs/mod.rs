//! Pairs of shapes, one by one: what the narrow phase is timed and compared on.
//!
//! A [`PairScene`] is a few shapes of one [`ShapeKind`] and many pairs of them, placed as a
//! [`Placing`] says. Every pair is first brought to touch: far apart along a random direction, the
//! nearest points tell how to move together. From there a gap is a step along the normal, and an
//! overlap a shorter way between the centres, since the offsets at which convex shapes meet are a
//! convex set. So whether a pair touches is known before anything is asked.
//!
//! Turns come from rejection and square roots, without trigonometry: the same pairs everywhere, up
//! to the rounding of the library's own distances.

mod kinds;
mod place;
pub(crate) mod random;

pub use kinds::ShapeKind;
pub use place::Placing;

use crate::Rng;
use jostle::narrow::Motion;
use jostle::shape::{Pose, Shape};
use place::Place;

/// Two shapes of a scene, in place.
#[derive(Clone, Debug)]
pub struct ShapePair {
    /// Their numbers in the scene.
    pub shapes: [usize; 2],
    /// Where they are, frame by frame: one frame, unless they move.
    pub frames: Vec<[Pose; 2]>,
    /// How they go on from the first frame, for the time of impact within one unit of time. Gaps
    /// are about as long as the way.
    pub motions: [Motion; 2],
    /// True if they touch in the first frame.
    pub touches: bool,
}

/// Shapes, and pairs of them.
#[derive(Clone, Debug)]
pub struct PairScene {
    /// The shapes.
    pub shapes: Vec<Shape>,
    /// The pairs.
    pub pairs: Vec<ShapePair>,
}

impl PairScene {
    /// So many pairs of a kind, the same for the same seed.
    pub fn new(kind: &ShapeKind, placing: Placing, pairs: usize, seed: u64) -> PairScene {
        let mut rng = Rng::new(seed);
        let shapes = kind.shapes(&mut rng);
        let pairs = (0..pairs).map(|_| pair(&shapes, placing, &mut rng)).collect();
        PairScene { shapes, pairs }
    }

    /// The two shapes of a pair.
    #[inline]
    pub fn shapes_of(&self, pair: &ShapePair) -> [&Shape; 2] {
        pair.shapes.map(|number| &self.shapes[number])
    }
}

fn pair(shapes: &[Shape], placing: Placing, rng: &mut Rng) -> ShapePair {
    let numbers = [0; 2].map(|_| rng.below(shapes.len()));
    let place = Place::new(numbers.map(|number| &shapes[number]), rng);
    let (offset, touches) = place.offset(placing, rng);
    let start = place.poses(offset);
    let motions = place.motions(offset, rng);
    let frames = match placing {
        Placing::Moving { frames, speed } => place.course(start, frames, speed, rng),
        _ => vec![start],
    };
    ShapePair { shapes: numbers, frames, motions, touches }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle::narrow::{self, Placed};

    fn kinds() -> impl Iterator<Item = &'static ShapeKind> {
        ShapeKind::ALL.iter().filter(|kind| kind.triangles().is_none_or(|count| count < 2000))
    }

    fn gaps(scene: &PairScene) -> Vec<(bool, f64)> {
        let pairs = scene.pairs.iter().map(|pair| {
            let ([a, b], [at_a, at_b]) = (scene.shapes_of(pair), &pair.frames[0]);
            let size = a.bounding_radius() + b.bounding_radius();
            (
                pair.touches,
                narrow::contact(&Placed::new(a, *at_a), &Placed::new(b, *at_b)).signed_distance()
                    / size,
            )
        });
        pairs.collect()
    }

    #[test]
    fn pairs_lie_as_their_placing_says() {
        for kind in kinds() {
            let of = |placing| gaps(&PairScene::new(kind, placing, 60, 5));
            let name = kind.name;
            for (touches, gap) in of(Placing::Separated) {
                assert!(!touches && (0.01..0.6).contains(&gap), "{name}: {gap}");
            }
            for (touches, gap) in of(Placing::Deep) {
                assert!(touches && gap < -0.01, "{name}: {gap}");
            }
            for (touches, gap) in of(Placing::Touching) {
                assert!(touches == (gap <= 0.0) && (1e-10..2e-3).contains(&gap.abs()), "{gap}");
            }
            let scattered = of(Placing::Scattered);
            assert!(scattered.iter().all(|&(touches, gap)| touches == (gap <= 0.0)), "{name}");
            let hits = scattered.iter().filter(|(touches, _)| *touches).count();
            assert!((18..=42).contains(&hits), "{name}: {hits} of 60 touch");
        }
    }

    #[test]
    fn courses_begin_scattered_and_move_slowly() {
        let kind = ShapeKind::find("mixed").unwrap();
        let scene = PairScene::new(kind, Placing::Moving { frames: 9, speed: 0.01 }, 20, 5);
        for pair in &scene.pairs {
            assert_eq!(pair.frames.len(), 9);
            for two in pair.frames.windows(2) {
                let way = two[1][1].translation().distance(two[0][1].translation());
                let turn = two[1][1].rotation().angle_between(two[0][1].rotation());
                assert!((1e-9..0.1).contains(&way) && (1e-9..0.1).contains(&turn));
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_pairs() {
        let kind = ShapeKind::find("boxes").unwrap();
        let text = |seed| format!("{:?}", PairScene::new(kind, Placing::Touching, 9, seed));
        assert_eq!(text(1), text(1));
        assert_ne!(text(1), text(2));
    }
}
