//! [`LeafPairs`]: which triangles of one leaf may touch those of another.
//!
//! Each triangle of the second leaf is compared with the eight of the first at once: their boxes,
//! then what its plane parts, then what their planes part. As in [`leaf_gaps`](super::leaf_gaps) a
//! normal is taken as it was rounded, and both triangles are projected on that very direction, so
//! that only the places of the corners and the sums have errors.

use super::lanes::{Lanes, Points};
use super::leaf8::Leaf8;
use super::node_maps::NodeMap;
use super::node8::WIDTH;
use super::vector::{Eight, Mask, Simd};

/// Two triangles that may be near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairGap {
    /// No more than the square of their distance.
    pub gap: f32,
    /// The lane of the first leaf.
    pub a: u32,
    /// The lane of the second leaf.
    pub b: u32,
}

pub(crate) trait LeafPairs: Simd {
    /// For each triangle of `b`, which is seen through a map, the triangles of `a` that it may
    /// touch, one bit each.
    #[inline(always)]
    fn leaf_pairs(self, a: &Leaf8, b: &Leaf8, map: &NodeMap) -> [u32; WIDTH] {
        let mut found = [0; WIDTH];
        let corners = a.corners(self);
        let theirs = mapped(self, &b.corners(self), map);
        let error = place_error(a, b, map);
        let (low, high) = boxes(self, &corners, error);
        let (their_low, their_high) = boxes(self, &theirs, 0.0);
        // Triangles of b that meet the box of a at all.
        let mut left =
            meet((their_low, their_high), (low.least(), high.largest()), self) & b.lanes();
        if left == 0 {
            return found;
        }
        let lanes = a.lanes();
        let own = Planes::of(self, &corners, error);
        let their = Planes::of(self, &theirs, error).stored();
        let points = stored(&theirs);
        let (their_low, their_high) = (their_low.to_arrays(), their_high.to_arrays());
        while left != 0 {
            let lane = left.trailing_zeros() as usize % WIDTH;
            left &= left - 1;
            let other = (one(&their_low, lane), one(&their_high, lane));
            let mut mask = meet((low, high), other, self) & lanes;
            if mask == 0 {
                continue;
            }
            let other = triangle(self, &points, lane);
            mask &= !own.part(&other).bits();
            if mask == 0 {
                continue;
            }
            mask &= !their.plane(self, lane).part(&corners).bits();
            found[lane] = mask;
        }
        found
    }

    /// Appends the triangles of two leaves whose distance may have a square of at most `limit`.
    /// `line` is a unit vector, or zero, that may part them: `b` lies ahead.
    #[inline(always)]
    fn leaf_gaps(
        self,
        a: &Leaf8,
        b: &Leaf8,
        map: &NodeMap,
        line: [f32; 3],
        limit: f32,
        found: &mut Vec<PairGap>,
    ) {
        let none = Lanes::splat(self, 0.0);
        let corners = a.corners(self);
        let theirs = mapped(self, &b.corners(self), map);
        let error = place_error(a, b, map);
        let (low, high) = boxes(self, &corners, error);
        let (their_low, their_high) = boxes(self, &theirs, 0.0);
        let own = Planes::of_unit(self, &corners, error);
        let their = Planes::of_unit(self, &theirs, error).stored();
        let line = Points::splat(self, line);
        let reach = line.dot(corners[0]).max(line.dot(corners[1])).max(line.dot(corners[2]));
        // The sizes of a unit vector add up to less than two.
        let reach = reach + Lanes::splat(self, 4.0 * error);
        let begin = line.dot(theirs[0]).min(line.dot(theirs[1])).min(line.dot(theirs[2]));
        let begin = begin.to_array();
        let points = stored(&theirs);
        let (their_low, their_high) = (their_low.to_arrays(), their_high.to_arrays());
        let most = Lanes::splat(self, limit);
        for lane in 0..b.triangles().len().min(WIDTH) {
            let below = low - Points::splat(self, one(&their_high, lane));
            let above = Points::splat(self, one(&their_low, lane)) - high;
            let gap = below.max(above).max(Points { x: none, y: none, z: none });
            let square = gap.dot(gap);
            let mut mask = square.le(most).bits() & a.lanes();
            if mask == 0 {
                continue;
            }
            let other = triangle(self, &points, lane);
            let apart = own.apart(&other).max(their.plane(self, lane).apart(&corners));
            let apart = apart.max(Lanes::splat(self, begin[lane]) - reach).max(none);
            let square = square.max(apart * apart) * Lanes::splat(self, 1.0 - 8.0 * f32::EPSILON);
            mask &= square.le(most).bits();
            let gaps = square.to_array();
            while mask != 0 {
                let k = mask.trailing_zeros();
                mask &= mask - 1;
                found.push(PairGap { gap: gaps[k as usize % WIDTH], a: k, b: lane as u32 });
            }
        }
    }
}

