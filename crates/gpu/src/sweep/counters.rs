//! What a step counted.

use std::time::Duration;

use jostle::Stats;

use super::Header;
use crate::memory::Sizes;
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
    /// Binary searches, whose upper levels stay in caches, and the tables count as nothing. Zero
    /// for a step in ranges.
    fn traffic(&self, header: &Header, sizes: &Sizes) -> (f64, f64) {
        if self.submissions == 0 || self.ranges > 0 {
            return (0.0, 0.0);
        }
        let word = |word: u32| f64::from(header.get(word));
        let (boxes, entries, pairs) = (word(work::SLOTS), word(work::ENTRIES), word(work::PAIRS));
        let (changed, old) = (self.changed as f64, self.old_pairs as f64);
        let (passes, pair_passes) = sizes.passes();
        let (passes, pair_passes) = (f64::from(passes), f64::from(pair_passes));
        // Three looks at the bounds; spans and counts; the scan; what fills entries.
        let box_read = 3.0 * 24.0 + 8.0 + (4.0 + 4.0) + (8.0 + 4.0 + 4.0);
        let box_written = 8.0 + 4.0 + 4.0;
        // Count and scatter of each pass; runs; candidates and their scan; both sweeps.
        let entry_read = 20.0 * passes + 16.0 + (16.0 + 8.0) + 2.0 * (8.0 + 4.0 + 24.0 + 4.0);
        let entry_written = 12.0 + 12.0 * passes + 4.0 + 4.0;
        let pair_read = 16.0 * pair_passes + if self.old_pairs > 0 { 32.0 } else { 0.0 };
        let pair_written = 8.0 + 8.0 * pair_passes;
        let read = 28.0 * changed
            + box_read * boxes
            + entry_read * entries
            + 56.0 * word(work::CANDIDATES)
            + pair_read * pairs
            + 32.0 * old;
        let written = 24.0 * changed
            + box_written * boxes
            + entry_written * entries
            + pair_written * pairs
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
                ("level", word(work::LEVEL)),
                ("dispatches", self.dispatches as f64),
                ("submissions", self.submissions as f64),
                ("uploaded_bytes", self.uploaded as f64),
                ("readback_bytes", self.read as f64),
                ("device_read_bytes", read),
                ("device_written_bytes", written),
                ("device_bytes_per_box", (read + written) / boxes),
                ("grown", self.grown as f64),
                ("ranges", self.ranges as f64),
                ("entry_room", f64::from(sizes.entries)),
                ("pair_room", f64::from(sizes.pairs)),
            ],
            stages,
            ..Stats::default()
        }
    }
}
