//! [`Lanes`]: eight `f32` with the operators of numbers, and [`Points`]: eight points.
//!
//! A thin layer over [`Eight`] for kernels that are mostly arithmetic. Every operation rounds, so
//! that all instruction sets give the same bits.
//!
//! Kernels must not wrap these in closures: a closure is a function of its own without the
//! kernel's instruction set, and one that is too large to be inlined turns every operation in it
//! into a call. Searches of leaves took two to ten times as long that way.

use std::ops::{Add, Div, Mul, Sub};

use super::vector::{Eight, Mask, Simd, Vector};

/// Eight numbers.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<S: Simd> {
    simd: S,
    register: S::Eight,
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    fn of(self, register: S::Eight) -> Self {
        Lanes { simd: self.simd, register }
    }

    /// The same number in all lanes.
    #[inline(always)]
    pub(crate) fn splat(simd: S, value: f32) -> Self {
        Lanes { simd, register: S::Eight::splat(simd, value.to_bits()) }
    }

    #[inline(always)]
    pub(crate) fn load(simd: S, values: &[f32; 8]) -> Self {
        // SAFETY: eight values are readable.
        Lanes { simd, register: unsafe { S::Eight::load(simd, values.as_ptr().cast()) } }
    }

    /// Whole numbers of 16 bits.
    #[inline(always)]
    pub(crate) fn widen(simd: S, values: &[u16; 8]) -> Self {
        // SAFETY: eight values are readable.
        Lanes { simd, register: unsafe { S::Eight::widen(simd, values.as_ptr()) } }
    }

    #[inline(always)]
    pub(crate) fn to_array(self) -> [f32; 8] {
        let mut values = [0.0; 8];
        // SAFETY: there is room for eight values.
        unsafe { self.register.store(values.as_mut_ptr().cast()) };
        values
    }

    /// The lane of this if it is less, of `other` if not; `other` for NaN.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.of(self.register.min_f32(other.register))
    }

    /// The lane of this if it is greater, of `other` if not; `other` for NaN.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        self.of(self.register.max_f32(other.register))
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        self.of(self.register.sqrt_f32())
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        self.of(self.register.and(S::Eight::splat(self.simd, 0x7fff_ffff)))
    }

    /// With the sign turned round in the lanes in which `sign` is negative.
    #[inline(always)]
    pub(crate) fn times_sign_of(self, sign: Self) -> Self {
        let bit = sign.register.and(S::Eight::splat(self.simd, 0x8000_0000));
        self.of(self.register.xor(bit))
    }

    /// Lanes that are at most those of `other`; false for NaN.
    #[inline(always)]
    pub(crate) fn le(self, other: Self) -> S::Eight {
        self.register.le_f32(other.register)
    }

    /// Lanes of `other` if the mask is set.
    #[inline(always)]
    pub(crate) fn choose(self, other: Self, mask: S::Eight) -> Self {
        self.of(self.register.choose(other.register, mask))
    }

    /// The largest lane; minus infinity if all are NaN.
    #[inline(always)]
    pub(crate) fn largest(self) -> f32 {
        self.register.largest_f32(self.simd)
    }

    /// The smallest lane; infinity if all are NaN.
    #[inline(always)]
    pub(crate) fn least(self) -> f32 {
        self.register.least_f32(self.simd)
    }
}

impl<S: Simd> Add for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.of(self.register.add_f32(other.register))
    }
}

impl<S: Simd> Sub for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.of(self.register.sub_f32(other.register))
    }
}

impl<S: Simd> Mul for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.of(self.register.mul_f32(other.register))
    }
}

impl<S: Simd> Div for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.of(self.register.div_f32(other.register))
    }
}

/// Eight points or vectors.
#[derive(Clone, Copy)]
pub(crate) struct Points<S: Simd> {
    pub x: Lanes<S>,
    pub y: Lanes<S>,
    pub z: Lanes<S>,
}

impl<S: Simd> Points<S> {
    /// From one row for each coordinate.
    #[inline(always)]
    pub(crate) fn load(simd: S, [x, y, z]: &[[f32; 8]; 3]) -> Self {
        Points { x: Lanes::load(simd, x), y: Lanes::load(simd, y), z: Lanes::load(simd, z) }
    }

    #[inline(always)]
    pub(crate) fn splat(simd: S, [x, y, z]: [f32; 3]) -> Self {
        Points { x: Lanes::splat(simd, x), y: Lanes::splat(simd, y), z: Lanes::splat(simd, z) }
    }

    /// The lesser coordinates.
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        Points { x: self.x.min(other.x), y: self.y.min(other.y), z: self.z.min(other.z) }
    }

    /// The greater coordinates.
    #[inline(always)]
    pub(crate) fn max(self, other: Self) -> Self {
        Points { x: self.x.max(other.x), y: self.y.max(other.y), z: self.z.max(other.z) }
    }

    #[inline(always)]
    pub(crate) fn dot(self, other: Self) -> Lanes<S> {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(crate) fn cross(self, other: Self) -> Self {
        Points {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    #[inline(always)]
    pub(crate) fn times(self, by: Lanes<S>) -> Self {
        Points { x: self.x * by, y: self.y * by, z: self.z * by }
    }

    #[inline(always)]
    pub(crate) fn abs(self) -> Self {
        Points { x: self.x.abs(), y: self.y.abs(), z: self.z.abs() }
    }

    /// The least coordinates of all lanes.
    #[inline(always)]
    pub(crate) fn least(self) -> [f32; 3] {
        [self.x.least(), self.y.least(), self.z.least()]
    }

    /// The largest coordinates of all lanes.
    #[inline(always)]
    pub(crate) fn largest(self) -> [f32; 3] {
        [self.x.largest(), self.y.largest(), self.z.largest()]
    }

    /// One array for each coordinate.
    #[inline(always)]
    pub(crate) fn to_arrays(self) -> [[f32; 8]; 3] {
        [self.x.to_array(), self.y.to_array(), self.z.to_array()]
    }

    /// With the sign turned round in the lanes in which `sign` is negative.
    #[inline(always)]
    pub(crate) fn times_sign_of(self, sign: Lanes<S>) -> Self {
        Points {
            x: self.x.times_sign_of(sign),
            y: self.y.times_sign_of(sign),
            z: self.z.times_sign_of(sign),
        }
    }

    /// Lanes of `other` if the mask is set.
    #[inline(always)]
    pub(crate) fn choose(self, other: Self, mask: S::Eight) -> Self {
        Points {
            x: self.x.choose(other.x, mask),
            y: self.y.choose(other.y, mask),
            z: self.z.choose(other.z, mask),
        }
    }

    /// Sum of the sizes of the coordinates.
    #[inline(always)]
    pub(crate) fn sum_of_sizes(self) -> Lanes<S> {
        self.x.abs() + self.y.abs() + self.z.abs()
    }
}

impl<S: Simd> Add for Points<S> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Points { x: self.x + other.x, y: self.y + other.y, z: self.z + other.z }
    }
}

impl<S: Simd> Sub for Points<S> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Points { x: self.x - other.x, y: self.y - other.y, z: self.z - other.z }
    }
}
