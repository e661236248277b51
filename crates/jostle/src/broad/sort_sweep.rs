//! `sort-sweep`: sort the boxes along one axis and sweep (Baraff, *Dynamic Simulation of
//! Non-Penetrating Rigid Bodies*, 1992). The second oracle: still plain enough to be read in one
//! sitting, and fast enough to check a hundred thousand boxes.
//!
//! ```text
//! sort boxes by their lower bound on the axis with the largest spread
//! for each box i, for each later box j with min[j] <= max[i]: test i against j
//! ```
//!
//! Time O(n log n + k) with k pairs that overlap on that axis: about n^(5/3) for a cube of evenly
//! spread boxes, n² if all overlap on the axis. Memory 28 bytes a box. Choose it for checking, and
//! for up to a few thousand boxes; not for large crowded worlds.
//!
//! Boxes are gathered in sorted order, so the sweep reads memory forward. Filters: the sorted boxes
//! are partitioned into `Groups`, and only groups that can pair are swept against each other.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::shared::axes::widest_axis;
use crate::broad::shared::groups::Groups;
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::filter::Filter;
use crate::pair::{Lane, PairBuffer};
use crate::par::Workers;
use crate::stats::{StageClock, Stats};

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct SortSweep {
    order: Vec<u32>,
    /// Boxes in sorted order, group after group.
    sorted: Vec<(u32, Aabb)>,
    groups: Groups,
    /// Where each group begins in `sorted`.
    starts: Vec<usize>,
    tests: u64,
    clock: StageClock,
}

impl SortSweep {
    /// A new instance; it uses one thread.
    pub fn new(_workers: &Workers) -> SortSweep {
        SortSweep::default()
    }

    fn sort(&mut self, boxes: &Boxes, axis: usize) {
        self.order.clear();
        self.order.extend(boxes.live_slots().map(|id| id.get()));
        let aabbs = boxes.aabbs();
        let key = |slot: &u32| (aabbs[*slot as usize].min[axis] + 0.0, *slot);
        self.order.sort_unstable_by(|one, other| {
            let (one, other) = (key(one), key(other));
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
        });
    }

    /// Copies the boxes to `sorted`, group after group, in sorted order within each.
    fn gather(&mut self, boxes: &Boxes) {
        let count = self.groups.count_of_groups();
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        for &slot in &self.order {
            self.starts[self.groups.of(slot as usize) + 1] += 1;
        }
        for group in 0..count {
            self.starts[group + 1] += self.starts[group];
        }
        self.sorted.clear();
        self.sorted.resize(self.order.len(), (0, Aabb::default()));
        for &slot in &self.order {
            let next = &mut self.starts[self.groups.of(slot as usize)];
            self.sorted[*next] = (slot, boxes.aabbs()[slot as usize]);
            *next += 1;
        }
        // Each start has become that of the next group.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn sweep(&mut self, filters: &[Filter], axis: usize, lane: &mut Lane) -> Result<(), Error> {
        self.tests = 0;
        for one in 0..self.groups.count_of_groups() {
            for other in one..self.groups.count_of_groups() {
                if !self.groups.may_pair(one, other) {
                    continue;
                }
                let a = &self.sorted[self.starts[one]..self.starts[one + 1]];
                let b = &self.sorted[self.starts[other]..self.starts[other + 1]];
                self.tests += if one == other {
                    sweep_within(a, filters, axis, lane)?
                } else {
                    sweep_between(a, b, filters, axis, lane)?
                };
            }
        }
        Ok(())
    }
}

impl BroadPhase for SortSweep {
    fn name(&self) -> &str {
        "sort-sweep"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let axis = widest_axis(boxes);
        self.groups.rebuild(boxes);
        self.sort(boxes, axis);
        self.gather(boxes);
        self.clock.end("sort");
        self.sweep(boxes.filters(), axis, found.lane())?;
        found.check_limit()?;
        self.clock.end("sweep");
        Ok(Report::Full)
    }

    fn tests(&self) -> u64 {
        self.tests
    }

    fn sketch(&self, boxes: &Boxes, sketch: &mut Sketch) {
        sketch.sweep_axes[widest_axis(boxes)] = true;
    }

    fn stats(&self) -> Stats {
        let bytes = self.order.capacity() * 4
            + self.sorted.capacity() * size_of::<(u32, Aabb)>()
            + self.groups.bytes();
        Stats { tests: self.tests, bytes, stages: self.clock.stages().to_vec(), ..Stats::default() }
    }
}

/// Pairs within one sorted list. Returns the number of tests.
fn sweep_within(
    list: &[(u32, Aabb)],
    filters: &[Filter],
    axis: usize,
    lane: &mut Lane,
) -> Result<u64, Error> {
    let mut tests = 0;
    for (place, entry) in list.iter().enumerate() {
        tests += test_run(entry, &list[place + 1..], filters, axis, lane)?;
    }
    Ok(tests)
}

/// Pairs between two sorted lists: each box meets those of the other list that begin within it;
/// of two that begin at the same place, the one in the first list meets the other.
fn sweep_between(
    a: &[(u32, Aabb)],
    b: &[(u32, Aabb)],
    filters: &[Filter],
    axis: usize,
    lane: &mut Lane,
) -> Result<u64, Error> {
    let (mut i, mut j, mut tests) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        if a[i].1.min[axis] <= b[j].1.min[axis] {
            tests += test_run(&a[i], &b[j..], filters, axis, lane)?;
            i += 1;
        } else {
            tests += test_run(&b[j], &a[i..], filters, axis, lane)?;
            j += 1;
        }
    }
    Ok(tests)
}

/// Tests one box against those of a sorted list that begin before it ends.
#[inline]
fn test_run(
    (slot, aabb): &(u32, Aabb),
    list: &[(u32, Aabb)],
    filters: &[Filter],
    axis: usize,
    lane: &mut Lane,
) -> Result<u64, Error> {
    let end = aabb.max[axis];
    let mut tests = 0;
    for (other_slot, other) in list {
        if other.min[axis] > end {
            break;
        }
        tests += 1;
        let allowed = || filters[*slot as usize].allows(&filters[*other_slot as usize]);
        if aabb.overlaps(other) && allowed() {
            lane.push(*slot, *other_slot)?;
        }
    }
    Ok(tests)
}