impl<S: Simd> LeafPairs for S {}

/// How far the difference of a coordinate of a corner of `b`, seen through the map, and one of `a`
/// can be from the true one. The slack of a map is twice what the map rounds; the rest covers the
/// rounding of what is computed from the corners of `b`.
#[inline(always)]
fn place_error(a: &Leaf8, b: &Leaf8, map: &NodeMap) -> f32 {
    let turned = |row: &[f32; 3]| row[0].abs() + row[1].abs() + row[2].abs();
    let most = turned(&map.rows[0]).max(turned(&map.rows[1])).max(turned(&map.rows[2]));
    let bounds = a.bounds();
    let sizes = bounds.min.iter().chain(&bounds.max);
    let far = sizes.fold(0.0f32, |most, at| most.max(at.abs()));
    // The corners of `a` are rounded in sums and products too.
    (a.error + b.error * most + map.slack + 4.0 * f32::EPSILON * far) * (1.0 + 8.0 * f32::EPSILON)
}

/// Triangles seen through a map.
#[inline(always)]
fn mapped<S: Simd>(simd: S, [a, b, c]: &[Points<S>; 3], map: &NodeMap) -> [Points<S>; 3] {
    [mapped_point(simd, *a, map), mapped_point(simd, *b, map), mapped_point(simd, *c, map)]
}

#[inline(always)]
fn mapped_point<S: Simd>(simd: S, at: Points<S>, map: &NodeMap) -> Points<S> {
    Points {
        x: Lanes::splat(simd, map.shift[0]) + at.dot(Points::splat(simd, map.rows[0])),
        y: Lanes::splat(simd, map.shift[1]) + at.dot(Points::splat(simd, map.rows[1])),
        z: Lanes::splat(simd, map.shift[2]) + at.dot(Points::splat(simd, map.rows[2])),
    }
}

/// Triangles in memory, to be taken one by one.
#[inline(always)]
fn stored<S: Simd>([a, b, c]: &[Points<S>; 3]) -> [[[f32; WIDTH]; 3]; 3] {
    [a.to_arrays(), b.to_arrays(), c.to_arrays()]
}

/// The point in a lane.
#[inline(always)]
fn one(rows: &[[f32; WIDTH]; 3], lane: usize) -> [f32; 3] {
    let lane = lane % WIDTH;
    [rows[0][lane], rows[1][lane], rows[2][lane]]
}

/// The triangle in a lane, in all lanes.
#[inline(always)]
fn triangle<S: Simd>(simd: S, rows: &[[[f32; WIDTH]; 3]; 3], lane: usize) -> [Points<S>; 3] {
    [
        Points::splat(simd, one(&rows[0], lane)),
        Points::splat(simd, one(&rows[1], lane)),
        Points::splat(simd, one(&rows[2], lane)),
    ]
}

/// The boxes of triangles, grown.
#[inline(always)]
fn boxes<S: Simd>(simd: S, [a, b, c]: &[Points<S>; 3], by: f32) -> (Points<S>, Points<S>) {
    let by = Points::splat(simd, [by; 3]);
    (a.min(*b).min(*c) - by, a.max(*b).max(*c) + by)
}

