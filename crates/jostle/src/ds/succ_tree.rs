//! [`SuccTree`]: a set of small integers as a 64-ary tree of bits.
//!
//! Level 0 holds one bit per value; a bit of level `k + 1` is set if the word below it on
//! level `k` has any bit set. The next member after a value is found by going up until a word
//! has a later bit, then down along the lowest bits; each step is one shift and one
//! trailing-zero count, so every operation touches at most `2 log64 n` words (six words for a
//! quarter of a million values). From G. Capannini and T. Larsson, *Adaptive Collision Culling
//! for Large-Scale Simulations by a Parallel Sweep and Prune Algorithm*, §3.
//!
//! Memory: `n / 8` bytes and one sixty-third more. Choose it for ordered sets over a dense
//! universe that change often and are walked in order; a sorted list is better for a few dozen
//! members, a plain bit set if nobody asks for the next member across long gaps.

use std::ops::Range;

const WORD_BITS: usize = 64;
/// Six levels of 64-ary nodes address 2^36 values, more than a `u32` can name.
const MAX_LEVELS: usize = 6;

/// A set of values below a fixed capacity, with ordered iteration.
#[derive(Clone, Debug, Default)]
pub struct SuccTree {
    capacity: usize,
    /// All levels, leaves first.
    words: Vec<u64>,
    /// Where each level begins in `words`; `levels` of them are in use.
    starts: [usize; MAX_LEVELS],
    levels: usize,
}

impl SuccTree {
    /// An empty set of values below `capacity`.
    ///
    /// # Panics
    /// If `capacity` exceeds 2^32.
    pub fn new(capacity: usize) -> SuccTree {
        let mut tree = SuccTree::default();
        tree.reset(capacity);
        tree
    }

    /// Empties the set and changes its capacity; keeps the memory.
    ///
    /// # Panics
    /// If `capacity` exceeds 2^32.
    pub fn reset(&mut self, capacity: usize) {
        assert!(capacity as u64 <= 1 << 32, "a SuccTree holds u32 values, not {capacity} of them");
        self.words.clear();
        self.capacity = capacity;
        self.levels = 0;
        let mut nodes = capacity.max(1);
        let mut total = 0;
        loop {
            let words = nodes.div_ceil(WORD_BITS);
            self.starts[self.levels] = total;
            self.levels += 1;
            total += words;
            if words == 1 {
                break;
            }
            nodes = words;
        }
        self.words.resize(total, 0);
    }

