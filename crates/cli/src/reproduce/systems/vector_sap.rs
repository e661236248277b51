//! [`VectorSap`]: sweep and prune as Campbell wrote it for the Cell (§4.2): a vector sort for each
//! axis on a worker of its own, then the results are collected on one.
//!
//! ```text
//! main      for each axis: write the values of all endpoints in the order of the last step
//! worker    sort values and ids; compare with the order before: ids that changed
//!  (axis)   sort the changed ids in reverse, remove duplicates
//!           for each: search its lower end; every id up to its upper end makes a key
//! main      collecting: for each changed id, clear the flags of its previous partners;
//!           set the flags of all keys and remember them as partners
//! ```
//!
//! With [`Method::All`], the thesis's second method, each changed box is compared with every other
//! on the axis, and a key is made for each, colliding or not; no partners have to be remembered.
//!
//! Keys are made by meeting ids in a list, without comparing boxes. Nothing is skipped if nothing
//! moved.
//!
//! **Departures**, all for exactness. At equal values lower ends are put first after the sort.
//! Orders are compared by id and not by value, because a touch may begin with two equal values
//! changing places. While the lower end is searched for from the start of the list, open boxes are
//! noted, because a box that encloses the other has no end between the other's. Partners are kept
//! for both boxes of a key: the thesis keeps them for the one that changed, and misses it when the
//! other one leaves.

use std::collections::BTreeSet;

use jostle::{Aabb, Boxes, BroadPhase, Error, PairBuffer, Report, StageClock, Stats, Workers};

use super::pair_manager::{PairManager, Store};
use super::reporting::Reporting;
use super::vector_sort;

/// How keys are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// From the ids between the ends of a changed box.
    Between,
    /// By comparing a changed box with every other.
    All,
}

/// Fills lists up to whole vectors.
const PADDING: u32 = u32::MAX;

/// Set in an id for the upper end.
const UPPER: u32 = 1 << 31;

/// One axis, and what its worker leaves for collecting.
#[derive(Clone, Debug, Default)]
struct Axis {
    values: Vec<f32>,
    /// Ids as the bits of floats, with [`UPPER`] for upper ends.
    ids: Vec<f32>,
    before: Vec<f32>,
    changed: Vec<u32>,
    /// Two ids of each key, and whether they overlap.
    keys: Vec<(u32, u32, bool)>,
    /// Boxes whose lower end was met and whose upper end was not.
    open: Vec<bool>,
    /// The partners of each box on this axis.
    partners: Vec<BTreeSet<u32>>,
    splits: u64,
}

impl Axis {
    fn start(&mut self, boxes: &Boxes) {
        self.ids.clear();
        let ends = boxes.live_slots().flat_map(|slot| [slot.get(), slot.get() | UPPER]);
        self.ids.extend(ends.map(f32::from_bits));
        let length = self.ids.len().next_multiple_of(4);
        self.ids.resize(length, f32::from_bits(PADDING));
        self.partners = vec![BTreeSet::new(); boxes.slots()];
        self.open = vec![false; boxes.slots()];
    }

    /// Listing 4.6: the new values in the order of the last step.
    fn write_values(&mut self, aabbs: &[Aabb], axis: usize) {
        let value = |id: &f32| match id.to_bits() {
            PADDING => f32::INFINITY,
            id if id & UPPER != 0 => aabbs[(id & !UPPER) as usize].max[axis],
            id => aabbs[id as usize].min[axis],
        };
        self.values.clear();
        self.values.extend(self.ids.iter().map(value));
    }

    /// What a coprocessor does. Everything is new in a first step.
    fn work(&mut self, first: bool, method: Method, aabbs: &[Aabb], axis: usize) {
        self.before.clone_from(&self.ids);
        self.splits = vector_sort::sort(&mut self.values, &mut self.ids);
        self.order_ties();
        self.find_changed(first);
        match method {
            Method::Between => self.make_keys(),
            Method::All => self.compare_with_all(aabbs, axis),
        }
    }

    /// Lower ends before upper ones, and padding last.
    fn order_ties(&mut self) {
        let mut at = 0;
        while at + 1 < self.values.len() {
            if self.values[at] != self.values[at + 1] {
                at += 1;
                continue;
            }
            let same = self.values[at..].iter().take_while(|&&v| v == self.values[at]).count();
            self.ids[at..at + same].sort_unstable_by_key(|id| id.to_bits());
            at += same;
        }
    }

