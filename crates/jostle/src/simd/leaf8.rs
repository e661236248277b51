//! [`Leaf8`]: the corners of eight triangles, side by side and rounded to 16 bits.
//!
//! A corner is a whole number of steps from the lower corner of the leaf's box, on each axis. That
//! takes 18 bytes a triangle, where the box of each would take 24, and it tells much more: whole
//! triangles can be tested eight at a time. How far a rounded corner can be from the true one is
//! kept with the leaf, so that a test that grows everything by that much never leaves out a
//! triangle. What it leaves over is decided in f64.

use super::lanes::{Lanes, Points};
use super::node8::WIDTH;
use super::vector::Simd;
use crate::aabb::Aabb;

/// Steps along a side of the box.
pub(super) const STEPS: f32 = 65535.0;

/// Added to a number from 0 to 65535 it leaves the nearest whole number in the lowest bits.
const WHOLE: f32 = 8_388_608.0;

/// Least error of a leaf, so that bounds that are products of it never underflow. Trees lie within
/// a few units of the origin.
const LEAST_ERROR: f32 = 1.0 / (1u32 << 30) as f32;

/// Corners of eight triangles: of each corner and axis eight lanes.
pub(crate) type Corners = [[[f64; WIDTH]; 3]; 3];

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(16))]
pub(crate) struct Leaf8 {
    corners: [[[u16; WIDTH]; 3]; 3],
    low: [f32; 3],
    step: [f32; 3],
    /// No coordinate of a corner is further from the true one.
    pub error: f32,
    /// Number of lanes with a triangle; they come first.
    count: u32,
    /// The triangles.
    triangles: [u32; WIDTH],
}

impl Leaf8 {
    /// A leaf that is still to be fitted.
    pub(crate) fn new(triangles: impl Iterator<Item = u32>) -> Leaf8 {
        let mut leaf = Leaf8 {
            corners: [[[0; WIDTH]; 3]; 3],
            low: [0.0; 3],
            step: [0.0; 3],
            error: 0.0,
            count: 0,
            triangles: [0; WIDTH],
        };
        for triangle in triangles.take(WIDTH) {
            leaf.triangles[leaf.count as usize % WIDTH] = triangle;
            leaf.count += 1;
        }
        // Empty lanes hold a copy, which every mask leaves out.
        for lane in leaf.count as usize..WIDTH {
            leaf.triangles[lane] = leaf.triangles[0];
        }
        leaf
    }

    /// The triangles.
    #[inline(always)]
    pub(crate) fn triangles(&self) -> &[u32] {
        &self.triangles[..(self.count as usize).min(WIDTH)]
    }

    /// The triangle in a lane; that of the first for empty ones.
    #[inline(always)]
    pub(crate) fn triangle(&self, lane: usize) -> u32 {
        self.triangles[lane % WIDTH]
    }

