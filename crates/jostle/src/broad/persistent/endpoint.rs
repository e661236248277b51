//! [`Endpoint`]: one end of a box on one axis, packed into a word that sorts as it should.
//!
//! From the top bit down: the value as an order-preserving number (32 bits), a flag for upper
//! endpoints (1), the slot of the box (31). Comparing two words therefore compares the values
//! first; at equal values a lower endpoint comes before an upper one, because boxes are closed and
//! touching counts; after that the id decides, so no two endpoints of an axis are equal and a
//! sorted list has one order only. `-0.0` and `0.0` are one value.

use std::hint::select_unpredictable;

use crate::aabb::Aabb;
use crate::ds::radix_sort::{from_ordered_bits, ordered_bits, sort_items};
use crate::simd::window::{WINDOW, count_smaller};

/// The lower or upper end of a box on an axis. Orders by value, lower before upper, then by id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub(crate) struct Endpoint(u64);

const UPPER: u64 = 1 << 31;

impl Endpoint {
    /// Ids must lie below this: one bit of the word tells lower from upper endpoints.
    pub(crate) const MAX_SLOTS: usize = 1 << 31;

    /// An endpoint at `value`.
    #[inline(always)]
    pub(crate) fn new(value: f32, upper: bool, slot: u32) -> Endpoint {
        debug_assert!((slot as usize) < Endpoint::MAX_SLOTS);
        Endpoint(u64::from(ordered_bits(value)) << 32 | u64::from(upper) << 31 | u64::from(slot))
    }

    /// The lower endpoint of a box on an axis.
    #[inline(always)]
    pub(crate) fn lower(aabb: &Aabb, axis: usize, slot: u32) -> Endpoint {
        Endpoint::new(aabb.min[axis], false, slot)
    }

    /// The upper endpoint of a box on an axis.
    #[inline(always)]
    pub(crate) fn upper(aabb: &Aabb, axis: usize, slot: u32) -> Endpoint {
        Endpoint::new(aabb.max[axis], true, slot)
    }

    /// The same endpoint with the value that it has in these bounds.
    #[inline(always)]
    pub(crate) fn renewed(self, aabbs: &[Aabb], axis: usize) -> Endpoint {
        let aabb = &aabbs[self.slot() as usize];
        // In a list lower and upper endpoints follow each other at random: no branch.
        let value = select_unpredictable(self.is_upper(), aabb.max[axis], aabb.min[axis]);
        let key = u64::from(ordered_bits(value));
        Endpoint(key << 32 | self.0 & u64::from(u32::MAX))
    }

    /// The slot of the box.
    #[inline(always)]
    pub(crate) const fn slot(self) -> u32 {
        (self.0 & (UPPER - 1)) as u32
    }

    /// Returns true for an upper endpoint.
    #[inline(always)]
    pub(crate) const fn is_upper(self) -> bool {
        self.0 & UPPER != 0
    }

    /// Returns true if one of the two is a lower endpoint and the other an upper one: only such
    /// neighbours change an overlap when they swap.
    #[inline(always)]
    pub(crate) const fn opposes(self, other: Endpoint) -> bool {
        (self.0 ^ other.0) & UPPER != 0
    }

    /// How many of eight endpoints lie before this one. May be wrong for endpoints at its value
    /// whose slots differ from its own in the lowest bit only.
    #[inline(always)]
    pub(crate) fn count_before(self, window: &[Endpoint; WINDOW]) -> usize {
        count_smaller(&window.map(|endpoint| endpoint.0), self.0)
    }

    /// The value; `-0.0` has become `0.0`.
    #[inline(always)]
    pub(crate) fn value(self) -> f32 {
        from_ordered_bits((self.0 >> 32) as u32)
    }
}

/// From this many endpoints on a radix sort is used, which needs room for two more copies while it
/// runs.
const MANY: usize = 1 << 16;

/// Fills `list` with the sorted endpoints of the boxes in `slots`, which ascend.
pub(crate) fn fill_sorted(
    list: &mut Vec<Endpoint>,
    aabbs: &[Aabb],
    axis: usize,
    slots: impl Iterator<Item = u32> + Clone,
) {
    list.clear();
    // Lower endpoints first: then equal values are in order already, and a stable sort keeps it.
    list.extend(slots.clone().map(|slot| Endpoint::lower(&aabbs[slot as usize], axis, slot)));
    list.extend(slots.map(|slot| Endpoint::upper(&aabbs[slot as usize], axis, slot)));
    if list.len() < MANY {
        return list.sort_unstable();
    }
    let mut items: Vec<u64> = list.iter().map(|endpoint| endpoint.0).collect();
    sort_items(&mut items, &mut vec![0; list.len()]);
    list.clear();
    list.extend(items.into_iter().map(Endpoint));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_one_value_lower_endpoints_come_first_then_smaller_ids() {
        let at = |value, upper, slot| Endpoint::new(value, upper, slot);
        let sorted = [
            at(-2.0, true, 9),
            at(-0.0, false, 3),
            at(0.0, false, 7),
            at(0.0, true, 1),
            at(-0.0, true, (1 << 31) - 1),
            at(f32::INFINITY, false, 0),
        ];
        assert!(sorted.windows(2).all(|two| two[0] < two[1]));
        assert!(sorted[0].opposes(sorted[1]) && !sorted[0].opposes(sorted[3]));
        assert_eq!((sorted[4].slot(), sorted[4].is_upper()), ((1 << 31) - 1, true));
        assert_eq!(sorted[0].value(), -2.0);
        let moved = sorted[2].renewed(&[Aabb::point([4.0; 3]); 8], 1);
        assert_eq!(moved, at(4.0, false, 7));
    }

    #[test]
    fn many_endpoints_are_sorted_like_few() {
        let aabbs: Vec<Aabb> = (0..40_000u32)
            .map(|k| Aabb::new([(k * 7919 % 1000) as f32 - 500.0; 3], [501.0; 3]))
            .collect();
        let mut list = Vec::new();
        fill_sorted(&mut list, &aabbs, 2, 0..40_000);
        assert!(list.len() >= MANY && list.is_sorted());
    }
}
