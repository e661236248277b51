//! Kernels: listed pairs of boxes tested again, and how far boxes are from where they were
//! (`verlet`).
//!
//! A box is one register: the lower corner, and the upper one negated. Then two boxes overlap if
//! every lane of one is at most that of the other with halves swapped and signs turned: one
//! comparison for a pair, six bounds at once, and no branch.

use super::vector::{Eight, Mask, Simd, Vector};
use super::{Kernel, run};
use crate::aabb::Aabb;
use crate::pair::Pair;

/// Pairs that are tested together: their answers fill a byte.
pub(crate) const GROUP: usize = 8;

/// What the two lanes without a bound hold: a number that passes every comparison, and whose
/// difference to itself is zero.
const PAD: f32 = -0.25 * f32::MAX;

/// `min x y z`, a pad, `-max x y z`, a pad. NaN if there is no box.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub(crate) struct Corners([f32; 8]);

impl Corners {
    /// No box.
    pub(crate) const NONE: Corners = Corners([f32::NAN; 8]);

    #[inline(always)]
    pub(crate) fn new(aabb: &Aabb) -> Corners {
        let (min, max) = (&aabb.min, &aabb.max);
        Corners([min[0], min[1], min[2], PAD, -max[0], -max[1], -max[2], PAD])
    }

    /// The box, grown by a distance that is not negative and a little more, so that rounding never
    /// makes it smaller than asked for.
    #[inline(always)]
    pub(crate) fn grown(&self, by: f32) -> Aabb {
        // Twice the gap between neighbouring numbers there, and more than any gap near zero.
        let slop = |bound: f32| bound.abs() * f32::EPSILON * 2.0 + f32::MIN_POSITIVE;
        let lower = |k: usize| self.0[k] - (1.001 * by + slop(self.0[k]));
        let upper = |k: usize| (1.001 * by + slop(self.0[k + 4])) - self.0[k + 4];
        Aabb { min: [lower(0), lower(1), lower(2)], max: [upper(0), upper(1), upper(2)] }
    }

    pub(crate) fn aabb(&self) -> Aabb {
        let [x, y, z, _, u, v, w, _] = self.0;
        Aabb { min: [x, y, z], max: [-u, -v, -w] }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.0[0].is_nan()
    }

    /// Returns true if all bounds are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.0.iter().all(|bound| bound.is_finite())
    }

    /// How deep two finite boxes overlap on the axis where they do least; negative if they do not,
    /// by the widest gap.
    #[inline(always)]
    pub(crate) fn depth(&self, other: &Corners) -> f32 {
        // The pads differ by more than finite bounds that matter do.
        let depths: [f32; 8] = std::array::from_fn(|k| -self.0[k ^ 4] - other.0[k]);
        let least = |one: f32, other: f32| if one < other { one } else { other };
        let four: [f32; 4] = std::array::from_fn(|k| least(depths[k], depths[k + 4]));
        least(least(four[0], four[2]), least(four[1], four[3]))
    }

    /// The furthest that a bound is from that of an earlier box; none if one is not finite.
    pub(crate) fn way_from(&self, origin: &Corners) -> Option<f32> {
        let ways = self.0.iter().zip(&origin.0).map(|(now, was)| (now - was).abs());
        let furthest = ways.fold(0.0, |most, way| if way <= most { most } else { way });
        furthest.is_finite().then_some(furthest)
    }

    /// Returns true if the boxes overlap.
    pub(crate) fn overlaps(&self, other: &Corners) -> bool {
        (0..8).fold(true, |all, k| all & (other.0[k] <= -self.0[(k + 4) % 8]))
    }
}

/// Tests listed pairs again, in groups; `states` has a byte for each group. Appends the numbers of
/// the pairs whose answer is another.
pub(crate) fn retest(
    corners: &[Corners],
    pairs: &[Pair],
    states: &mut [u8],
    flipped: &mut Vec<u32>,
) {
    run(Retest { corners, pairs, states, flipped });
}

