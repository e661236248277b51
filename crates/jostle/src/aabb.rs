//! [`Aabb`], the only volume the broad phase knows, and its edge rules.
//!
//! The rules are stated here once and hold for every algorithm:
//!
//! - Boxes are **closed**: boxes that share a face, an edge or a corner overlap.
//! - NaN, and `min > max` on any axis, are refused with an error that names the axis.
//! - Everything else is legal and exact: infinite extents, `±0.0` (equal), boxes of zero
//!   size, the largest finite values.
//! - f64 input is rounded **outward** to f32, so rounding never loses an overlap.

use std::fmt;

/// An axis-aligned box: all points `p` with `min[k] <= p[k] <= max[k]`.
///
/// ```
/// use jostle::Aabb;
///
/// let crate_box = Aabb::around([0.0, 1.0, 0.0], [0.5, 1.0, 0.5]);
/// assert_eq!(crate_box, Aabb::new([-0.5, 0.0, -0.5], [0.5, 2.0, 0.5]));
/// assert_eq!(crate_box.center(), [0.0, 1.0, 0.0]);
/// assert_eq!(crate_box.grown(1.0).size(), [3.0, 4.0, 3.0]);
/// assert!(crate_box.union(&Aabb::point([9.0; 3])).contains(&crate_box));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Aabb {
    /// The lower corner.
    #[cfg_attr(feature = "serde", serde(with = "corner"))]
    pub min: [f32; 3],
    /// The upper corner.
    #[cfg_attr(feature = "serde", serde(with = "corner"))]
    pub max: [f32; 3],
}

/// What an empty slot, lane or cell holds: a box that overlaps nothing, not even
/// [`Aabb::EVERYTHING`], because no comparison with NaN holds.
pub(crate) const NO_BOX: Aabb = Aabb { min: [f32::NAN; 3], max: [f32::NAN; 3] };

/// One of the three coordinate axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Axis {
    /// The first coordinate.
    X,
    /// The second coordinate.
    Y,
    /// The third coordinate.
    Z,
}

impl Axis {
    /// The three axes in order.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Position of the axis in a coordinate array.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["x", "y", "z"][self.index()])
    }
}

/// What is wrong with a box, and on which axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoxFault {
    /// A bound is not a number.
    NotANumber {
        /// The axis of the bound.
        axis: Axis,
        /// True for the upper bound.
        upper: bool,
    },
    /// The lower bound lies above the upper one.
    Inverted {
        /// The axis of the bounds.
        axis: Axis,
        /// The lower bound.
        min: f32,
        /// The upper bound.
        max: f32,
    },
}

impl BoxFault {
    /// The axis on which the box is wrong.
    pub fn axis(&self) -> Axis {
        match *self {
            BoxFault::NotANumber { axis, .. } | BoxFault::Inverted { axis, .. } => axis,
        }
    }
}

impl fmt::Display for BoxFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            BoxFault::NotANumber { axis, upper } => {
                let bound = if upper { "max" } else { "min" };
                write!(f, "{bound} {axis} is NaN; give a number, or ±infinity for no bound")
            }
            BoxFault::Inverted { axis, min, max } => {
                write!(f, "min {axis} = {min} is above max {axis} = {max}; swap them")
            }
        }
    }
}

impl std::error::Error for BoxFault {}

impl Aabb {
    /// The whole space.
    pub const EVERYTHING: Aabb = Aabb { min: [f32::NEG_INFINITY; 3], max: [f32::INFINITY; 3] };

    /// A box from its corners. Nothing is checked here; [`Boxes`](crate::Boxes) checks.
    pub const fn new(min: [f32; 3], max: [f32; 3]) -> Aabb {
        Aabb { min, max }
    }

    /// The box of zero size at a point.
    pub const fn point(at: [f32; 3]) -> Aabb {
        Aabb { min: at, max: at }
    }

    /// The smallest f32 box that contains an f64 box: the lower corner rounds down, the upper
    /// one up. NaN stays NaN, so the fault is still found later.
    pub fn from_f64(min: [f64; 3], max: [f64; 3]) -> Aabb {
        Aabb { min: min.map(round_down), max: max.map(round_up) }
    }

    /// The box with a center and half its size along each axis, rounded outward.
    pub fn around(center: [f32; 3], half_size: [f32; 3]) -> Aabb {
        let at = |k: usize| (f64::from(center[k]), f64::from(half_size[k]));
        Aabb::from_f64(
            std::array::from_fn(|k| at(k).0 - at(k).1),
            std::array::from_fn(|k| at(k).0 + at(k).1),
        )
    }

