//! What a step counted.

use std::time::Duration;

use jostle::Stats;

use super::Header;
use crate::memory::Sizes;
use crate::program::{Way, Ways};
use crate::work;

/// Counts of one update.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub dispatches: u64,
    pub submissions: u64,
    pub uploaded: u64,
    pub read: u64,
    pub grown: u64,
    /// Ranges, if the step was done in ranges.
    pub ranges: u64,
    /// Tests of all ranges.
    pub range_tests: u64,
    /// Boxes in the list of changes, pairs of the last step that are compared with, events.
    pub changed: u64,
    pub old_pairs: u64,
    pub events: u64,
    /// The device was last told about filters.
    pub filtered: bool,
    /// How the last submission sorted.
    pub ways: Ways,
}

/// Bytes that a sort reads and writes for each element: in all by threads, in each pass by digits.
fn by_way(way: Way, local: (f64, f64), pass: (f64, f64), passes: u32) -> (f64, f64) {
    match way {
        Way::Local => local,
        Way::Radix => (pass.0 * f64::from(passes), pass.1 * f64::from(passes)),
    }
}

impl Counters {
    /// Call at the beginning of an update.
    pub(crate) fn start(&mut self) {
        *self = Counters { filtered: self.filtered, ..Counters::default() };
    }

    /// Box against box tests.
    pub(crate) fn tests(&self, header: &Header) -> u64 {
        if self.submissions == 0 {
            0
        } else if self.ranges > 0 {
            self.range_tests
        } else {
            header.get(work::CANDIDATES).into()
        }
    }

    /// Bytes that the kernels of a whole step read and write in buffers, from what they counted.
    /// Binary searches, whose upper levels stay in caches, and small tables count as nothing. Zero
    /// for a step in ranges.
    fn traffic(&self, header: &Header, sizes: &Sizes) -> (f64, f64) {
        if self.submissions == 0 || self.ranges > 0 {
            return (0.0, 0.0);
        }
        let word = |word: u32| f64::from(header.get(word));
        let (boxes, entries, pairs) = (word(work::SLOTS), word(work::ENTRIES), word(work::PAIRS));
        let (changed, old) = (self.changed as f64, self.old_pairs as f64);
        let (passes, pair_passes) = sizes.passes();
        // Reads and writes of a sort for each entry and each pair: where a thread sorts them, they
        // are read and written once.
        let (entry_sort, pair_sort) = (
            by_way(self.ways.entries, (8.0, 8.0), (20.0, 12.0), passes),
            by_way(self.ways.pairs, (8.0, 4.0), (16.0, 8.0), pair_passes),
        );
        // Three looks at the bounds; spans, to count and to fill; the start. Two tables as long as
        // the boxes are cleared, scanned and looked at.
        let box_read = 3.0 * 24.0 + 2.0 * 8.0 + 4.0 + 2.0 * (4.0 + 4.0 + 4.0);
        let box_written = 8.0 + 2.0 * (4.0 + 4.0);
        // Counting and filling; the sort; candidates and their scan; both sweeps.
        let candidates_read = (8.0 + 4.0 + 8.0 + 4.0) + (4.0 + 4.0);
        let entry_read = 2.0 * 4.0 + entry_sort.0 + candidates_read + 2.0 * (4.0 + 8.0);
        let entry_written = 2.0 * 4.0 + 12.0 + entry_sort.1 + (4.0 + 8.0 + 4.0);
        // Both sweeps look at all candidates, and at two boxes' bounds across if it takes that.
        let tests_read = 2.0 * (8.0 * word(work::CANDIDATES) + 32.0 * word(work::SEEN));
        let diff = if self.old_pairs > 0 { 32.0 } else { 0.0 };
        let read = 28.0 * changed
            + box_read * boxes
            + entry_read * entries
            + tests_read
            + (2.0 * 4.0 + pair_sort.0 + diff) * pairs
            + 32.0 * old;
        let written = 24.0 * changed
            + box_written * boxes
            + entry_written * entries
            + (2.0 * 4.0 + 8.0 + pair_sort.1) * pairs
            + 8.0 * self.events as f64;
        (read, written)
    }

    /// All of it under the names of `stats()`.
    pub(crate) fn stats(
        &self,
        header: &Header,
        sizes: &Sizes,
        device: u64,
        stages: Vec<(&'static str, Duration)>,
    ) -> Stats {
        let word = |word: u32| f64::from(header.get(word));
        let (read, written) = self.traffic(header, sizes);
        let boxes = word(work::LIVE).max(1.0);
        Stats {
            tests: self.tests(header),
            bytes: device as usize,
            counts: vec![
                ("cells", word(work::COLUMNS)),
                ("entries", word(work::ENTRIES)),
                ("giants", word(work::GIANTS)),
                ("bounds_tested", word(work::SEEN)),
                ("longest_bucket", word(work::LONGEST)),
                ("longest_list", word(work::LONGEST_LIST)),
                ("level", word(work::LEVEL)),
                ("dispatches", self.dispatches as f64),
                ("submissions", self.submissions as f64),
                ("uploaded_bytes", self.uploaded as f64),
                ("readback_bytes", self.read as f64),
                ("device_read_bytes", read),
                ("device_written_bytes", written),
                ("device_read_bytes_per_box", read / boxes),
                ("device_written_bytes_per_box", written / boxes),
                ("device_bytes_per_box", (read + written) / boxes),
                ("least_bytes_per_box", 24.0 + 8.0 * word(work::PAIRS) / boxes),
                ("estimate_ms_at_500_gb_s", (read + written) / 500e6),
                ("estimate_ms_at_1_tb_s", (read + written) / 1e9),
                ("grown", self.grown as f64),
                ("ranges", self.ranges as f64),
                ("table_bytes", sizes.table_bytes() as f64),
                ("slot_room", f64::from(sizes.slots)),
                ("event_room", f64::from(sizes.events)),
                ("entry_room", f64::from(sizes.entries)),
                ("pair_room", f64::from(sizes.pairs)),
            ],
            stages,
            ..Stats::default()
        }
    }
}