    /// Values are below this.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Returns true if the set has no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.last().is_none_or(|&root| root == 0)
    }

    /// Returns true if `value` is a member.
    ///
    /// # Panics
    /// If `value` is not below the capacity.
    #[inline]
    pub fn contains(&self, value: u32) -> bool {
        self.check(value);
        self.words[value as usize / WORD_BITS] >> (value as usize % WORD_BITS) & 1 == 1
    }

    /// Adds `value`. Returns false if it was there already.
    ///
    /// # Panics
    /// If `value` is not below the capacity.
    #[inline]
    pub fn insert(&mut self, value: u32) -> bool {
        self.check(value);
        let (index, bit) = split(value as usize);
        let before = self.words[index];
        self.words[index] = before | bit;
        if before == 0 {
            self.announce(index);
        }
        before & bit == 0
    }

    /// Takes `value` out; false if it was not there.
    ///
    /// # Panics
    /// If `value` is not below the capacity.
    #[inline]
    pub fn remove(&mut self, value: u32) -> bool {
        self.check(value);
        let (index, bit) = split(value as usize);
        let before = self.words[index];
        self.words[index] = before & !bit;
        if before == bit {
            self.retract(index);
        }
        before & bit != 0
    }

    /// Adds `value` if it is absent, takes it out if it is there: `⊕ {value}`.
    ///
    /// # Panics
    /// If `value` is not below the capacity.
    #[inline]
    pub fn toggle(&mut self, value: u32) {
        if !self.insert(value) {
            self.remove(value);
        }
    }

    /// The least member.
    #[inline]
    pub fn min(&self) -> Option<u32> {
        if self.is_empty() { None } else { Some(self.descend(self.levels - 1, 0)) }
    }

    /// The least member greater than `value`, which need not be a member itself.
    #[inline]
    pub fn succ(&self, value: u32) -> Option<u32> {
        if value as usize >= self.capacity {
            return None;
        }
        let mut node = value as usize;
        for level in 0..self.levels {
            let (index, bit) = split(node);
            // Bits strictly above `bit`; written this way because a shift by 64 is undefined.
            let later = self.word(level, index) & !(bit | (bit - 1));
            if later != 0 {
                return Some(self.descend_from(level, index, later));
            }
            node = index;
        }
        None
    }

    /// The members in `range`, ascending.
    #[inline]
    pub fn range(&self, range: Range<u32>) -> Members<'_> {
        let end = (range.end as usize).min(self.capacity);
        let start = range.start as usize;
        if start >= end {
            return Members { tree: self, index: 0, word: 0, end: 0 };
        }
        let (index, bit) = split(start);
        let word = self.words[index] & !(bit - 1);
        Members { tree: self, index, word, end }
    }

    /// All members, ascending.
    pub fn iter(&self) -> Members<'_> {
        let first = self.words.first().copied().unwrap_or(0);
        Members { tree: self, index: 0, word: first, end: self.capacity }
    }

    /// Removes every member, in time proportional to the words that have any bit set.
    pub fn clear(&mut self) {
        if self.levels > 0 {
            self.clear_below(self.levels - 1, 0);
        }
    }

    /// Zeroes a word and everything below it; the depth is at most six.
    fn clear_below(&mut self, level: usize, index: usize) {
        let at = self.starts[level] + index;
        let mut word = std::mem::take(&mut self.words[at]);
        while level > 0 && word != 0 {
            let child = index * WORD_BITS + word.trailing_zeros() as usize;
            word &= word - 1;
            self.clear_below(level - 1, child);
        }
    }

    /// Makes this set the symmetric difference of itself and `other`: the values in exactly one
    /// of them. Costs the words of `other` that have any bit set.
    ///
    /// # Panics
    /// If the capacities differ.
    pub fn symmetric_difference_with(&mut self, other: &SuccTree) {
        assert_eq!(self.capacity, other.capacity, "⊕ needs sets over the same values");
        let mut index = match other.words.first() {
            Some(0) => other.next_word(0),
            Some(_) => Some(0),
            None => None,
        };
        while let Some(at) = index {
            self.flip_word(at, other.words[at]);
            index = other.next_word(at);
        }
    }

    fn flip_word(&mut self, index: usize, flips: u64) {
        let before = self.words[index];
        let after = before ^ flips;
        self.words[index] = after;
        if before == 0 {
            self.announce(index);
        } else if after == 0 {
            self.retract(index);
        }
    }

    #[inline(always)]
    fn check(&self, value: u32) {
        assert!((value as usize) < self.capacity, "{value} is not below {}", self.capacity);
    }

    #[inline(always)]
    fn word(&self, level: usize, index: usize) -> u64 {
        self.words[self.starts[level] + index]
    }

    /// Sets the ancestors' bits of leaf word `node`, up to the first that is already set.
    #[inline]
    fn announce(&mut self, mut node: usize) {
        for level in 1..self.levels {
            let (index, bit) = split(node);
            let word = &mut self.words[self.starts[level] + index];
            let before = *word;
            *word |= bit;
            if before != 0 {
                break;
            }
            node = index;
        }
    }

    /// Clears the ancestors' bits of leaf word `node`, up to the first that stays non-empty.
    #[inline]
    fn retract(&mut self, mut node: usize) {
        for level in 1..self.levels {
            let (index, bit) = split(node);
            let word = &mut self.words[self.starts[level] + index];
            *word &= !bit;
            if *word != 0 {
                break;
            }
            node = index;
        }
    }

    /// The first leaf word after `index` with a bit set.
    #[inline]
    fn next_word(&self, index: usize) -> Option<usize> {
        let mut node = index;
        for level in 1..self.levels {
            let (parent, bit) = split(node);
            let later = self.word(level, parent) & !(bit | (bit - 1));
            if later != 0 {
                let mut child = parent * WORD_BITS + later.trailing_zeros() as usize;
                for below in (1..level).rev() {
                    let word = self.word(below, child);
                    child = child * WORD_BITS + word.trailing_zeros() as usize;
                }
                return Some(child);
            }
            node = parent;
        }
        None
    }

    fn descend(&self, level: usize, index: usize) -> u32 {
        self.descend_from(level, index, self.word(level, index))
    }

    #[inline]
    fn descend_from(&self, level: usize, index: usize, word: u64) -> u32 {
        let mut node = index * WORD_BITS + word.trailing_zeros() as usize;
        for below in (0..level).rev() {
            node = node * WORD_BITS + self.word(below, node).trailing_zeros() as usize;
        }
        node as u32
    }
}

/// Word index and bit mask of a node.
#[inline(always)]
fn split(node: usize) -> (usize, u64) {
    (node / WORD_BITS, 1 << (node % WORD_BITS))
}