    /// The smallest box around some points; none if there are none.
    pub fn from_points(points: impl IntoIterator<Item = [f32; 3]>) -> Option<Aabb> {
        points.into_iter().map(Aabb::point).reduce(|all, point| all.union(&point))
    }

    /// The middle of the box, rounded to the nearest f32; 0 along an axis on which it has no bound
    /// on either side.
    pub fn center(&self) -> [f32; 3] {
        std::array::from_fn(|k| {
            let sum = f64::from(self.min[k]) + f64::from(self.max[k]);
            if sum.is_nan() { 0.0 } else { (sum * 0.5) as f32 }
        })
    }

    /// The lengths along the three axes; see [`Aabb::extent`].
    pub fn size(&self) -> [f32; 3] {
        [self.extent(0), self.extent(1), self.extent(2)]
    }

    /// This box made larger by a distance on all sides, rounded outward.
    pub fn grown(&self, by: f64) -> Aabb {
        Aabb::from_f64(
            self.min.map(|bound| f64::from(bound) - by),
            self.max.map(|bound| f64::from(bound) + by),
        )
    }

    /// Returns true if rounding to f32 shapes this box: on some axis its size is not zero but at
    /// most eight times the gap between neighbouring numbers there. See
    /// [`Boxes::coarse_count`](crate::Boxes::coarse_count).
    pub fn is_coarse(&self) -> bool {
        let reach = |k: usize| self.min[k].abs().max(self.max[k].abs());
        // A gap is at most this share of the number below it, but for the smallest numbers.
        let fine = |k: usize| {
            let size = self.max[k] - self.min[k];
            size > 8.0 * f32::EPSILON * reach(k) && size > 1e-30
        };
        if fine(0) & fine(1) & fine(2) {
            return false;
        }
        (0..3).any(|k| {
            let gap = reach(k).next_up() - reach(k);
            // An infinite reach has a gap of NaN, a slot without a box a size of NaN.
            let size = self.max[k] - self.min[k];
            size > 0.0 && size <= 8.0 * gap
        })
    }

    /// The fault of this box, if it has one.
    pub fn check(&self) -> Result<(), BoxFault> {
        // One comparison per axis decides; NaN makes it false. `fault` says which it was.
        let good = (self.min[0] <= self.max[0])
            & (self.min[1] <= self.max[1])
            & (self.min[2] <= self.max[2]);
        if good { Ok(()) } else { Err(self.fault()) }
    }

    #[cold]
    fn fault(&self) -> BoxFault {
        for axis in Axis::ALL {
            let (min, max) = (self.min[axis.index()], self.max[axis.index()]);
            if min.is_nan() || max.is_nan() {
                return BoxFault::NotANumber { axis, upper: !min.is_nan() };
            }
            if min > max {
                return BoxFault::Inverted { axis, min, max };
            }
        }
        unreachable!("only called for a box with a fault")
    }

    /// Returns true if the closed boxes share at least one point.
    #[inline(always)]
    pub fn overlaps(&self, other: &Aabb) -> bool {
        // Non-short-circuit: six compares cost less than one mispredicted branch.
        (self.min[0] <= other.max[0])
            & (other.min[0] <= self.max[0])
            & (self.min[1] <= other.max[1])
            & (other.min[1] <= self.max[1])
            & (self.min[2] <= other.max[2])
            & (other.min[2] <= self.max[2])
    }

    /// Returns true if the point lies in the closed box.
    #[inline]
    pub fn contains_point(&self, point: [f32; 3]) -> bool {
        (0..3).all(|k| self.min[k] <= point[k] && point[k] <= self.max[k])
    }

    /// Returns true if `other` lies entirely inside this box.
    #[inline]
    pub fn contains(&self, other: &Aabb) -> bool {
        (0..3).all(|k| self.min[k] <= other.min[k] && other.max[k] <= self.max[k])
    }

    /// The smallest box around both.
    #[inline]
    pub fn union(&self, other: &Aabb) -> Aabb {
        Aabb {
            min: std::array::from_fn(|k| self.min[k].min(other.min[k])),
            max: std::array::from_fn(|k| self.max[k].max(other.max[k])),
        }
    }

