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

    /// All of it under the names of `stats()`.
    pub(crate) fn stats(
        &self,
        header: &Header,
        sizes: &Sizes,
        device: u64,
        stages: Vec<(&'static str, Duration)>,
    ) -> Stats {
        let word = |word: u32| f64::from(header.get(word));
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
