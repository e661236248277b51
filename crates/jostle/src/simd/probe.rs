//! [`Probe`]: one box made ready to be tested against many others that lie scattered in memory.
//!
//! A box is six numbers in a row. Two vectors of four that overlap in the middle cover them
//! without reading beyond: `min x, min y, min z, max x` and `min z, max x, max y, max z`. One
//! comparison for each and one look at the signs decide; no branch depends on a single bound.
//! Needs no more than every processor of an architecture has, so nothing is chosen at run time.

use crate::aabb::Aabb;

/// Four floats of a processor's common registers.
#[cfg(target_arch = "x86_64")]
mod four {
    use std::arch::x86_64::*;

    pub(super) type Four = __m128;

    #[inline(always)]
    pub(super) fn of(values: [f32; 4]) -> Four {
        // SAFETY: four floats are readable without alignment; every x86-64 processor has SSE2.
        unsafe { _mm_loadu_ps(values.as_ptr()) }
    }

    /// Returns true if every lane of `low` is at most that of `most`, and every lane of `high`
    /// at least that of `least`.
    #[inline(always)]
    pub(super) fn all_meet(low: Four, most: Four, high: Four, least: Four) -> bool {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe {
            let (below, above) = (_mm_cmple_ps(low, most), _mm_cmpge_ps(high, least));
            _mm_movemask_ps(_mm_and_ps(below, above)) == 0b1111
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod four {
    use std::arch::aarch64::*;

    pub(super) type Four = float32x4_t;

    #[inline(always)]
    pub(super) fn of(values: [f32; 4]) -> Four {
        // SAFETY: four floats are readable; every aarch64 target of the standard library has NEON.
        unsafe { vld1q_f32(values.as_ptr()) }
    }

    #[inline(always)]
    pub(super) fn all_meet(low: Four, most: Four, high: Four, least: Four) -> bool {
        // SAFETY: every aarch64 target of the standard library has NEON.
        unsafe {
            let (below, above) = (vcleq_f32(low, most), vcgeq_f32(high, least));
            vminvq_u32(vandq_u32(below, above)) == u32::MAX
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod four {
    use std::arch::wasm32::*;

    pub(super) type Four = v128;

    #[inline(always)]
    pub(super) fn of([a, b, c, d]: [f32; 4]) -> Four {
        f32x4(a, b, c, d)
    }

    #[inline(always)]
    pub(super) fn all_meet(low: Four, most: Four, high: Four, least: Four) -> bool {
        u32x4_all_true(v128_and(f32x4_le(low, most), f32x4_ge(high, least)))
    }
}

#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod four {
    pub(super) type Four = [f32; 4];

    #[inline(always)]
    pub(super) fn of(values: [f32; 4]) -> Four {
        values
    }

    #[inline(always)]
    pub(super) fn all_meet(low: Four, most: Four, high: Four, least: Four) -> bool {
        (0..4).fold(true, |all, lane| all & (low[lane] <= most[lane]) & (high[lane] >= least[lane]))
    }
}

use four::{Four, all_meet, of};

/// A box to be tested against others. See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Upper bounds, above which no lower bound may lie; the last lane always passes.
    most: Four,
    /// Lower bounds, below which no upper bound may lie; the first lane always passes.
    least: Four,
}

impl Probe {
    #[inline(always)]
    pub(crate) fn new(aabb: &Aabb) -> Probe {
        let Aabb { min, max } = aabb;
        Probe {
            most: of([max[0], max[1], max[2], f32::INFINITY]),
            least: of([f32::NEG_INFINITY, min[0], min[1], min[2]]),
        }
    }

    #[inline(always)]
    pub(crate) fn overlaps(&self, other: &Aabb) -> bool {
        let Aabb { min, max } = other;
        let low = of([min[0], min[1], min[2], max[0]]);
        let high = of([min[2], max[0], max[1], max[2]]);
        all_meet(low, self.most, high, self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_decides_as_the_box_does() {
        let values = [f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f32::INFINITY, f32::NAN];
        let mut boxes = Vec::new();
        for (place, &low) in values.iter().enumerate() {
            for &high in &values[place..] {
                for axis in 0..3 {
                    let mut one = Aabb { min: [-1.0; 3], max: [1.0; 3] };
                    (one.min[axis], one.max[axis]) = (low, high);
                    boxes.push(one);
                }
            }
        }
        let mut hits = 0;
        for one in &boxes {
            for other in &boxes {
                assert_eq!(
                    Probe::new(one).overlaps(other),
                    one.overlaps(other),
                    "{one:?} {other:?}"
                );
                hits += usize::from(one.overlaps(other));
            }
        }
        assert!(hits > boxes.len() && hits < boxes.len() * boxes.len());
    }
}