    /// One bit for each lane with a triangle.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> u32 {
        (1 << self.count) - 1
    }

    /// A box around the triangles.
    #[inline(always)]
    pub(crate) fn bounds(&self) -> Aabb {
        let max = |k: usize| {
            let top = self.low[k] + STEPS * self.step[k];
            // Rounding of the sum, and sides too short for a step.
            top + 2.0 * f32::EPSILON * top.abs() + 1e-25
        };
        Aabb { min: self.low, max: [max(0), max(1), max(2)] }
    }

    /// Takes the places of the corners. Lanes without a triangle hold those of another.
    #[inline(always)]
    pub(crate) fn fit(&mut self, places: &Corners) {
        let mut error = 0.0;
        for k in 0..3 {
            let (least, largest) = range(places, k);
            let low = least as f32;
            let low = low - 2.0 * f32::EPSILON * low.abs() - 1e-36;
            let length = largest - f64::from(low);
            // A little longer, so that the box holds the last step.
            let step = (length / f64::from(STEPS)) as f32 * (1.0 + 4.0 * f32::EPSILON);
            let (step, each) = if step > 1e-30 { (step, 1.0 / step) } else { (0.0, 0.0) };
            (self.low[k], self.step[k]) = (low, step);
            for corner in 0..3 {
                self.corners[corner][k] = whole_steps(&places[corner][k], f64::from(low), each);
            }
            let off = rounding(low, step, length);
            error = if off > error { off } else { error };
        }
        self.error = error as f32 * (1.0 + 2.0 * f32::EPSILON) + LEAST_ERROR;
    }

    /// The lower corner of the box.
    #[inline(always)]
    pub(super) fn low(&self) -> &[f32; 3] {
        &self.low
    }

    /// Lengths of a step.
    #[inline(always)]
    pub(super) fn step(&self) -> &[f32; 3] {
        &self.step
    }

    /// How many steps a corner of each triangle is from the lower corner of the box.
    #[inline(always)]
    pub(super) fn steps<S: Simd>(&self, simd: S, corner: usize, axis: usize) -> Lanes<S> {
        Lanes::widen(simd, &self.corners[corner][axis])
    }

    /// A coordinate of a corner of each triangle.
    #[inline(always)]
    pub(super) fn row<S: Simd>(&self, simd: S, corner: usize, axis: usize) -> Lanes<S> {
        let (step, low) = (Lanes::splat(simd, self.step[axis]), Lanes::splat(simd, self.low[axis]));
        self.steps(simd, corner, axis) * step + low
    }

    /// The corners of the triangles.
    #[inline(always)]
    pub(super) fn corners<S: Simd>(&self, simd: S) -> [Points<S>; 3] {
        [self.corner(simd, 0), self.corner(simd, 1), self.corner(simd, 2)]
    }

    #[inline(always)]
    fn corner<S: Simd>(&self, simd: S, corner: usize) -> Points<S> {
        Points {
            x: self.row(simd, corner, 0),
            y: self.row(simd, corner, 1),
            z: self.row(simd, corner, 2),
        }
    }
}

/// How far a coordinate can be from what [`Leaf8::row`] makes of it. The number of steps is a
/// quotient that rounds three times, by less than 0.012 of 65535, and then to a whole number; the
/// product and the sum that it is read with round by half a unit each. Measuring instead what each
/// corner is off by finds a few hundredths less and takes longer.
#[inline(always)]
fn rounding(low: f32, step: f32, length: f64) -> f64 {
    if step == 0.0 {
        return length;
    }
    let side = f64::from(STEPS) * f64::from(step);
    let half = 0.5 * f64::from(f32::EPSILON);
    0.512 * f64::from(step) + half * (2.0 * side + f64::from(low.abs()))
}

/// How many steps coordinates are from the lowest, to the nearest whole number. A row at a time,
/// and out of place: that is what compilers turn into vectors.
#[inline(always)]
fn whole_steps(row: &[f64; WIDTH], low: f64, each: f32) -> [u16; WIDTH] {
    let mut out = [0; WIDTH];
    for lane in 0..WIDTH {
        let steps = (row[lane] - low) as f32 * each;
        let whole = if steps < STEPS { steps } else { STEPS } + WHOLE;
        out[lane] = whole.to_bits() as u16;
    }
    out
}

/// The least and the largest coordinate on an axis.
#[inline(always)]
fn range(places: &Corners, k: usize) -> (f64, f64) {
    let [a, b, c] = [&places[0][k], &places[1][k], &places[2][k]];
    let (mut least, mut largest) = ([0.0; WIDTH], [0.0; WIDTH]);
    for lane in 0..WIDTH {
        least[lane] = less(less(a[lane], b[lane]), c[lane]);
        largest[lane] = more(more(a[lane], b[lane]), c[lane]);
    }
    // By halves, so that lanes do not wait for each other.
    for half in [4, 2, 1] {
        for lane in 0..half {
            least[lane] = less(least[lane], least[lane + half]);
            largest[lane] = more(largest[lane], largest[lane + half]);
        }
    }
    (least[0], largest[0])
}

