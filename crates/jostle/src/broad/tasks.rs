//! What algorithms that keep boxes in a structure of space share: dealing searches to workers,
//! and following filters.

use std::ops::Range;

use crate::boxes::Boxes;
use crate::broad::groups::Groups;
use crate::error::LimitReached;
use crate::filter::Filter;
use crate::pair::{Lane, PairBuffer};
use crate::par::Workers;

/// Tasks per worker: enough that idle workers find something to take over.
const TASKS_PER_WORKER: usize = 16;

/// A part of the items and the lane for what is found there.
struct Task<'a> {
    lane: &'a mut Lane,
    result: Result<u64, LimitReached>,
}

/// Deals a number of items to tasks, each with a lane of its own on its own cache lines, and
/// adds up their tests.
pub(super) fn in_tasks(
    workers: &Workers,
    items: usize,
    found: &mut PairBuffer,
    work: impl Fn(Range<usize>, &mut Lane) -> Result<u64, LimitReached> + Sync,
) -> Result<u64, LimitReached> {
    if workers.count() == 1 {
        return work(0..items, found.lane());
    }
    let count = TASKS_PER_WORKER * workers.count();
    let task = |lane| Task { lane, result: Ok(0) };
    let mut tasks: Vec<Task<'_>> = found.lanes(count).iter_mut().map(task).collect();
    workers.for_each(&mut tasks, |index, task| {
        let part = items * index / count..items * (index + 1) / count;
        task.result = work(part, task.lane);
    });
    tasks.into_iter().map(|task| task.result).sum()
}

/// The groups of boxes that are kept between updates, and the filters they rest on.
#[derive(Debug, Default)]
pub(super) struct GroupWatch {
    pub groups: Groups,
    /// The filters as last seen, also of boxes that went; empty while there are none.
    filters: Vec<Filter>,
    /// Boxes given a group since the groups were made.
    adopted: usize,
}

impl GroupWatch {
    pub fn rebuild(&mut self, boxes: &Boxes) {
        self.groups.rebuild(boxes);
        self.adopted = 0;
        self.filters.clear();
        if boxes.has_filters() {
            self.filters.reserve_exact(boxes.slots());
            self.filters.extend_from_slice(boxes.filters());
        }
    }

    /// Gives new boxes, and those with another filter, their groups. None where the groups are
    /// out of date, otherwise whether a box that stays has got another filter.
    pub fn follow(&mut self, boxes: &Boxes) -> Option<bool> {
        let changes = boxes.changes();
        if !boxes.has_filters() && self.filters.is_empty() {
            return Some(false);
        }
        let mut refiltered = false;
        self.filters.resize(self.filters.len().max(boxes.slots()), Filter::ALL);
        for id in changes.moved() {
            let filter = boxes.filters()[id.index()];
            if self.filters[id.index()] != filter {
                refiltered = true;
                self.adopted += 1;
                self.filters[id.index()] = filter;
                self.groups.adopt(id.index(), &filter).then_some(())?;
            }
        }
        for id in changes.inserted() {
            self.filters[id.index()] = boxes.filters()[id.index()];
            self.groups.adopt(id.index(), &self.filters[id.index()]).then_some(())?;
        }
        self.adopted += changes.inserted().len();
        (self.adopted <= 64 + boxes.len() / 4).then_some(refiltered)
    }

    /// The filters as last seen, where there are any.
    pub fn filters(&self) -> Option<&[Filter]> {
        (!self.filters.is_empty()).then_some(self.filters.as_slice())
    }

    pub fn bytes(&self) -> usize {
        self.groups.bytes() + self.filters.capacity() * size_of::<Filter>()
    }
}
