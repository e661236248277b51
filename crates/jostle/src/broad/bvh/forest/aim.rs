//! [`Aim`]: where the movers will be halfway through the life of the next order.
//!
//! An order is made over some steps and used for many more. If it is made for the boxes where they
//! are, it is late from the first step on and worst in its last. Most things that move fast go
//! straight on for a while, so an order is made for where the boxes will be in the middle of its
//! life: it is worn a little at both ends. Boxes in straight motion then need two in three of the
//! tests of an order that is made for where they were.
//!
//! Not all motion is steady: boxes that tremble would be put to places where they never go. So a
//! sample of the boxes is followed, and only if going straight on would have told where they are
//! now better than standing still, the next order is made ahead ([`Forecast`]).

use crate::par::Workers;
use crate::simd::node8::{Node8, WIDTH};
use crate::simd::{self, Kernel, Simd};

use super::super::order::Spot;

/// Blocks handled by one task.
const BLOCKS_PER_TASK: usize = 1 << 10;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Aim {
    /// By place.
    spots: Vec<Spot>,
    /// True if the spots are those before the present step.
    noted: bool,
}

impl Aim {
    /// Notes where the boxes are before they are read again or, if they have been, were.
    pub(super) fn note(&mut self, before: &[Node8], workers: &Workers) {
        self.each_block(before, workers, |blocks, spots| simd::run(Note { blocks, spots }));
        self.noted = true;
    }

    /// Returns true if the boxes before this step were noted.
    pub(super) fn is_noted(&self) -> bool {
        self.noted
    }

    /// Says that a step begins.
    pub(super) fn forget(&mut self) {
        self.noted = false;
    }

    /// Aims some steps ahead of where the boxes are now, along their way in this step. Those that
    /// were not there before it stay.
    pub(super) fn lead(&mut self, now: &[Node8], steps: f32, workers: &Workers) {
        self.noted = false;
        let lead = |blocks: &[Node8], spots: &mut [Spot]| simd::run(Lead { blocks, spots, steps });
        self.each_block(now, workers, lead);
    }

    fn each_block(
        &mut self,
        blocks: &[Node8],
        workers: &Workers,
        task: impl Fn(&[Node8], &mut [Spot]) + Sync,
    ) {
        let nowhere = Spot { centre: [f32::NAN; 3], size: 0.0 };
        self.spots.resize(blocks.len() * WIDTH, nowhere);
        workers.for_each_chunk(&mut self.spots, BLOCKS_PER_TASK * WIDTH, |number, spots| {
            task(&blocks[number * BLOCKS_PER_TASK..], spots);
        });
    }

    /// Where the box in a place is expected.
    #[inline(always)]
    pub(super) fn spot(&self, place: u32) -> Spot {
        self.spots[place as usize]
    }

    /// Takes memory for some places, so that no later step has to.
    pub(super) fn reserve(&mut self, places: usize) {
        self.spots.clear();
        self.spots.reserve_exact(places);
    }

    /// Gives back the memory of more than some places.
    pub(super) fn trim(&mut self, places: usize) {
        self.spots.clear();
        self.spots.shrink_to(places);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.spots.capacity() * size_of::<Spot>()
    }
}

/// The centres of the boxes of a block, as [`Spot::of`] has them.
#[inline(always)]
fn centres(block: &Node8) -> [[f32; WIDTH]; 3] {
    std::array::from_fn(|k| {
        std::array::from_fn(|lane| Spot::middle(block.min[k][lane], block.max[k][lane]))
    })
}

/// Their longest sides.
#[inline(always)]
fn sizes(block: &Node8) -> [f32; WIDTH] {
    let side = |k: usize, lane: usize| Spot::side(block.min[k][lane], block.max[k][lane]);
    std::array::from_fn(|lane| side(0, lane).max(side(1, lane)).max(side(2, lane)))
}

struct Note<'a> {
    blocks: &'a [Node8],
    spots: &'a mut [Spot],
}

