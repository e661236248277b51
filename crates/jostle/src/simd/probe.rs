//! [`Probe`]: one box made ready to be tested against many others that lie scattered in memory.
//!
//! A box is six numbers in a row. Two vectors of four that overlap in the middle cover them
//! without reading beyond: `min x, min y, min z, max x` and `min z, max x, max y, max z`. One
//! comparison for each and one look at the signs decide; no branch depends on a single bound.
//! Needs no more than every x86-64 machine has, so nothing is chosen at run time.

use crate::aabb::Aabb;

#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::{
        __m128, _mm_and_ps, _mm_cmpge_ps, _mm_cmple_ps, _mm_loadu_ps, _mm_movemask_ps, _mm_setr_ps,
    };

    use super::Aabb;

    /// A box to be tested against others. See the [module](super).
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Probe {
        /// Upper bounds, above which no lower bound may lie; the last lane always passes.
        most: __m128,
        /// Lower bounds, below which no upper bound may lie; the first lane always passes.
        least: __m128,
    }

    impl Probe {
        #[inline(always)]
        pub fn new(aabb: &Aabb) -> Probe {
            let Aabb { min, max } = aabb;
            // SAFETY: every x86-64 machine has SSE2.
            unsafe {
                Probe {
                    most: _mm_setr_ps(max[0], max[1], max[2], f32::INFINITY),
                    least: _mm_setr_ps(f32::NEG_INFINITY, min[0], min[1], min[2]),
                }
            }
        }

        #[inline(always)]
        pub fn overlaps(&self, other: &Aabb) -> bool {
            let bounds = std::ptr::from_ref(other).cast::<f32>();
            // SAFETY: `Aabb` is `repr(C)` and six floats long: four from the first and four from
            // the third on lie within it. Every x86-64 machine has SSE2.
            unsafe {
                let below = _mm_cmple_ps(_mm_loadu_ps(bounds), self.most);
                let above = _mm_cmpge_ps(_mm_loadu_ps(bounds.add(2)), self.least);
                _mm_movemask_ps(_mm_and_ps(below, above)) == 0b1111
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    use super::Aabb;

    /// A box to be tested against others. See the [module](super).
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Probe {
        aabb: Aabb,
    }

    impl Probe {
        #[inline(always)]
        pub fn new(aabb: &Aabb) -> Probe {
            Probe { aabb: *aabb }
        }

        #[inline(always)]
        pub fn overlaps(&self, other: &Aabb) -> bool {
            self.aabb.overlaps(other)
        }
    }
}

pub(crate) use lanes::Probe;

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