#[inline(always)]
fn less(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[inline(always)]
fn more(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Kernel, Level};
    use super::*;

    /// A generator of numbers from -1 to 1.
    pub(in super::super) struct Random(pub u64);

    impl Random {
        pub(in super::super) fn number(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }

        pub(in super::super) fn point(&mut self) -> [f64; 3] {
            [(); 3].map(|()| self.number())
        }

        /// Up to eight triangles of a size somewhere; some needles, points and flat ones.
        pub(in super::super) fn triangles(&mut self, size: f64) -> Vec<[[f64; 3]; 3]> {
            let center = self.point();
            let count = 1 + (self.number().abs() * 7.99) as usize;
            (0..count)
                .map(|_| {
                    let kind = self.number();
                    let mut corners = [(); 3].map(|()| {
                        let off = self.point();
                        std::array::from_fn(|k| center[k] + off[k] * size)
                    });
                    if kind < -0.8 {
                        corners[1] = corners[0];
                    } else if kind < -0.6 {
                        corners[2] =
                            std::array::from_fn(|k| corners[1][k] + 1e-9 * size * self.number());
                    } else if kind < -0.4 {
                        corners.iter_mut().for_each(|corner| corner[2] = center[2]);
                    }
                    corners
                })
                .collect()
        }
    }

    /// The leaf of some triangles, numbered from ten.
    pub(in super::super) fn leaf_of(triangles: &[[[f64; 3]; 3]]) -> Leaf8 {
        let mut leaf = Leaf8::new(10..10 + triangles.len() as u32);
        leaf.fit(&places_of(triangles));
        leaf
    }

    fn places_of(triangles: &[[[f64; 3]; 3]]) -> Corners {
        let mut places: Corners = [[[0.0; WIDTH]; 3]; 3];
        for lane in 0..WIDTH {
            let own = triangles.get(lane).unwrap_or(&triangles[0]);
            for corner in 0..3 {
                for k in 0..3 {
                    places[corner][k][lane] = own[corner][k];
                }
            }
        }
        places
    }

    struct Read<'a>(&'a Leaf8);

    impl Kernel for Read<'_> {
        type Output = Vec<f32>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<f32> {
            let corners = self.0.corners(simd);
            corners.iter().flat_map(|at| [at.x, at.y, at.z]).flat_map(Lanes::to_array).collect()
        }
    }

    struct Fit(Leaf8, Corners);

    impl Kernel for Fit {
        type Output = Leaf8;

        #[inline(always)]
        fn run<S: Simd>(mut self, _: S) -> Leaf8 {
            self.0.fit(&self.1);
            self.0
        }
    }

    #[test]
    fn corners_are_off_by_no_more_than_a_leaf_says_at_every_level() {
        let mut random = Random(5);
        for round in 0..600 {
            let size = [1.0, 1e-2, 1e-5, 1e-9, 0.0, 1e-35][round % 6];
            let triangles = random.triangles(size);
            let leaf = leaf_of(&triangles);
            assert_eq!(size_of::<Leaf8>(), 208);
            assert_eq!(leaf.lanes().count_ones() as usize, triangles.len());
            let expected: Vec<u32> = (10..10 + triangles.len() as u32).collect();
            assert_eq!(leaf.triangles(), expected);
            let plain = Level::available()[0].run(Read(&leaf));
            for level in Level::available() {
                let fitted = level.run(Fit(leaf, places_of(&triangles)));
                assert_eq!((fitted, level.run(Read(&leaf))), (leaf, plain.clone()), "{level:?}");
            }
            // Not more than half a step and the rounding of f32.
            let rounding = f64::from(LEAST_ERROR) + 2.0 * f64::from(f32::EPSILON);
            assert!(f64::from(leaf.error) <= 1.05 * size / 65535.0 + rounding);
            let aabb = leaf.bounds();
            for (lane, corners) in triangles.iter().enumerate() {
                for corner in 0..3 {
                    for k in 0..3 {
                        let (at, place) = (corners[corner][k], (corner * 3 + k) * WIDTH + lane);
                        let off = (f64::from(plain[place]) - at).abs();
                        assert!(off <= f64::from(leaf.error), "{off} {leaf:?}");
                        assert!(f64::from(aabb.min[k]) <= at && at <= f64::from(aabb.max[k]));
                    }
                }
            }
        }
    }
}
