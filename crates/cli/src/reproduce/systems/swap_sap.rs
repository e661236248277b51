//! [`SwapSap`]: sweep and prune with insertion sort and a pair manager, as Campbell wrote it for
//! the x86 (§4.1, listings 4.3 to 4.5).
//!
//! ```text
//! for each axis: for each endpoint, from the left
//!     while its left neighbour is greater: swap the two
//!         the boxes overlap on the axis, or not: set their flag
//! ```
//!
//! Every step passes over all endpoints of all axes, moved or not; an endpoint leads to its box,
//! whose bounds are read where they are. The first step is the same on lists in the order of the
//! boxes.
//!
//! **Departures.** At equal values lower endpoints come first, so that touching boxes overlap.
//! The printed condition asks whether an end of the right box lies in the left one, and takes a
//! left box inside the right one for separate; here intervals are compared whole.

use jostle::{Aabb, Boxes, BroadPhase, Error, PairBuffer, Report, StageClock, Stats};

use super::pair_manager::{PairManager, Store};
use super::reporting::Reporting;

/// An end of a box.
#[derive(Clone, Copy, Debug)]
struct End {
    owner: u32,
    upper: bool,
}

impl End {
    #[inline]
    fn value(self, aabbs: &[Aabb], axis: usize) -> f32 {
        let aabb = &aabbs[self.owner as usize];
        if self.upper { aabb.max[axis] } else { aabb.min[axis] }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct SwapSap {
    store: Store,
    lists: [Vec<End>; 3],
    flags: PairManager,
    reporting: Reporting,
    swaps: u64,
    clock: StageClock,
}

impl SwapSap {
    /// A new instance with this pair manager.
    pub(crate) fn new(store: Store) -> SwapSap {
        SwapSap {
            store,
            lists: Default::default(),
            flags: PairManager::new(store, 0),
            reporting: Reporting::default(),
            swaps: 0,
            clock: StageClock::default(),
        }
    }

    /// Fills lists and pair manager; the thesis does that before anything is timed.
    fn start(&mut self, boxes: &Boxes) {
        for list in &mut self.lists {
            list.clear();
            for slot in boxes.live_slots() {
                list.extend([false, true].map(|upper| End { owner: slot.get(), upper }));
            }
        }
        self.flags = PairManager::new(self.store, boxes.slots());
    }

    fn sort_and_test(&mut self, aabbs: &[Aabb], axis: usize) {
        let SwapSap { lists, flags, reporting, swaps, .. } = self;
        let list = &mut lists[axis];
        for place in 1..list.len() {
            let end = list[place];
            let value = end.value(aabbs, axis);
            let mut at = place;
            while at > 0 {
                let left = list[at - 1];
                let other = left.value(aabbs, axis);
                if !(other > value || (other == value && left.upper && !end.upper)) {
                    break;
                }
                list[at] = left;
                at -= 1;
                *swaps += 1;
                if left.owner != end.owner {
                    let overlap = overlap_on(aabbs, left.owner, end.owner, axis);
                    if flags.set(left.owner, end.owner, axis, overlap) {
                        reporting.note(left.owner, end.owner);
                    }
                }
            }
            list[at] = end;
        }
    }
}

#[inline]
fn overlap_on(aabbs: &[Aabb], one: u32, other: u32, axis: usize) -> bool {
    let (one, other) = (&aabbs[one as usize], &aabbs[other as usize]);
    one.min[axis] <= other.max[axis] && other.min[axis] <= one.max[axis]
}

impl BroadPhase for SwapSap {
    fn name(&self) -> &str {
        "swap-sap"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        self.swaps = 0;
        let followed = self.reporting.begin(boxes);
        if !followed {
            self.start(boxes);
        }
        self.clock.end("start");
        for axis in 0..3 {
            self.sort_and_test(boxes.aabbs(), axis);
        }
        self.clock.end("sort and test");
        let report = self.reporting.finish(boxes, &self.flags, followed, found);
        self.clock.end("report");
        report
    }

    fn stats(&self) -> Stats {
        let lists: usize = self.lists.iter().map(|list| list.capacity() * size_of::<End>()).sum();
        let (swaps, bytes) = (self.swaps, lists + self.flags.bytes());
        Stats { swaps, bytes, stages: self.clock.stages().to_vec(), ..Stats::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The condition of listing 4.5, for the left and the right of two boxes after a swap.
    fn printed((min, max): (f32, f32), (min_next, max_next): (f32, f32)) -> bool {
        (min <= min_next && max >= min_next) || (min <= max_next && max >= max_next)
    }

    #[test]
    fn the_printed_condition_misses_a_box_inside_another() {
        let (inner, outer) = ((4.0, 5.0), (0.0, 9.0));
        assert!(printed(outer, inner) && !printed(inner, outer));
        let aabb = |(low, high): (f32, f32)| Aabb::new([low; 3], [high; 3]);
        assert!(overlap_on(&[aabb(inner), aabb(outer)], 0, 1, 0));
    }
}
