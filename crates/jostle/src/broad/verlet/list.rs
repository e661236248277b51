//! [`Part`]: a stretch of the list of candidates, in classes by how soon they can change.
//!
//! Two boxes that overlap by a depth, or are apart by a gap, do so until their bounds have moved by
//! as much. So the candidates of a part are in order of that slack, in [`CLASSES`] classes up to
//! twice the skin, and a step tests only the classes that the furthest moved box can have reached.
//! Within a class they are in the order of space in which they were found.

use crate::pair::{Lane, LimitReached, Pair};
use crate::simd::listed::{Corners, GROUP, depths, retest};

/// Number of classes.
pub(super) const CLASSES: usize = 8;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Two places each, class by class, each class filled up to whole groups.
    pairs: Vec<Pair>,
    /// One bit for each: overlap as last tested.
    states: Vec<u8>,
    /// The end of each class, in groups.
    ends: [usize; CLASSES],
    classes: Vec<u8>,
    depths: Vec<f32>,
    flipped: Vec<u32>,
    /// Pairs that ended in this step.
    pub ended: Vec<Pair>,
    /// Pairs that left the list, but overlap still.
    pub handed_over: Vec<Pair>,
    /// Number of candidates.
    pub candidates: usize,
}

/// Which candidates are tested again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// Those that can change if no bound has moved further than this.
    Within(f32),
    /// All.
    All,
}

impl Part {
    /// Puts candidates into classes; `none` is a place without a box that has another behind it.
    pub(super) fn fill(&mut self, found: &[Pair], origins: &[Corners], skin: f32, none: u32) {
        let mut counts = [0usize; CLASSES];
        let scale = CLASSES as f32 / (2.0 * skin);
        self.classes.clear();
        depths(origins, found, &mut self.depths);
        for &depth in &self.depths {
            let class = ((depth.abs() * scale) as usize).min(CLASSES - 1);
            counts[class] += 1;
            self.classes.push(class as u8 | u8::from(depth >= 0.0) << 7);
        }
        self.candidates = found.len();
        let (mut next, mut end) = ([0usize; CLASSES], 0);
        for class in 0..CLASSES {
            next[class] = end * GROUP;
            end += counts[class].div_ceil(GROUP);
            self.ends[class] = end;
        }
        self.pairs.clear();
        self.pairs.resize(end * GROUP, Pair::new(none, none + 1));
        self.states.clear();
        self.states.resize(end, 0);
        for (&pair, &class) in found.iter().zip(&self.classes) {
            let place = &mut next[usize::from(class & 0x7f)];
            self.pairs[*place] = pair;
            self.states[*place / GROUP] |= (class >> 7) << (*place % GROUP);
            *place += 1;
        }
    }

    /// Tests candidates again. Returns how many.
    pub(super) fn test(&mut self, corners: &[Corners], reach: Reach, skin: f32) -> usize {
        let groups = match reach {
            Reach::All => self.ends[CLASSES - 1],
            Reach::Within(furthest) => {
                // A little more than both boxes can have moved, for rounding.
                let class = 2.001 * furthest * (CLASSES as f32 / (2.0 * skin));
                self.ends[(class as usize).min(CLASSES - 1)]
            }
        };
        self.flipped.clear();
        let pairs = &self.pairs[..groups * GROUP];
        retest(corners, pairs, &mut self.states[..groups], &mut self.flipped);
        groups * GROUP
    }

    /// Writes the flips of the last test as events of the boxes in `slots`. Pairs in `elsewhere`,
    /// ascending, have not ended.
    pub(super) fn write_flips(
        &mut self,
        slots: &[u32],
        elsewhere: &[Pair],
        began: &mut Lane,
    ) -> Result<(), LimitReached> {
        self.ended.clear();
        self.handed_over.clear();
        for &number in &self.flipped {
            let places = self.pairs[number as usize];
            let [one, other] = [places.a(), places.b()].map(|place| slots[place.index()]);
            if self.state(number as usize) {
                began.push(one, other)?;
                continue;
            }
            let pair = Pair::new(one, other);
            let kept = !elsewhere.is_empty() && elsewhere.binary_search(&pair).is_ok();
            if kept { self.handed_over.push(pair) } else { self.ended.push(pair) }
        }
        Ok(())
    }

    fn state(&self, number: usize) -> bool {
        self.states[number / GROUP] >> (number % GROUP) & 1 == 1
    }

    /// The candidates, and whether they overlap as far as is known.
    pub(super) fn states(&self) -> impl Iterator<Item = (Pair, bool)> + '_ {
        self.pairs.iter().enumerate().map(|(number, &pair)| (pair, self.state(number)))
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let pairs = self.pairs.capacity() + self.ended.capacity() + self.handed_over.capacity();
        pairs * size_of::<Pair>()
            + self.states.capacity()
            + self.classes.capacity()
            + (self.flipped.capacity() + self.depths.capacity()) * 4
    }
}
