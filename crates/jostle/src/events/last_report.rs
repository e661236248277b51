//! The last full report as a broad phase wrote it, for comparison with the next.
//!
//! An algorithm that keeps its order between steps writes the pairs that stay in the same order
//! again. Then the reports of two steps are lists that are mostly equal, and comparing them
//! ([`list_diff`](super::list_diff)) gives the events without sorting what did not change. The
//! order decides nothing but the time: what is unmatched in both reports stays.

use super::list_diff::diff;
use crate::ds::pair_sort::PAIRS_PER_TASK;
use crate::pair::{MANY_PAIRS, Pair, PairBuffer};
use crate::par::Workers;

use super::PartEvents;

/// If more than one pair in this many of both reports is unmatched, sorting all of them costs less.
const UNMATCHED: usize = 8;

/// After a report that was not like the one before, this many are not compared, then twice as many,
/// up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: u32 = 1;
const LONGEST_PAUSE: u32 = 16;

/// The pairs of the last full report, lane by lane.
#[derive(Clone, Debug, Default)]
pub(super) struct LastReport {
    lanes: Vec<Vec<Pair>>,
    /// True if the tracker's set holds exactly these pairs.
    current: bool,
    /// True if the last report was a full one, kept or not.
    full: bool,
    /// Steps to go before the next comparison.
    pause: u32,
    next_pause: u32,
}

impl LastReport {
    /// Says that the tracker's set has changed in another way.
    pub(super) fn invalidate(&mut self) {
        self.current = false;
        self.full = false;
    }

    /// Returns true if the last report was a full one. If not, another one is not expected to
    /// follow this one, and keeping it would only take memory.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Takes the pairs out of the buffer, which gets older ones in return; or, unless they are to
    /// be kept, only notes that there was a full report.
    pub(super) fn take(&mut self, found: &mut PairBuffer, keep: bool) {
        if keep {
            found.swap_lanes(&mut self.lanes);
        }
        self.current = keep;
        self.full = true;
    }

    /// Leaves in the parts what could not be matched of this and of the new report. Returns the
    /// number of parts; none if the reports are not alike or need not be compared.
    pub(super) fn compare(
        &mut self,
        found: &PairBuffer,
        parts: &mut Vec<PartEvents>,
        workers: &Workers,
    ) -> Option<usize> {
        if !self.current {
            return None;
        }
        if self.pause > 0 {
            self.pause -= 1;
            return None;
        }
        let count = self.match_lanes(found, parts, workers);
        match count {
            Some(_) => self.next_pause = FIRST_PAUSE,
            None => {
                self.pause = self.next_pause;
                self.next_pause = (2 * self.next_pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
            }
        }
        count
    }

    fn match_lanes(
        &self,
        found: &PairBuffer,
        parts: &mut Vec<PartEvents>,
        workers: &Workers,
    ) -> Option<usize> {
        let old = |lane: usize| self.lanes.get(lane).map_or(&[][..], Vec::as_slice);
        let count = self.lanes.len().max(found.lane_count());
        let total = self.lanes.iter().map(Vec::len).sum::<usize>() + found.len();
        let most = total / UNMATCHED + 16;
        if parts.len() < count {
            parts.resize_with(count, PartEvents::default);
        }
        // A few pairs are compared sooner than a thread wakes up.
        let alone = Workers::one();
        let workers = if total < 2 * PAIRS_PER_TASK { &alone } else { workers };
        workers.for_each(&mut parts[..count], |lane, part| {
            part.clear();
            part.alike = diff(old(lane), found.slice(lane), most, &mut part.unmatched);
        });
        let alike = parts[..count].iter().all(|part| part.alike);
        let unmatched: usize = parts[..count].iter().map(|part| part.unmatched.len()).sum();
        (alike && unmatched <= most).then_some(count)
    }

    /// Gives back the memory of a report that is not current.
    pub(super) fn give_back(&mut self) {
        if self.lanes.iter().map(Vec::capacity).sum::<usize>() > MANY_PAIRS {
            self.lanes.iter_mut().for_each(|lane| *lane = Vec::new());
        }
    }

    /// Number of pairs kept.
    #[cfg(test)]
    pub(super) fn pairs(&self) -> usize {
        self.lanes.iter().map(Vec::len).sum()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let pairs: usize = self.lanes.iter().map(Vec::capacity).sum();
        pairs * size_of::<Pair>() + self.lanes.capacity() * size_of::<Vec<Pair>>()
    }
}