    /// Sections 4.2.4 and 4.2.5.
    fn find_changed(&mut self, first: bool) {
        self.changed.clear();
        let ends = self.ids.iter().zip(&self.before);
        let differs = |(now, then): &(&f32, &f32)| first || now.to_bits() != then.to_bits();
        self.changed.extend(ends.filter(differs).map(|(now, _)| now.to_bits() & !UPPER));
        self.changed.retain(|&id| id != PADDING & !UPPER);
        self.changed.sort_unstable_by(|one, other| other.cmp(one));
        self.changed.dedup();
    }

    /// Method 1 of section 4.2.6, listing 4.12.
    fn make_keys(&mut self) {
        let Axis { ids, changed, keys, open, .. } = self;
        keys.clear();
        for &target in changed.iter() {
            let mut at = 0;
            while ids[at].to_bits() != target {
                let id = ids[at].to_bits();
                open[(id & !UPPER) as usize] = id & UPPER == 0;
                at += 1;
            }
            for id in ids[at + 1..].iter().map(|id| id.to_bits()) {
                if id == target | UPPER {
                    break;
                }
                open[(id & !UPPER) as usize] = false;
                keys.push((target, id & !UPPER, true));
            }
            // What is still open began before the target and ends after it.
            for id in ids[..at].iter().map(|id| (id.to_bits() & !UPPER) as usize) {
                if std::mem::take(&mut open[id]) {
                    keys.push((target, id as u32, true));
                }
            }
        }
    }

    /// Method 2 of section 4.2.6.
    fn compare_with_all(&mut self, aabbs: &[Aabb], axis: usize) {
        let Axis { ids, changed, keys, .. } = self;
        keys.clear();
        let others = || ids.iter().map(|id| id.to_bits()).filter(|&id| id & UPPER == 0);
        for &target in changed.iter() {
            let one = &aabbs[target as usize];
            for other in others().filter(|&other| other != target) {
                let second = &aabbs[other as usize];
                let overlap =
                    one.min[axis] <= second.max[axis] && second.min[axis] <= one.max[axis];
                keys.push((target, other, overlap));
            }
        }
    }

    /// What is left to the main processor.
    fn collect(
        &mut self,
        axis: usize,
        method: Method,
        flags: &mut PairManager,
        reporting: &mut Reporting,
    ) {
        let Axis { changed, keys, partners, .. } = self;
        let mut set = |one: u32, other: u32, overlap: bool| {
            if flags.set(one, other, axis, overlap) {
                reporting.note(one, other);
            }
        };
        for &id in changed.iter() {
            for other in std::mem::take(&mut partners[id as usize]) {
                partners[other as usize].remove(&id);
                set(id, other, false);
            }
        }
        for &(one, other, overlap) in keys.iter() {
            set(one, other, overlap);
            if method == Method::Between {
                partners[one as usize].insert(other);
                partners[other as usize].insert(one);
            }
        }
    }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct VectorSap {
    store: Store,
    method: Method,
    workers: Workers,
    axes: [Axis; 3],
    flags: PairManager,
    reporting: Reporting,
    clock: StageClock,
}

impl VectorSap {
    /// A new instance that runs its axes on `workers` and collects into this pair manager.
    pub(crate) fn new(workers: &Workers, store: Store, method: Method) -> VectorSap {
        VectorSap {
            store,
            method,
            workers: workers.clone(),
            axes: Default::default(),
            flags: PairManager::new(store, 0),
            reporting: Reporting::default(),
            clock: StageClock::default(),
        }
    }
}

impl BroadPhase for VectorSap {
    fn name(&self) -> &str {
        "vector-sap"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let followed = self.reporting.begin(boxes);
        if !followed {
            self.axes.iter_mut().for_each(|axis| axis.start(boxes));
            self.flags = PairManager::new(self.store, boxes.slots());
        }
        self.clock.end("start");
        for (axis, state) in self.axes.iter_mut().enumerate() {
            state.write_values(boxes.aabbs(), axis);
        }
        self.clock.end("values");
        let (method, aabbs) = (self.method, boxes.aabbs());
        self.workers
            .for_each(&mut self.axes, |axis, state| state.work(!followed, method, aabbs, axis));
        self.clock.end("axes");
        for (axis, state) in self.axes.iter_mut().enumerate() {
            state.collect(axis, method, &mut self.flags, &mut self.reporting);
        }
        self.clock.end("collect");
        let report = self.reporting.finish(boxes, &self.flags, followed, found);
        self.clock.end("report");
        report
    }

    fn stats(&self) -> Stats {
        let keys: usize = self.axes.iter().map(|axis| axis.keys.len()).sum();
        let splits: u64 = self.axes.iter().map(|axis| axis.splits).sum();
        let counts = vec![("keys", keys as f64), ("splits", splits as f64)];
        Stats { counts, stages: self.clock.stages().to_vec(), ..Stats::default() }
    }
}