/// Iterator over the members of a [`SuccTree`], ascending. It keeps the current leaf word in a
/// register and climbs the tree only between words.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    tree: &'a SuccTree,
    index: usize,
    word: u64,
    end: usize,
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.word == 0 {
            self.index = self.tree.next_word(self.index)?;
            self.word = self.tree.words[self.index];
        }
        let value = self.index * WORD_BITS + self.word.trailing_zeros() as usize;
        if value >= self.end {
            return None;
        }
        self.word &= self.word - 1;
        Some(value as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(u32),
        Remove(u32),
        Toggle(u32),
        Clear,
        Flip(Vec<u32>),
    }

    /// Capacities around the sizes at which a level appears, and small ones.
    fn capacity() -> impl Strategy<Value = u32> {
        prop_oneof![1u32..200, Just(64), Just(65), Just(4096), Just(4097), Just(262_145)]
    }

    fn step(capacity: u32) -> impl Strategy<Value = Step> {
        // Half of the values crowd into one word's worth so that words fill and empty.
        let value = prop_oneof![0..capacity, 0..capacity.min(70)];
        prop_oneof![
            8 => value.clone().prop_map(Step::Insert),
            6 => value.clone().prop_map(Step::Remove),
            4 => value.clone().prop_map(Step::Toggle),
            1 => Just(Step::Clear),
            2 => prop::collection::vec(value, 0..40).prop_map(Step::Flip),
        ]
    }

    /// An interpreter is slow.
    const STEPS: usize = if cfg!(miri) { 20 } else { 120 };
    const PROBES: usize = if cfg!(miri) { 9 } else { 97 };

    fn history() -> impl Strategy<Value = (u32, Vec<Step>)> {
        capacity().prop_flat_map(|n| (Just(n), prop::collection::vec(step(n), 0..STEPS)))
    }

    fn flip(set: &mut BTreeSet<u32>, value: u32) {
        if !set.remove(&value) {
            set.insert(value);
        }
    }

    fn apply(tree: &mut SuccTree, set: &mut BTreeSet<u32>, step: &Step) {
        match step {
            Step::Insert(v) => assert_eq!(tree.insert(*v), set.insert(*v)),
            Step::Remove(v) => assert_eq!(tree.remove(*v), set.remove(v)),
            Step::Toggle(v) => {
                tree.toggle(*v);
                flip(set, *v);
            }
            Step::Clear => {
                tree.clear();
                set.clear();
                assert!(tree.words.iter().all(|&word| word == 0), "clear left bits behind");
            }
            Step::Flip(values) => {
                let mut other = SuccTree::new(tree.capacity());
                for &v in values {
                    other.toggle(v);
                    flip(set, v);
                }
                tree.symmetric_difference_with(&other);
            }
        }
    }

    /// An inner bit is set exactly if the word below it is not zero.
    fn check_levels(tree: &SuccTree) {
        for level in 1..tree.levels {
            for child in 0..tree.starts[level] - tree.starts[level - 1] {
                let (index, bit) = split(child);
                let below = tree.word(level - 1, child) != 0;
                assert_eq!(tree.word(level, index) & bit != 0, below, "level {level}");
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_set_over_histories((capacity, steps) in history()) {
            let mut tree = SuccTree::new(capacity as usize);
            let mut set = BTreeSet::new();
            for step in &steps {
                apply(&mut tree, &mut set, step);
                prop_assert_eq!(tree.is_empty(), set.is_empty());
                prop_assert_eq!(tree.min(), set.first().copied());
            }
            check_levels(&tree);
            prop_assert!(tree.iter().eq(set.iter().copied()));
            for value in (0..capacity).step_by(1 + capacity as usize / PROBES) {
                prop_assert_eq!(tree.contains(value), set.contains(&value));
                let next = set.range(value + 1..).next().copied();
                prop_assert_eq!(tree.succ(value), next);
                let end = value.saturating_add(capacity / 3);
                prop_assert!(tree.range(value..end).eq(set.range(value..end).copied()));
            }
        }
    }

    #[test]
    fn ranges_may_be_empty_reversed_or_beyond_the_end() {
        let mut tree = SuccTree::new(130);
        for value in [0, 63, 64, 127, 128, 129] {
            tree.insert(value);
        }
        let members = |range: Range<u32>| tree.range(range).collect::<Vec<_>>();
        assert_eq!(members(63..128), [63, 64, 127]);
        assert_eq!(members(129..1000), [129]);
        assert_eq!(members(5..5), []);
        #[expect(clippy::reversed_empty_ranges, reason = "the caller's range may be")]
        let reversed = members(9..2);
        assert_eq!(reversed, []);
        assert_eq!(members(4000..5000), []);
        assert_eq!(tree.succ(129), None);
        assert_eq!(tree.succ(u32::MAX), None);
    }

    #[test]
    fn a_default_tree_is_an_empty_set() {
        let mut tree = SuccTree::default();
        tree.clear();
        assert!(tree.is_empty() && tree.min().is_none() && tree.iter().next().is_none());
        assert_eq!(tree.range(0..10).next(), None);
        tree.symmetric_difference_with(&SuccTree::default());
    }

    #[test]
    #[should_panic(expected = "130 is not below 130")]
    fn a_value_beyond_the_capacity_is_the_callers_bug() {
        SuccTree::new(130).insert(130);
    }
}