    /// Length along an axis; infinite boxes have infinite extents, and a box at one
    /// infinite point has extent zero.
    #[inline]
    pub fn extent(&self, axis: usize) -> f32 {
        if self.min[axis] == self.max[axis] { 0.0 } else { self.max[axis] - self.min[axis] }
    }

    /// Returns true if both boxes have the same bounds; `-0.0` and `0.0` are the same bound.
    #[inline(always)]
    pub fn same(&self, other: &Aabb) -> bool {
        (self.min[0] == other.min[0])
            & (self.min[1] == other.min[1])
            & (self.min[2] == other.min[2])
            & (self.max[0] == other.max[0])
            & (self.max[1] == other.max[1])
            & (self.max[2] == other.max[2])
    }
}

/// Corners as three numbers. Text formats have no infinities (JSON makes them null), so there
/// they are the words "inf" and "-inf".
#[cfg(feature = "serde")]
mod corner {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Bound {
        Number(f32),
        Word(String),
    }

    pub(super) fn serialize<S: Serializer>(corner: &[f32; 3], out: S) -> Result<S::Ok, S::Error> {
        let bound = |value: f32| match value.is_finite() {
            true => Bound::Number(value),
            false => Bound::Word(value.to_string()),
        };
        if out.is_human_readable() {
            corner.map(bound).serialize(out)
        } else {
            corner.serialize(out)
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<[f32; 3], D::Error> {
        if !input.is_human_readable() {
            return <[f32; 3]>::deserialize(input);
        }
        let mut corner = [0.0; 3];
        for (value, bound) in corner.iter_mut().zip(<[Bound; 3]>::deserialize(input)?) {
            *value = match bound {
                Bound::Number(number) => number,
                Bound::Word(word) => word.parse().map_err(|_| {
                    de::Error::custom(format!("{word:?} is no bound; give a number, inf or -inf"))
                })?,
            };
        }
        Ok(corner)
    }
}

/// The largest f32 that is not above `value`.
#[inline]
pub fn round_down(value: f64) -> f32 {
    -round_up(-value)
}

/// The smallest f32 that is not below `value`. Without a branch: which way a number was rounded
/// cannot be predicted, and a box has six of them.
#[inline]
pub fn round_up(value: f64) -> f32 {
    let near = value as f32;
    let bits = near.to_bits();
    // What is below a number is neither NaN nor infinity nor a negative zero: the next number is
    // one further from zero, or one nearer to it.
    let below = u32::from(f64::from(near) < value);
    let negative = bits >> 31;
    f32::from_bits(bits.wrapping_add(below).wrapping_sub(2 * (below & negative)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(at: f32, size: f32) -> Aabb {
        Aabb::new([at; 3], [at + size; 3])
    }

    #[test]
    fn rounding_finds_the_next_numbers() {
        let plain_up = |value: f64| {
            let near = value as f32;
            if f64::from(near) < value { near.next_up() } else { near }
        };
        let plain_down = |value: f64| {
            let near = value as f32;
            if f64::from(near) > value { near.next_down() } else { near }
        };
        let mut values = vec![0.0, 1.0, 0.1, 1e-46, 1e-45, 1e-40, 1.17549435e-38, 3.4e38, 1e39];
        values.extend([f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::from(f32::MAX)]);
        values.extend((0..2000u64).map(|k| f64::from_bits(k.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
        values.extend((0..2000u32).map(|k| f64::from(k * 0x9E37) / 1000.3));
        values.retain(|value| !value.is_nan());
        for value in values.into_iter().flat_map(|value| [value, -value]) {
            for value in [value.next_down(), value, value.next_up()] {
                assert_eq!(round_up(value).to_bits(), plain_up(value).to_bits(), "{value:e}");
                assert_eq!(round_down(value).to_bits(), plain_down(value).to_bits(), "{value:e}");
            }
        }
    }

    #[test]
    fn touching_boxes_overlap_on_face_edge_and_corner() {
        let unit = cube(0.0, 1.0);
        for other in [
            Aabb::new([1.0, 0.0, 0.0], [2.0, 1.0, 1.0]),
            Aabb::new([1.0, 1.0, 0.0], [2.0, 2.0, 1.0]),
            cube(1.0, 1.0),
            Aabb::point([1.0, 1.0, 1.0]),
        ] {
            assert!(unit.overlaps(&other) && other.overlaps(&unit), "{other:?}");
        }
        assert!(!unit.overlaps(&cube(1.0f32.next_up(), 1.0)));
    }

    #[test]
    fn infinite_boxes_and_signed_zeros_follow_ieee_comparison() {
        assert!(Aabb::EVERYTHING.overlaps(&Aabb::point([f32::MAX; 3])));
        assert!(Aabb::EVERYTHING.overlaps(&Aabb::point([f32::INFINITY; 3])));
        assert!(Aabb::point([0.0; 3]).overlaps(&Aabb::point([-0.0; 3])));
        assert!(Aabb::point([0.0; 3]).same(&Aabb::point([-0.0; 3])));
        assert_eq!(Aabb::point([f32::INFINITY; 3]).extent(0), 0.0);
    }

    #[test]
    fn faults_name_the_axis_and_the_bound() {
        let nan = Aabb::new([0.0, 0.0, 0.0], [1.0, f32::NAN, 1.0]);
        assert_eq!(nan.check(), Err(BoxFault::NotANumber { axis: Axis::Y, upper: true }));
        let inverted = Aabb::new([0.0, 0.0, 2.0], [1.0, 1.0, 1.0]);
        let fault = inverted.check().unwrap_err();
        assert_eq!(fault.axis(), Axis::Z);
        assert!(fault.to_string().contains("min z = 2 is above max z = 1"));
        assert!(Aabb::EVERYTHING.check().is_ok());
        assert!(Aabb::point([-0.0, 0.0, f32::INFINITY]).check().is_ok());
    }

    #[test]
    fn boxes_around_a_center_contain_what_they_should() {
        let tenth = Aabb::around([0.1; 3], [0.2; 3]);
        assert!(f64::from(tenth.min[0]) <= f64::from(0.1f32) - f64::from(0.2f32));
        assert!(f64::from(tenth.max[0]) >= f64::from(0.1f32) + f64::from(0.2f32));
        assert!((tenth.center()[0] - 0.1).abs() < 1e-7);
        assert_eq!(Aabb::EVERYTHING.center(), [0.0; 3]);
        assert_eq!(Aabb::new([0.0; 3], [f32::INFINITY; 3]).center(), [f32::INFINITY; 3]);
        assert_eq!(Aabb::new([f32::MIN; 3], [f32::MAX; 3]).center(), [0.0; 3]);
        assert_eq!(cube(1.0, 2.0).grown(0.5), cube(0.5, 3.0));
        assert!(cube(1.0, 2.0).grown(1e-12).contains(&cube(1.0, 2.0)));
        assert_ne!(cube(1.0, 2.0).grown(1e-12), cube(1.0, 2.0));
        assert_eq!(Aabb::EVERYTHING.grown(1.0), Aabb::EVERYTHING);
        let points = [[0.0, 1.0, 5.0], [2.0, -1.0, 3.0]];
        assert_eq!(Aabb::from_points(points), Some(Aabb::new([0.0, -1.0, 3.0], [2.0, 1.0, 5.0])));
        assert_eq!(Aabb::from_points([]), None);
    }

    #[test]
    fn coarse_boxes_are_those_that_rounding_shapes() {
        assert!(Aabb::from_f64([1e6; 3], [1e6 + 0.02; 3]).is_coarse());
        assert!(!Aabb::from_f64([1e3; 3], [1e3 + 0.02; 3]).is_coarse());
        assert!(!Aabb::point([1e6; 3]).is_coarse());
        assert!(!Aabb::EVERYTHING.is_coarse());
        assert!(!Aabb::new([0.0; 3], [f32::INFINITY; 3]).is_coarse());
        assert!(!NO_BOX.is_coarse());
    }

    #[test]
    fn f64_input_rounds_outward() {
        let tenth = Aabb::from_f64([0.1; 3], [0.1; 3]);
        assert!(f64::from(tenth.min[0]) <= 0.1 && 0.1 <= f64::from(tenth.max[0]));
        assert_eq!(tenth.min[0].next_up(), tenth.max[0]);
        assert_eq!(round_down(1e300), f32::MAX);
        assert_eq!(round_up(1e300), f32::INFINITY);
        assert_eq!(round_down(-1e300), f32::NEG_INFINITY);
        assert_eq!(round_up(-1e300), f32::MIN);
        assert_eq!(round_up(1e-300), f32::from_bits(1));
        assert_eq!(round_down(-1e-300), -f32::from_bits(1));
        assert_eq!((round_down(0.5), round_up(0.5)), (0.5, 0.5));
        assert_eq!(round_down(f64::INFINITY), f32::INFINITY);
        assert!(round_up(f64::NAN).is_nan());
    }
}
