//! Two lists of boxes, 32 at a time: which of them differ, and whether all are valid.
//!
//! Boxes lie bound after bound, so a register does not hold whole ones. Four boxes are three
//! registers of eight bounds; the bits of six bounds after one another belong to a box. A lower
//! bound is compared with the upper one three places on, by a second load. Groups of four are
//! walked one by one: unrolled for a whole block, compilers collect the bits of eight groups in a
//! register, lane by lane.

use super::vector::{Eight, Mask, Simd, Vector};
use super::{Kernel, run};
use crate::aabb::Aabb;

/// Boxes in a block; one bit of a word each.
pub(crate) const BLOCK: usize = 32;

/// Boxes that fill whole registers.
const GROUP: usize = 4;

/// Of the 24 bounds of a group, the first of each box, and the lower ones.
const FIRST_BOUNDS: u32 = 0x04_1041;
const LOWER_BOUNDS: u32 = 7 * FIRST_BOUNDS;

/// Writes a word for each block of boxes: a bit for each box that differs from the old one. A box
/// with NaN differs from every other. Returns false if a new box is not valid.
pub(crate) fn find_differing(old: &[Aabb], new: &[Aabb], words: &mut [u32]) -> bool {
    assert!(old.len() == new.len() && words.len() == new.len().div_ceil(BLOCK));
    run(FindDiffering { old, new, words })
}

struct FindDiffering<'a> {
    old: &'a [Aabb],
    new: &'a [Aabb],
    words: &'a mut [u32],
}

impl Kernel for FindDiffering<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let FindDiffering { old, new, words } = self;
        // The check reaches three bounds beyond a group, so one box more has to be there.
        let groups = new.len().saturating_sub(1) / GROUP;
        words.fill(0);
        let mut good = LOWER_BOUNDS;
        for group in 0..groups {
            let first = group * GROUP;
            let (old, new) = (&old[first..first + GROUP], &new[first..=first + GROUP]);
            let (differing, ordered) = compare(simd, old, new);
            words[group / (BLOCK / GROUP)] |= boxes_of(differing) << (first % BLOCK);
            good &= ordered;
        }
        let rest = groups * GROUP;
        for place in rest..new.len() {
            let differs = !old[place].same(&new[place]);
            words[place / BLOCK] |= u32::from(differs) << (place % BLOCK);
        }
        good == LOWER_BOUNDS && new[rest..].iter().all(|aabb| aabb.check().is_ok())
    }
}

/// Of the 24 bounds of four boxes, a bit for each that differs, and one for each that is at most
/// the bound three places on. The new boxes are five.
#[inline(always)]
fn compare<S: Simd>(simd: S, old: &[Aabb], new: &[Aabb]) -> (u32, u32) {
    assert!(old.len() == GROUP && new.len() == GROUP + 1);
    let (mut differing, mut ordered) = (0, 0);
    for part in 0..3 {
        // SAFETY: 4 boxes are 24 bounds, of which the three parts are 8 each; with the fifth they
        // are 30, of which the first 27 are read.
        let [old, low, high] =
            [(old, 0), (new, 0), (new, 3)].map(|(list, ahead): (&[Aabb], usize)| unsafe {
                S::Eight::load(simd, list.as_ptr().cast::<u32>().add(8 * part + ahead))
            });
        differing |= old.ne_f32(low).bits() << (8 * part);
        ordered |= low.le_f32(high).bits() << (8 * part);
    }
    (differing, ordered)
}

/// From a bit for each of 24 bounds, one for each of the four boxes that has a bit set.
#[inline(always)]
fn boxes_of(bounds: u32) -> u32 {
    let halves = bounds | bounds >> 3;
    let any = (halves | halves >> 1 | halves >> 2) & FIRST_BOUNDS;
    (any | any >> 5 | any >> 10 | any >> 15) & 0xf
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Level;

    fn aabb(k: usize) -> Aabb {
        Aabb::new([k as f32, -1.0, 0.0], [k as f32, 1.0, f32::INFINITY])
    }

    /// Every bound of every box of two blocks and a rest, changed alone: differs, and is refused
    /// where it is NaN or the lower bound passes the upper one.
    #[test]
    fn every_level_finds_every_bound_that_differs() {
        const COUNT: usize = 2 * BLOCK + 7;
        let old: Vec<Aabb> = (0..COUNT).map(aabb).collect();
        for level in Level::available() {
            let find = |new: &[Aabb]| {
                let mut words = [7u32; 3];
                let valid = level.run(FindDiffering { old: &old, new, words: &mut words });
                (words, valid)
            };
            assert_eq!(find(&old), ([0; 3], true), "{level:?}");
            for place in 0..COUNT {
                let mut expected = [0; 3];
                expected[place / BLOCK] = 1 << (place % BLOCK);
                for bound in 0..6 {
                    for (by, good) in [(-0.5, bound < 3), (0.5, bound > 2), (f32::NAN, false)] {
                        let mut new = old.clone();
                        match bound {
                            0..3 => new[place].min[bound] += by,
                            // Infinity plus a half would be the same.
                            5 => new[place].max[2] = by,
                            _ => new[place].max[bound - 3] += by,
                        }
                        let good = good || (by.abs() == 0.5 && new[place].check().is_ok());
                        assert_eq!(find(&new), (expected, good), "{level:?} {place} {bound}");
                    }
                }
                let mut new = old.clone();
                new[place].min[2] = -0.0;
                assert_eq!(find(&new), ([0; 3], true), "zeros are the same");
            }
            let all: Vec<Aabb> = (1..=COUNT).map(aabb).collect();
            assert_eq!(find(&all), ([u32::MAX, u32::MAX, (1 << 7) - 1], true), "{level:?}");
        }
    }
}