/// The lanes whose box meets another.
#[inline(always)]
fn meet<S: Simd>(
    (low, high): (Points<S>, Points<S>),
    (least, most): ([f32; 3], [f32; 3]),
    simd: S,
) -> u32 {
    let (least, most) = (Points::splat(simd, least), Points::splat(simd, most));
    let x = low.x.le(most.x).and(least.x.le(high.x));
    let y = low.y.le(most.y).and(least.y.le(high.y));
    let z = low.z.le(most.z).and(least.z.le(high.z));
    x.and(y).and(z).bits()
}

/// Directions across triangles and how far those reach along them, both ends with what rounding
/// and errors can make of the other triangle's reach.
struct Planes<S: Simd> {
    normal: Points<S>,
    low: Lanes<S>,
    high: Lanes<S>,
}

impl<S: Simd> Planes<S> {
    #[inline(always)]
    fn of(simd: S, [a, b, c]: &[Points<S>; 3], error: f32) -> Self {
        let normal = (*b - *a).cross(*c - *a);
        let (one, two, three) = (normal.dot(*a), normal.dot(*b), normal.dot(*c));
        // The second time for the rounding of both projections, each a few units of the largest
        // coordinate times the sizes of the normal's.
        let margin =
            normal.sum_of_sizes() * Lanes::splat(simd, 2.0 * error) + Lanes::splat(simd, 1e-30);
        Planes {
            normal,
            low: one.min(two).min(three) - margin,
            high: one.max(two).max(three) + margin,
        }
    }

    /// As [`Planes::of`], with directions of a length of one or none, so that what they part is a
    /// length too.
    #[inline(always)]
    fn of_unit(simd: S, corners: &[Points<S>; 3], error: f32) -> Self {
        let [a, b, c] = *corners;
        let normal = (b - a).cross(c - a);
        let square = normal.dot(normal);
        let inverse = Lanes::splat(simd, 1.0) / square.sqrt();
        let sound = Lanes::splat(simd, 1e-30).le(square);
        let normal = normal.times(Lanes::splat(simd, 0.0).choose(inverse, sound));
        let (one, two, three) = (normal.dot(a), normal.dot(b), normal.dot(c));
        let margin = Lanes::splat(simd, 4.0 * error);
        let (low, high) = (one.min(two).min(three), one.max(two).max(three));
        Planes { normal, low: low - margin, high: high + margin }
    }

    /// How far a triangle is from the slab around this one; less than zero if it meets it.
    #[inline(always)]
    fn apart(&self, [a, b, c]: &[Points<S>; 3]) -> Lanes<S> {
        let (one, two, three) = (self.normal.dot(*a), self.normal.dot(*b), self.normal.dot(*c));
        (one.min(two).min(three) - self.high).max(self.low - one.max(two).max(three))
    }

    /// The lanes in which a triangle lies wholly on one side of the other.
    #[inline(always)]
    fn part(&self, [a, b, c]: &[Points<S>; 3]) -> S::Eight {
        let (one, two, three) = (self.normal.dot(*a), self.normal.dot(*b), self.normal.dot(*c));
        let above = self.high.le(one.min(two).min(three));
        let below = one.max(two).max(three).le(self.low);
        above.or(below)
    }

    #[inline(always)]
    fn stored(self) -> Stored {
        let Points { x, y, z } = self.normal;
        Stored([
            x.to_array(),
            y.to_array(),
            z.to_array(),
            self.low.to_array(),
            self.high.to_array(),
        ])
    }
}

/// Planes in memory, to be taken one by one.
struct Stored([[f32; WIDTH]; 5]);

impl Stored {
    #[inline(always)]
    fn plane<S: Simd>(&self, simd: S, lane: usize) -> Planes<S> {
        let lane = lane % WIDTH;
        let [x, y, z, low, high] = &self.0;
        Planes {
            normal: Points::splat(simd, [x[lane], y[lane], z[lane]]),
            low: Lanes::splat(simd, low[lane]),
            high: Lanes::splat(simd, high[lane]),
        }
    }
}
