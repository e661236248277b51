//! What a job would send that is larger than this machine: the real decomposition and the real
//! routing over boxes that are made on the fly, without local searches.
//!
//! [`count_step`] takes one step of a uniform world and counts, for every rank of a job, the boxes
//! present, the ghosts, the messages and their bytes. Per box it holds a point and its node in the
//! tree, 16 bytes, so 10⁸ boxes fit into two gigabytes. [`Model`] predicts the same numbers with
//! a formula; where the two agree the formula may be trusted for worlds that were not counted.

use std::collections::BTreeSet;

use jostle::{Aabb, Filter};

use crate::comm::{Communicator, Reduction, run_virtual};
use crate::decomposition::{Decomposition, bisect};
use crate::id::{GlobalId, mix};
use crate::local::BoxState;
use crate::route::{Change, Parcel, Router, Sink};

/// A uniform world: cubes of one size, spread evenly, each moving in a direction of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformWorld {
    /// Number of boxes.
    pub boxes: u64,
    /// Volume of all boxes over that of the world.
    pub density: f64,
    /// Way of a box in a step, over its width; along each axis up to this much.
    pub speed: f64,
}

impl UniformWorld {
    /// The side of the world, if boxes are one wide.
    pub fn side(&self) -> f64 {
        (self.boxes as f64 / self.density).cbrt()
    }

    /// A box before and after the step.
    fn step(&self, index: u64) -> [Aabb; 2] {
        let side = self.side();
        let unit = |salt: u64| (mix(index * 8 + salt) >> 11) as f64 / (1u64 << 53) as f64;
        let from: [f64; 3] = std::array::from_fn(|k| unit(k as u64) * (side - 1.0));
        let to: [f64; 3] = std::array::from_fn(|k| {
            let moved = from[k] + (unit(3 + k as u64) * 2.0 - 1.0) * self.speed;
            moved.clamp(0.0, side - 1.0)
        });
        [from, to].map(|at| Aabb::from_f64(at, at.map(|x| x + 1.0)))
    }
}

/// What one step of a job is, counted or predicted. Shares are of all boxes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepCount {
    /// Number of ranks.
    pub ranks: usize,
    /// Boxes present on a rank where their lower corner is not, over all boxes.
    pub ghosts: f64,
    /// Bytes in messages, for each moving box.
    pub bytes_per_box: f64,
    /// Messages that a rank sends, on average.
    pub messages: f64,
    /// The most messages that a rank sends.
    pub most_messages: f64,
    /// Boxes present on the fullest rank, over the mean.
    pub imbalance: f64,
    /// Bytes that the busiest rank sends.
    pub most_bytes: f64,
}

/// The formula: regions are cubes, boxes are one wide and uniform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The world.
    pub world: UniformWorld,
    /// Number of ranks.
    pub ranks: usize,
}

/// Bytes of the records that routing writes, and what a message adds.
const CHANGED: f64 = 32.0;
const ENTERED: f64 = 59.0;
const LEFT: f64 = 34.0;
const TAKEN: f64 = 8.0;
const HEADER: f64 = 20.0;

impl Model {
    /// What a step of boxes that migrate costs.
    ///
    /// Halving along each axis in turn gives g regions along an axis, so g - 1 cuts cross the world
    /// of side W, and a box one wide lies across a cut with chance 1 / W: it reaches
    /// 1 + (g - 1) / W regions along that axis. The product over the axes less one is the share of
    /// ghosts, and each is sent the new bounds. A face crosses a cut with chance (g - 1) v / W, v
    /// being the mean motion: half of the crossings of the upper face make the box enter a region,
    /// half make it leave one; of those of the lower face all hand the box over, and half enter a
    /// region. In a grid of regions ghosts go to the seven neighbours above, and boxes are handed
    /// to the three below; regions at the end of the world have fewer.
    pub fn step(&self) -> StepCount {
        let (side, boxes) = (self.world.side(), self.world.boxes as f64);
        let cuts = self.regions().map(|along| along - 1.0);
        let ghosts = cuts.iter().map(|cuts| 1.0 + cuts / side).product::<f64>() - 1.0;
        let crossings = cuts.iter().sum::<f64>() * (self.world.speed / 2.0) / side;
        let upper = (ENTERED + LEFT) / 2.0;
        let lower = TAKEN + ENTERED / 2.0;
        let inner = cuts.map(|cuts| cuts / (cuts + 1.0));
        let above = inner.iter().map(|inner| 1.0 + inner).product::<f64>() - 1.0;
        let messages = above + inner.iter().sum::<f64>();
        let headers = HEADER * messages * self.ranks as f64 / boxes;
        let bytes_per_box = CHANGED * ghosts + crossings * (upper + lower) + headers;
        let per_rank = boxes / self.ranks as f64;
        StepCount {
            ranks: self.ranks,
            ghosts,
            bytes_per_box,
            messages,
            most_messages: cuts.iter().map(|cuts| 1.0 + cuts.min(1.0)).product::<f64>() - 1.0
                + cuts.iter().map(|cuts| (cuts - 1.0).clamp(0.0, 1.0)).sum::<f64>(),
            imbalance: 1.0,
            most_bytes: bytes_per_box * per_rank,
        }
    }

    /// Regions along each axis, if space is halved along each in turn.
    fn regions(&self) -> [f64; 3] {
        let mut along = [1.0; 3];
        let mut left = self.ranks as f64;
        for axis in (0..3).cycle() {
            if left <= 1.0 {
                break;
            }
            let parts = left.min(2.0);
            along[axis] *= parts;
            left /= parts;
        }
        along
    }
}

