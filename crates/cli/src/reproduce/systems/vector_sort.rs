//! The insertion sort of four-lane vectors (Campbell §4.2.2 and §4.2.3, after Scarpino).
//!
//! - **intervector**: vectors move left past those with greater values. Two vectors are split into
//!   the four smaller and the four greater values by comparing lane with lane and rotating the
//!   greater ones, four times: then each value has met each of the other vector. Values within a
//!   vector are in no order.
//! - **intravector**: the four values of each vector are put in order by three comparisons.
//!
//! Ids follow their values. The thesis finds them by comparing the result of a minimum with its
//! input, and forces equal values to swap; here one comparison chooses values and ids. Ids are
//! carried as the bits of floats, which are only chosen and rotated, never computed with.
//!
//! A vector stops where nothing on its left is greater, so lists in order cost a pass.

use jostle::glam::{BVec4A, Vec4, Vec4Swizzles};

/// Values and ids of four endpoints.
#[derive(Clone, Copy, Debug)]
struct Lanes {
    values: Vec4,
    ids: Vec4,
}

impl Lanes {
    #[inline]
    fn load(values: &[f32], ids: &[f32], at: usize) -> Lanes {
        Lanes { values: Vec4::from_slice(&values[4 * at..]), ids: Vec4::from_slice(&ids[4 * at..]) }
    }

    #[inline]
    fn store(self, values: &mut [f32], ids: &mut [f32], at: usize) {
        self.values.write_to_slice(&mut values[4 * at..]);
        self.ids.write_to_slice(&mut ids[4 * at..]);
    }

    #[inline]
    fn select(mask: BVec4A, one: Lanes, other: Lanes) -> Lanes {
        let values = Vec4::select(mask, one.values, other.values);
        Lanes { values, ids: Vec4::select(mask, one.ids, other.ids) }
    }

    #[inline]
    fn rotated(self) -> Lanes {
        Lanes { values: self.values.wxyz(), ids: self.ids.wxyz() }
    }

    /// Returns true if a value here is greater than one there.
    #[inline]
    fn exceeds(self, other: Lanes) -> bool {
        self.values.max_element() > other.values.min_element()
    }

    /// The four smaller and the four greater values of both.
    #[inline]
    fn split(self, other: Lanes) -> (Lanes, Lanes) {
        let (mut low, mut high) = (self, other);
        for _ in 0..4 {
            let greater = low.values.cmpgt(high.values);
            (low, high) = (Lanes::select(greater, high, low), Lanes::select(greater, low, high));
            high = high.rotated();
        }
        (low, high)
    }

    /// Each lane meets the lane of `partner`; lanes in `upper` keep the greater value.
    #[inline]
    fn arranged(self, partner: Lanes, upper: BVec4A) -> Lanes {
        let greater = self.values.cmpgt(partner.values);
        let less = self.values.cmplt(partner.values);
        // Lower lanes take the partner's value if theirs is greater, upper ones if it is less.
        Lanes::select((greater & !upper) | (less & upper), partner, self)
    }

    /// The four values in order.
    #[inline]
    fn sorted(self) -> Lanes {
        let with = |lanes: Lanes, swizzle: fn(Vec4) -> Vec4| Lanes {
            values: swizzle(lanes.values),
            ids: swizzle(lanes.ids),
        };
        let mask = BVec4A::from_array;
        let first = with(self, |v| v.wzyx());
        let once = self.arranged(first, mask([false, false, true, true]));
        let second = with(once, |v| v.yxwz());
        let twice = once.arranged(second, mask([false, true, false, true]));
        let third = with(twice, |v| v.xzyw());
        twice.arranged(third, mask([false, false, true, false]))
    }
}

/// Sorts values, and ids with them; the length is a multiple of four. Returns the number of splits.
pub(crate) fn sort(values: &mut [f32], ids: &mut [f32]) -> u64 {
    let vectors = values.len() / 4;
    let mut splits = 0;
    for place in 1..vectors {
        let mut moving = Lanes::load(values, ids, place);
        let mut at = place;
        while at > 0 {
            let left = Lanes::load(values, ids, at - 1);
            if !left.exceeds(moving) {
                break;
            }
            let (low, high) = left.split(moving);
            high.store(values, ids, at);
            moving = low;
            at -= 1;
            splits += 1;
        }
        moving.store(values, ids, at);
    }
    for at in 0..vectors {
        Lanes::load(values, ids, at).sorted().store(values, ids, at);
    }
    splits
}

#[cfg(test)]
mod tests {
    use jostle_scenes::Rng;

    use super::*;

    #[test]
    fn values_are_sorted_and_ids_follow() {
        let mut rng = Rng::new(3);
        for length in [0, 4, 8, 12, 64, 256] {
            for range in [2, 5, 1000] {
                let start: Vec<f32> = (0..length).map(|_| rng.below(range) as f32 - 2.0).collect();
                let (mut values, mut ids) = (start.clone(), Vec::new());
                ids.extend((0..length as u32).map(f32::from_bits));
                sort(&mut values, &mut ids);
                assert!(values.is_sorted(), "{values:?}");
                let mut seen: Vec<u32> = ids.iter().map(|id| id.to_bits()).collect();
                assert!(seen.iter().zip(&values).all(|(&id, &v)| start[id as usize] == v));
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..length as u32));
            }
        }
    }

    #[test]
    fn lists_in_order_need_no_split() {
        let mut values: Vec<f32> = (0..400).map(|k| k as f32).collect();
        let mut ids = vec![0.0; 400];
        assert_eq!(sort(&mut values, &mut ids), 0);
        values.swap(100, 101);
        assert_eq!(sort(&mut values, &mut ids), 0, "within a vector");
        values.swap(99, 100);
        assert_eq!(sort(&mut values, &mut ids), 1);
    }
}