impl Kernel for Note<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (spots, block) in self.spots.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.blocks) {
            let centres = centres(block);
            for lane in 0..WIDTH {
                spots[lane].centre = centres.map(|row| row[lane]);
            }
        }
    }
}

struct Lead<'a> {
    blocks: &'a [Node8],
    spots: &'a mut [Spot],
    steps: f32,
}

impl Kernel for Lead<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (spots, block) in self.spots.as_chunks_mut::<WIDTH>().0.iter_mut().zip(self.blocks) {
            let (now, sizes) = (centres(block), sizes(block));
            for lane in 0..WIDTH {
                let (now, before) = (now.map(|row| row[lane]), spots[lane].centre);
                let centre = std::array::from_fn(|k| {
                    let ahead = now[k] + (now[k] - before[k]) * self.steps;
                    // Comparing with NaN is false.
                    if ahead.abs() <= f32::MAX { ahead } else { now[k] }
                });
                spots[lane] = Spot { centre, size: sizes[lane] };
            }
        }
    }
}

/// Boxes that are followed.
const SAMPLE: usize = 64;

/// Over how many steps they are followed, at least, before they tell anything.
const LEAST_STEPS: u32 = 4;

/// Whether boxes go straight on, from a sample of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Forecast {
    /// Steps since the boxes have their places.
    pub age: u32,
    /// Where some boxes were in the first step, and how far they moved in the second.
    sample: Vec<([f32; 3], [f32; 3])>,
    /// True if most went straight on when last looked at.
    pub steady: bool,
}

impl Forecast {
    /// Says that the boxes get other places.
    pub(super) fn begin(&mut self) {
        self.age = 0;
        self.sample.clear();
    }

    /// Looks at the boxes after a step.
    pub(super) fn step(&mut self, now: &[Node8]) {
        match self.age {
            0 => self.sample.extend(sampled(now).map(|at| (at, [0.0; 3]))),
            1 => self.sample.iter_mut().zip(sampled(now)).for_each(|((from, way), at)| {
                *way = std::array::from_fn(|k| at[k] - from[k]);
                *from = at;
            }),
            _ => {}
        }
        self.age = self.age.saturating_add(1);
    }

    /// Finds out whether the boxes went straight on, if enough steps have passed: whether their
    /// way in one step told where they would be, with at most half the error of staying.
    pub(super) fn judge(&mut self, now: &[Node8]) {
        let steps = self.age.saturating_sub(2);
        if steps < LEAST_STEPS {
            return;
        }
        let (mut ahead, mut staying) = (0.0, 0.0);
        for ((from, way), at) in self.sample.iter().zip(sampled(now)) {
            let by = |times: f32| -> f32 {
                (0..3).map(|k| (at[k] - (from[k] + times * way[k])).powi(2)).sum()
            };
            let errors = [by(steps as f32), by(0.0)];
            if errors.iter().all(|error| error.is_finite()) {
                ahead += errors[0];
                staying += errors[1];
            }
        }
        self.steady = ahead * 4.0 < staying;
    }
}

