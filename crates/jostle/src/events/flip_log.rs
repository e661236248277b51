//! [`FlipLog`]: the flips that a set of pairs has not followed yet, a list for each step.
//!
//! The lists are merged with each other when the set is merged with them, a block of pairs at a
//! time, so that what is in between stays in the cache and each range of pairs can be merged by
//! another worker. Only many short lists are merged earlier.

use super::flips::{is_fresh, key_of};
use super::merge::merge_flips;
use crate::pair::Pair;

/// The most lists.
pub(super) const MOST_LISTS: usize = 32;

/// A range of each list, by their numbers.
pub(super) type Ranges = [(usize, usize); MOST_LISTS];

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct FlipLog {
    /// The lists, one after the other, each ascending with at most one flip of a pair; behind them
    /// memory, so that the next list is not written twice.
    words: Vec<u64>,
    /// Where each list ends.
    ends: Vec<usize>,
    /// How many of the flips began.
    fresh: usize,
}

impl FlipLog {
    /// Number of flips.
    pub(super) fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns true if there is no place for another list.
    pub(super) fn is_full(&self) -> bool {
        self.ends.len() == MOST_LISTS
    }

    /// Number of pairs that a set of `pairs` has after the flips. If more ended than there were,
    /// whoever asks for the set is told which.
    pub(super) fn length_after(&self, pairs: usize) -> usize {
        (pairs + self.fresh).saturating_sub(self.len() - self.fresh)
    }

    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.fresh = 0;
    }

    /// Room for a list of at most `count` flips. `most` is how many flips the log is expected to
    /// hold.
    pub(super) fn room(&mut self, count: usize, most: usize) -> &mut [u64] {
        let (begin, end) = (self.len(), self.len() + count);
        if self.words.len() < end {
            if self.words.capacity() < end {
                let wanted = end.max((end + end / 2).min(most));
                self.words.reserve_exact(wanted - self.words.len());
            }
            self.words.resize(end, 0);
        }
        &mut self.words[begin..end]
    }

    /// What was written to the first `count` places of the room.
    pub(super) fn written(&self, count: usize) -> &[u64] {
        &self.words[self.len()..][..count]
    }

    /// Takes what was written to the first `count` places of the room, `fresh` of which began.
    pub(super) fn push(&mut self, count: usize, fresh: usize) {
        if count > 0 {
            self.ends.push(self.len() + count);
            self.fresh += fresh;
        }
    }

    /// Number of lists.
    pub(super) fn lists(&self) -> usize {
        self.ends.len()
    }

    /// The list of a number, the earliest first.
    pub(super) fn list(&self, number: usize) -> &[u64] {
        let begin = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.words[begin..self.ends[number]]
    }

    /// Returns true if the pair flipped and began last, false if it ended last.
    pub(super) fn find(&self, pair: Pair) -> Option<bool> {
        (0..self.lists()).rev().find_map(|number| {
            let list = self.list(number);
            let place = list.binary_search_by_key(&pair.key(), |&flip| key_of(flip)).ok()?;
            Some(is_fresh(list[place]))
        })
    }

    /// For each list, the place of the first flip that is not below the pair.
    pub(super) fn places(&self, pair: Pair) -> [usize; MOST_LISTS] {
        let mut places = [0; MOST_LISTS];
        for (number, place) in places.iter_mut().enumerate().take(self.lists()) {
            *place = self.list(number).partition_point(|&flip| key_of(flip) < pair.key());
        }
        places
    }

    /// For each list, its length.
    pub(super) fn lengths(&self) -> [usize; MOST_LISTS] {
        let mut lengths = [0; MOST_LISTS];
        let lists = lengths.iter_mut().enumerate().take(self.lists());
        lists.for_each(|(number, length)| *length = self.list(number).len());
        lengths
    }

    /// Merges the last lists into one: all that are together at least half as long as the one
    /// before them. So a flip is merged a few times in all, and some lists are free again.
    pub(super) fn merge_last(&mut self, folder: &mut Folder) {
        let begin = |number: usize| if number == 0 { 0 } else { self.ends[number - 1] };
        let mut first = self.lists().saturating_sub(2);
        while first > 0 && begin(first) - begin(first - 1) <= 2 * (self.len() - begin(first)) {
            first -= 1;
        }
        let list = |number: usize| if number < self.lists() { self.list(number) } else { &[] };
        let lists: [&[u64]; MOST_LISTS] = std::array::from_fn(|place| list(first + place));
        let count = folder.fold_all(&lists[..self.lists() - first]);
        let begin = begin(first);
        self.words[begin..begin + count].copy_from_slice(&folder.one[..count]);
        self.ends.truncate(first);
        if count > 0 {
            self.ends.push(begin + count);
        }
        // What began and ended again, or the other way round, is in none of the lists.
        self.fresh = self.words[..self.len()].iter().filter(|&&flip| is_fresh(flip)).count();
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>() + self.ends.capacity() * size_of::<usize>()
    }
}

/// Memory in which lists of flips become one.
#[derive(Debug, Default)]
pub(super) struct Folder {
    one: Vec<u64>,
    two: Vec<u64>,
}

impl Folder {
    /// Merges lists of flips, the earliest first: each with the next one, until one is left.
    pub(super) fn fold<'a>(&'a mut self, lists: &[&'a [u64]]) -> &'a [u64] {
        if let [list] = lists {
            return list;
        }
        let count = self.fold_all(lists);
        &self.one[..count]
    }

    /// The same for any number of lists, into the first memory; returns the number of flips.
    fn fold_all(&mut self, lists: &[&[u64]]) -> usize {
        let total: usize = lists.iter().map(|list| list.len()).sum();
        for memory in [&mut self.one, &mut self.two] {
            if memory.len() < total {
                memory.resize(total, 0);
            }
        }
        let mut ends = [0; MOST_LISTS + 1];
        let mut left = 0;
        for two in lists.chunks(2) {
            let later = two.get(1).copied().unwrap_or(&[]);
            let length = merge_flips(two[0], later, &mut self.one[ends[left]..]);
            ends[left + 1] = ends[left] + length;
            left += 1;
        }
        while left > 1 {
            left = self.fold_once(&mut ends, left);
        }
        ends[left]
    }

    /// Merges each list that begins at `ends` with the next one, and returns the number of lists.
    fn fold_once(&mut self, ends: &mut [usize; MOST_LISTS + 1], lists: usize) -> usize {
        let Folder { one, two } = self;
        let mut end = 0;
        for first in (0..lists).step_by(2) {
            let last = (first + 2).min(lists);
            let (earlier, later) =
                (&one[ends[first]..ends[first + 1]], &one[ends[first + 1]..ends[last]]);
            // The beginning of a list is still needed where the end of a merged one is written.
            let length = merge_flips(earlier, later, &mut two[end..]);
            ends[first / 2] = end;
            end += length;
        }
        let left = lists.div_ceil(2);
        ends[left] = end;
        std::mem::swap(one, two);
        left
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        (self.one.capacity() + self.two.capacity()) * size_of::<u64>()
    }
}