struct Retest<'a> {
    corners: &'a [Corners],
    pairs: &'a [Pair],
    states: &'a mut [u8],
    flipped: &'a mut Vec<u32>,
}

impl Kernel for Retest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let groups = self.pairs.as_chunks::<GROUP>().0;
        let signs = S::Eight::splat(simd, 1 << 31);
        for (number, (group, state)) in groups.iter().zip(self.states).enumerate() {
            let mut now = 0;
            for (bit, pair) in group.iter().enumerate() {
                let one = lanes(simd, &self.corners[pair.a().index()]);
                let other = lanes(simd, &self.corners[pair.b().index()]);
                let reach = one.partner::<4>().xor(signs);
                now |= u32::from(other.le_f32(reach).bits() == 0xff) << bit;
            }
            let mut flips = now ^ u32::from(*state);
            while flips != 0 {
                self.flipped.push((number * GROUP) as u32 + flips.trailing_zeros());
                flips &= flips - 1;
            }
            *state = now as u8;
        }
    }
}

#[inline(always)]
fn lanes<S: Simd>(simd: S, corners: &Corners) -> S::Eight {
    // SAFETY: eight values are readable.
    unsafe { S::Eight::load(simd, corners.0.as_ptr().cast()) }
}

/// The [depths](Corners::depth) of some pairs of finite boxes.
pub(crate) fn depths(corners: &[Corners], pairs: &[Pair], depths: &mut Vec<f32>) {
    run(Depths { corners, pairs, depths });
}

struct Depths<'a> {
    corners: &'a [Corners],
    pairs: &'a [Pair],
    depths: &'a mut Vec<f32>,
}

impl Kernel for Depths<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Depths { corners, pairs, depths } = self;
        depths.clear();
        let depth = |pair: &Pair| corners[pair.a().index()].depth(&corners[pair.b().index()]);
        depths.extend(pairs.iter().map(depth));
    }
}

/// What [`follow`] saw.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Followed {
    /// The furthest that a bound is from its origin, boxes that left their skin included.
    pub furthest: f32,
}

/// Reads the boxes at `slots` into `corners`, and notes the places, counted from `first`, at which
/// a bound is further than `skin` from its origin, or is not a number. A slot beyond the boxes has
/// none.
pub(crate) fn follow(
    aabbs: &[Aabb],
    slots: &[u32],
    origins: &[Corners],
    skin: f32,
    first: u32,
    corners: &mut [Corners],
    left: &mut Vec<u32>,
) -> Followed {
    run(Follow { aabbs, slots, origins, skin, first, corners, left })
}

struct Follow<'a> {
    aabbs: &'a [Aabb],
    slots: &'a [u32],
    origins: &'a [Corners],
    skin: f32,
    first: u32,
    corners: &'a mut [Corners],
    left: &'a mut Vec<u32>,
}

