//! Still boxes, which stay in order between updates.
//!
//! Boxes whose filter says still never pair with each other. As long as none of them changes, their
//! part of every column stays as it is, and an update distributes, orders and sweeps only the
//! others: its cost follows what can move. It is built in the first update, which takes no longer
//! for it. A change among the still ones drops all of it, and the next update without such a change
//! rebuilds it.

use super::ColumnEntry;
use super::order::Buckets;
use super::plan::ColumnPlan;
use super::share::Share;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::shared::groups::Groups;
use crate::par::Workers;
use crate::simd::column::Column;

/// Fewer still boxes than this are not worth keeping apart.
const FEW: usize = 32;

/// The still boxes of one column.
#[derive(Clone, Debug, Default)]
pub(super) struct RestColumn {
    pub buckets: Buckets,
    pub column: Column,
    /// The most buckets that a box reaches beyond the one in which it begins.
    pub reach: u32,
}

impl RestColumn {
    /// Appends the boxes as entries.
    pub(super) fn read(&self, axis: usize, entries: &mut Vec<ColumnEntry>) {
        let column = &self.column;
        // The column's first axis is the swept one.
        let turned = |k: usize| (k + 3 - axis) % 3;
        entries.extend((0..column.len()).map(|place| ColumnEntry {
            aabb: Aabb {
                min: std::array::from_fn(|k| column.low(turned(k))[place]),
                max: std::array::from_fn(|k| column.high(turned(k))[place]),
            },
            id: column.id(place),
            marks: column.marks(place),
        }));
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// True if the box of a slot is still, as of the last update.
    still: Vec<bool>,
    count: usize,
    /// False if boxes have joined or left the movers since they were listed.
    movers_known: bool,
    columns: Vec<RestColumn>,
    built: bool,
    /// Tests of the first update with these columns.
    tests_at_first: Option<u64>,
}

impl Rest {
    /// Follows the changes. Returns true if the still boxes are those of the last update, or are
    /// seen for the first time, and are enough to be kept apart.
    pub(super) fn follow(&mut self, boxes: &Boxes, continues: bool) -> bool {
        if !boxes.has_filters() {
            *self = Rest::default();
            return false;
        }
        let known = continues && !self.still.is_empty();
        let quiet = if known { self.follow_changes(boxes) } else { self.look_at_all(boxes) };
        self.built &= quiet;
        quiet && self.count >= FEW && self.count >= boxes.len() / 4
    }

    /// Returns true: nothing is known of the previous update, so there is nothing to drop.
    fn look_at_all(&mut self, boxes: &Boxes) -> bool {
        self.built = false;
        self.still.clear();
        self.still.extend(boxes.filters().iter().map(|filter| filter.still));
        self.count = self.still.iter().filter(|&&still| still).count();
        self.movers_known = false;
        true
    }

    /// Returns false if a still box has changed, or one has become still or ceased to be.
    fn follow_changes(&mut self, boxes: &Boxes) -> bool {
        let changes = boxes.changes();
        self.still.resize(boxes.slots(), false);
        self.movers_known &= changes.inserted().is_empty() && changes.removed().is_empty();
        let mut quiet = true;
        // The filter of a removed box is an empty slot's, which is not still.
        let ids = changes.inserted().iter().chain(changes.moved()).chain(changes.removed());
        for id in ids {
            let now = boxes.filters()[id.index()].still;
            let before = std::mem::replace(&mut self.still[id.index()], now);
            quiet &= !(now | before);
            self.movers_known &= now == before;
            self.count += usize::from(now);
            self.count -= usize::from(before);
        }
        quiet
    }

    /// The still boxes, ascending, in `list`.
    pub(super) fn list_still(&self, boxes: &Boxes, list: &mut Vec<u32>) {
        list.clear();
        list.extend(boxes.live_slots().filter(|id| self.still[id.index()]).map(|id| id.get()));
    }

    /// The boxes that are not still, ascending, in `list`, which is as it was after the last call.
    pub(super) fn list_movers(&mut self, boxes: &Boxes, list: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.movers_known, true) {
            list.clear();
            list.extend(boxes.live_slots().filter(|id| !self.still[id.index()]).map(|id| id.get()));
        }
    }

    /// The columns of still boxes, if they are in use.
    pub(super) fn columns(&self) -> Option<&[RestColumn]> {
        self.built.then_some(&self.columns)
    }

    /// The still boxes take part again as all others do.
    pub(super) fn drop_columns(&mut self) {
        self.built = false;
    }

    /// Notes the tests of an update. Columns that were made for a world of another shape are
    /// dropped.
    pub(super) fn note_tests(&mut self, tests: u64, boxes: usize) {
        let first = *self.tests_at_first.get_or_insert(tests);
        self.built &= tests <= 4 * first + 4 * boxes as u64;
    }

    /// Orders the still boxes, which have been distributed in shares, column by column.
    pub(super) fn build(
        &mut self,
        workers: &Workers,
        plan: &ColumnPlan,
        groups: &Groups,
        shares: &[Share],
    ) {
        self.columns.resize_with(plan.columns(), RestColumn::default);
        let run = plan.columns().div_ceil(4 * workers.count());
        workers.for_each_chunk(&mut self.columns, run, |number, columns| {
            let (mut entries, mut keys) = (Vec::new(), Vec::new());
            for (place, rest) in columns.iter_mut().enumerate() {
                entries.clear();
                for share in shares {
                    entries.extend_from_slice(share.columns(number * run + place).0);
                }
                rest.buckets.fill(plan, groups, &entries, &mut keys, &mut rest.column);
                rest.reach = rest.buckets.longest(&rest.column);
            }
        });
        self.built = true;
        self.movers_known = false;
        self.tests_at_first = None;
    }

    /// Number of still boxes that are kept apart.
    pub(super) fn len(&self) -> usize {
        if self.built { self.count } else { 0 }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let of_column = |rest: &RestColumn| {
            rest.buckets.bytes() + rest.column.bytes() + size_of::<RestColumn>()
        };
        self.columns.iter().map(of_column).sum::<usize>() + self.still.capacity()
    }
}