/// Counts what routing sends.
struct Tally {
    from: u32,
    scratch: Parcel,
    messages: BTreeSet<(u32, u32)>,
    /// Bytes sent by each rank.
    bytes: Vec<u64>,
}

impl Tally {
    fn add(&mut self, to: usize, write: impl FnOnce(&mut Parcel)) {
        if to as u32 == self.from {
            return;
        }
        write(&mut self.scratch);
        self.bytes[self.from as usize] += self.scratch.take_length() as u64;
        self.messages.insert((self.from, to as u32));
    }
}

impl Sink for Tally {
    fn changed(&mut self, to: usize, change: &Change) {
        self.add(to, |parcel| parcel.changed(change));
    }

    fn entered(&mut self, to: usize, change: &Change) {
        self.add(to, |parcel| parcel.entered(change));
    }

    fn left(&mut self, to: usize, change: &Change) {
        self.add(to, |parcel| parcel.left(change));
    }

    fn replicated(&mut self, _change: &Change) {
        unreachable!("no box of this world is larger than a region");
    }

    fn taken(&mut self, to: usize, id: GlobalId) {
        self.add(to, |parcel| parcel.taken(id));
    }
}

/// Counts one step of a job of `ranks` ranks, on `threads` threads.
pub fn count_step(world: UniformWorld, ranks: usize, threads: usize) -> StepCount {
    let parts = run_virtual(threads, |comm| {
        let (part, parts) = (comm.rank() as u64, comm.size() as u64);
        let mine = world.boxes * part / parts..world.boxes * (part + 1) / parts;
        let points: Vec<[f32; 3]> = mine.clone().map(|index| world.step(index)[0].min).collect();
        let tree = bisect(comm, ranks, &points, |_| 1);
        drop(points);
        tally(comm, &world, &tree, mine)
    });
    parts.into_iter().next().expect("at least one thread")
}

/// Routes this part of the boxes and sums up over all parts.
fn tally(
    comm: &impl Communicator,
    world: &UniformWorld,
    tree: &Decomposition,
    mine: std::ops::Range<u64>,
) -> StepCount {
    let ranks = tree.ranks();
    let regions: Vec<_> = (0..ranks).map(|rank| tree.region(rank)).collect();
    let mut tally = Tally {
        from: 0,
        scratch: Parcel::default(),
        messages: BTreeSet::new(),
        bytes: vec![0; ranks],
    };
    let mut present = vec![0u64; ranks];
    let mut router = Router::new(tree, tree, usize::MAX);
    let mut reached = Vec::new();
    for index in mine {
        let [before, after] = world.step(index);
        let owner = tree.rank_of(before.min);
        if regions[owner].encloses(&before) && regions[owner].encloses(&after) {
            present[owner] += 1;
            continue;
        }
        let state = |aabb: Aabb| Some(BoxState { aabb, filter: Filter::ALL });
        let (known, after_state) = (state(before), state(after));
        let change = Change { id: GlobalId(index), known, before: known, after: after_state };
        tally.from = owner as u32;
        router.route(&change, &mut tally);
        router.hand_over(&change, owner, &mut tally);
        tree.ranks_reached(&after, usize::MAX, &mut reached);
        reached.iter().for_each(|&rank| present[rank as usize] += 1);
    }
    // Parts of the boxes may use the same pair of ranks: a message counts once.
    let mut pairs = Vec::with_capacity(tally.messages.len() * 8);
    for &(from, to) in &tally.messages {
        pairs.extend_from_slice(&from.to_le_bytes());
        pairs.extend_from_slice(&to.to_le_bytes());
    }
    let number = |bytes: &[u8]| u32::from_le_bytes(std::array::from_fn(|k| bytes[k]));
    let mut sent = vec![0u64; ranks];
    let mut all = BTreeSet::new();
    for bytes in comm.all_gather(&pairs) {
        all.extend(bytes.chunks_exact(8).map(|two| (number(two), number(&two[4..]))));
    }
    all.iter().for_each(|&(from, _)| sent[from as usize] += 1);
    comm.all_reduce(&mut present, Reduction::Sum);
    comm.all_reduce(&mut tally.bytes, Reduction::Sum);
    for (bytes, sent) in tally.bytes.iter_mut().zip(&sent) {
        *bytes += sent * HEADER as u64;
    }
    let total = |list: &[u64]| list.iter().sum::<u64>() as f64;
    let most = |list: &[u64]| list.iter().copied().max().unwrap_or(0) as f64;
    let boxes = world.boxes as f64;
    StepCount {
        ranks,
        ghosts: total(&present) / boxes - 1.0,
        bytes_per_box: total(&tally.bytes) / boxes,
        messages: total(&sent) / ranks as f64,
        most_messages: most(&sent),
        imbalance: most(&present) * ranks as f64 / total(&present),
        most_bytes: most(&tally.bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_agrees_with_the_count() {
        for ranks in [2, 4, 8, 16, 64] {
            let world = UniformWorld { boxes: 100_000, density: 0.35, speed: 0.2 };
            let counted = count_step(world, ranks, 2);
            let model = Model { world, ranks }.step();
            let near = |one: f64, other: f64| (one / other - 1.0).abs() < 0.15;
            assert!(near(counted.ghosts, model.ghosts), "{counted:?} {model:?}");
            assert!(near(counted.bytes_per_box, model.bytes_per_box), "{counted:?} {model:?}");
            // Boxes are spread evenly; ghosts are not, ranks at the lower end have none.
            assert!(counted.imbalance < 1.1, "{counted:?}");
        }
    }

    #[test]
    fn the_count_does_not_depend_on_the_threads() {
        let world = UniformWorld { boxes: 5_000, density: 0.35, speed: 0.2 };
        assert_eq!(count_step(world, 16, 1), count_step(world, 16, 3));
    }
}