impl Kernel for Follow<'_> {
    type Output = Followed;

    /// Plain loops over eight lanes, which compile to vectors.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Followed {
        let mut furthest = [0f32; 8];
        let (slots, origins) = (self.slots.as_chunks::<8>().0, self.origins.as_chunks::<8>().0);
        let blocks = self.corners.as_chunks_mut::<8>().0;
        for (block, ((slots, origins), corners)) in
            slots.iter().zip(origins).zip(blocks).enumerate()
        {
            let mut outside = [false; 8];
            for lane in 0..8 {
                let now = match self.aabbs.get(slots[lane] as usize) {
                    Some(aabb) => Corners::new(aabb),
                    None => Corners::NONE,
                };
                corners[lane] = now;
                for k in 0..8 {
                    let way = (now.0[k] - origins[lane].0[k]).abs();
                    furthest[k] = if way > furthest[k] { way } else { furthest[k] };
                    // NaN is outside too.
                    outside[k] |= way.is_nan() || way > self.skin;
                }
            }
            if outside != [false; 8] {
                let first = self.first + 8 * block as u32;
                let out = |lane: &u32| {
                    let (now, origin) = (&corners[*lane as usize].0, &origins[*lane as usize].0);
                    !(0..8).all(|k| (now[k] - origin[k]).abs() <= self.skin)
                };
                self.left.extend((0..8).filter(out).map(|lane| first + lane));
            }
        }
        Followed { furthest: furthest.into_iter().fold(0.0, f32::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;
    use proptest::prelude::*;

    fn bound() -> impl Strategy<Value = f32> {
        let extremes = [f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::MAX, f32::MIN];
        let extreme = prop::sample::select(extremes.to_vec());
        prop_oneof![8 => (-4i8..4).prop_map(f32::from), 1 => extreme]
    }

    fn some_box() -> impl Strategy<Value = Aabb> {
        let corner = || prop::array::uniform3(bound());
        (corner(), corner(), 0..12).prop_map(|(a, b, none)| match none {
            0 => crate::aabb::NO_BOX,
            _ => Aabb {
                min: std::array::from_fn(|k| a[k].min(b[k])),
                max: std::array::from_fn(|k| a[k].max(b[k])),
            },
        })
    }

    proptest! {
        #[test]
        fn every_level_finds_the_flips_that_single_tests_find(
            boxes in prop::collection::vec(some_box(), 24),
            pairs in prop::collection::vec((0u32..12, 12u32..24), 16),
            before in prop::array::uniform2(any::<u8>()),
        ) {
            let corners: Vec<Corners> = boxes.iter().map(Corners::new).collect();
            let pairs: Vec<Pair> = pairs.into_iter().map(Pair::from).collect();
            let overlap = |pair: &Pair| boxes[pair.a().index()].overlaps(&boxes[pair.b().index()]);
            let was = |place: usize| before[place / 8] >> (place % 8) & 1 == 1;
            let expected: Vec<u32> =
                (0..16).filter(|&p| overlap(&pairs[p]) != was(p)).map(|p| p as u32).collect();
            for level in Level::available() {
                let (mut states, mut flipped) = (before, Vec::new());
                let states_of = &mut states;
                level.run(Retest {
                    corners: &corners, pairs: &pairs, states: states_of, flipped: &mut flipped,
                });
                prop_assert_eq!(&flipped, &expected, "{:?}", level);
                let is = |place: usize| states[place / 8] >> (place % 8) & 1 == 1;
                prop_assert!((0..16).all(|p| is(p) == overlap(&pairs[p])));
            }
            for (one, other) in pairs.iter().map(|p| (p.a().index(), p.b().index())) {
                let overlap = boxes[one].overlaps(&boxes[other]);
                prop_assert_eq!(corners[one].overlaps(&corners[other]), overlap);
                if corners[one].is_finite() && corners[other].is_finite() {
                    let depth = corners[one].depth(&corners[other]);
                    prop_assert_eq!(depth >= 0.0, overlap);
                }
            }
        }

        #[test]
        fn boxes_within_their_skin_stay_inside_the_grown_box(
            was in prop::array::uniform3(-1e6f32..1e6), way in prop::array::uniform3(-1f32..1.0),
            skin in 1e-6f32..1.0,
        ) {
            let origin = Corners::new(&Aabb::new(was, was.map(|low| low + 1.0)));
            let low: [f32; 3] = std::array::from_fn(|k| was[k] + way[k] * skin);
            let now = Aabb::new(low, low.map(|low| low + 1.0));
            for level in Level::available() {
                let (mut corners, mut left) = ([Corners::NONE; 8], Vec::new());
                let mut origins = [origin; 8];
                origins[3] = Corners::NONE;
                level.run(Follow {
                    aabbs: &[now], slots: &[0, 0, 0, 0, 0, 0, 0, 9], origins: &origins, skin,
                    first: 40, corners: &mut corners, left: &mut left,
                });
                prop_assert!(left.contains(&43) && left.contains(&47), "{:?}", left);
                prop_assert!(corners[7].is_none() && corners[0] == Corners::new(&now));
                if !left.contains(&40) {
                    prop_assert!(origin.grown(skin).contains(&now));
                }
            }
        }
    }
}