/// The centres of some boxes, evenly spread over the places, always the same ones while no block
/// is added; NaN for empty places.
fn sampled(blocks: &[Node8]) -> impl Iterator<Item = [f32; 3]> + '_ {
    let stride = blocks.len().div_ceil(SAMPLE).max(1);
    blocks
        .iter()
        .step_by(stride)
        .enumerate()
        .map(|(number, block)| Spot::of(&block.get(number)).centre)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aabb;

    /// Cubes in blocks, of which the last has one empty lane.
    fn blocks(count: usize, at: impl Fn(usize) -> [f32; 3]) -> Vec<Node8> {
        let mut blocks = vec![Node8::EMPTY; count.div_ceil(WIDTH)];
        for place in 0..count {
            let low = at(place);
            let cube = Aabb::new(low, low.map(|part| part + 2.0));
            blocks[place / WIDTH].set(place % WIDTH, &cube);
        }
        blocks
    }

    fn spread(place: usize) -> [f32; 3] {
        [7, 31, 101].map(|by| (place * by % 97) as f32)
    }

    /// Each box in a direction of its own.
    fn way(place: usize) -> [f32; 3] {
        [3, 5, 11].map(|by| (place * by % 13) as f32 * 0.25 - 1.5)
    }

    #[test]
    fn boxes_are_expected_where_their_way_leads_on_any_number_of_workers() {
        let count = 3 * BLOCKS_PER_TASK * WIDTH - 1;
        let before = blocks(count, spread);
        let now = blocks(count, |place| std::array::from_fn(|k| spread(place)[k] + way(place)[k]));
        for threads in [1, 2, 3, 8] {
            let (workers, mut aim) = (Workers::new(threads).unwrap(), Aim::default());
            aim.note(&before, &workers);
            assert!(aim.is_noted());
            aim.lead(&now, 8.0, &workers);
            assert!(!aim.is_noted());
            for place in 0..count {
                let spot = aim.spot(place as u32);
                let expected =
                    std::array::from_fn(|k| spread(place)[k] + 9.0 * way(place)[k] + 1.0);
                assert_eq!((spot.centre, spot.size), (expected, 2.0), "place {place}");
            }
        }
    }

    /// What has no way, or one beyond the largest number, is expected where it is.
    #[test]
    fn boxes_without_a_way_stay() {
        let (workers, mut aim) = (Workers::one(), Aim::default());
        let line = |low: f32, high: f32| Aabb { min: [low; 3], max: [high; 3] };
        let mut before = [Node8::EMPTY];
        let mut now = [Node8::EMPTY];
        before[0].set(0, &line(-3e38, -3e38));
        now[0].set(0, &line(3e38, 3e38));
        now[0].set(1, &line(5.0, 7.0));
        before[0].set(2, &line(f32::NEG_INFINITY, f32::INFINITY));
        now[0].set(2, &line(f32::NEG_INFINITY, f32::INFINITY));
        aim.note(&before, &workers);
        aim.lead(&now, 64.0, &workers);
        assert_eq!(aim.spot(0).centre, [3e38; 3]);
        assert_eq!((aim.spot(1).centre, aim.spot(1).size), ([6.0; 3], 2.0));
        assert_eq!((aim.spot(2).centre, aim.spot(2).size), ([0.0; 3], f32::INFINITY));
    }

    fn forecast_of(steps: u32, at: impl Fn(usize, u32) -> [f32; 3]) -> Forecast {
        let mut forecast = Forecast::default();
        forecast.begin();
        for step in 0..steps {
            forecast.step(&blocks(1000, |place| at(place, step)));
        }
        forecast.judge(&blocks(1000, |place| at(place, steps - 1)));
        forecast
    }

    #[test]
    fn straight_motion_is_told_from_trembling_turning_and_rest() {
        let moved = |place: usize, by: f32| -> [f32; 3] {
            std::array::from_fn(|k| spread(place)[k] + by * way(place)[k])
        };
        assert!(forecast_of(8, |place, step| moved(place, step as f32)).steady);
        // One in eight turns back.
        let some_turn = |place: usize, step: u32| {
            moved(place, if place % 8 == 0 { 3.0 - step as f32 } else { step as f32 })
        };
        assert!(forecast_of(8, some_turn).steady);
        let back_and_forth = |place: usize, step: u32| moved(place, (step % 2) as f32);
        assert!(!forecast_of(8, back_and_forth).steady);
        let around =
            |place: usize, step: u32| moved(place, [0.0, 1.0, 0.0, -1.0][step as usize % 4]);
        assert!(!forecast_of(9, around).steady);
        assert!(!forecast_of(8, |place, _| moved(place, 0.0)).steady);
        // Too soon to tell.
        assert!(!forecast_of(4, |place, step| moved(place, step as f32)).steady);
    }
}
