//! [`LeafGaps`]: which triangles of a leaf are near a point or a box, or in the way of a ray.
//!
//! Every bound holds for the true triangles, whatever f32 and the leaf's 16 bits round: a distance
//! is bounded from below by what parts the triangle from the point along *some* direction, and any
//! direction will do. The direction is found with rounding, as the line to the nearest point;
//! what it parts is then computed for that very direction. So needles and triangles without area
//! need no care: their bounds may be poor but are never wrong.

use super::lanes::{Lanes, Points};
use super::leaf8::{Leaf8, STEPS};
use super::node8::WIDTH;
use super::vector::{Mask, Simd};
use crate::aabb::{Aabb, Axis};

/// A ray in the frame of a tree, seen along its largest part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LeafRay {
    /// The axes, that of the largest part of the direction last.
    pub axes: [Axis; 3],
    /// The origin on these axes, no further from the middle than eight times the mesh.
    pub origin: [f32; 3],
    /// The other parts of the direction over the largest.
    pub shear: [f32; 2],
    /// The sign of the direction on the last axis.
    pub forward: f32,
    /// Covers the rounding of all of these and that of corners to f32, see [`RAY_ROUNDING`].
    pub slack: f32,
}

/// How far a corner of a leaf can seem to be from where a ray sees it, for each unit that the mesh
/// reaches from the middle and that the origin is away from it. In halves of a unit in the last
/// place of a mesh of one unit and an origin `n` units away: `n` from rounding the origin, `n + 1`
/// from subtracting it, that again and `2 n + 2` more from the product with the shear and `2 n + 2`
/// from the last difference are less than `8 n + 6`; the rest is room.
pub(crate) const RAY_ROUNDING: f32 = 6.0 * f32::EPSILON;

/// The length of a vector at `sqrt(3)` times its largest coordinate, rounded up.
const DIAGONAL: f32 = 1.733;

pub(crate) trait LeafGaps: Simd {
    /// The lanes that a ray may hit no later than `limit`, in units of its last axis.
    ///
    /// What bounds the errors depends on the leaf alone and not on how the ray passes it, so that
    /// it is known before the corners are. Seeing the lower corner in f64 leaves 0.46 triangles a
    /// ray to be decided in f64 instead of 0.52, but made every ray wait for four conversions.
    #[inline(always)]
    fn crossed(self, leaf: &Leaf8, ray: &LeafRay, limit: f32) -> u32 {
        let Some(view) = View::of(leaf, ray) else { return 0 };
        let (a, b, c) =
            (view.corner(self, leaf, 0), view.corner(self, leaf, 1), view.corner(self, leaf, 2));
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        let error = Lanes::splat(self, 6.0 * view.off * (view.size + view.off));
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let apart = (least + error).le(Lanes::splat(self, 0.0)).and(error.le(most));
        let crossed = leaf.lanes() & !apart.bits();
        // More than half of the leaves end here.
        if crossed == 0 {
            return 0;
        }
        let forward = Lanes::splat(self, ray.forward);
        let time = (a.z * forward).min(b.z * forward).min(c.z * forward);
        let late = Lanes::splat(self, limit + 2.0 * view.off).le(time);
        crossed & !late.bits()
    }

    /// Lower bounds of the squares of the distances of the triangles from a point, whose
    /// coordinates are off by at most `rounding`. NaN for empty lanes.
    #[inline(always)]
    fn gaps_to_point(self, leaf: &Leaf8, point: [f32; 3], rounding: f32) -> [f32; WIDTH] {
        let (none, rounding) = (Lanes::splat(self, 0.0), leaf.error + rounding);
        let [a, b, c] = leaf.corners(self);
        let point = Points::splat(self, point);
        let (pa, pb, pc) = (point - a, point - b, point - c);
        let (ab, bc, ca) = (b - a, c - b, a - c);
        let normal = ab.cross(bc);
        let sides = [normal.dot(ab.cross(pa)), normal.dot(bc.cross(pb)), normal.dot(ca.cross(pc))];
        let inside = none.le(sides[0].min(sides[1]).min(sides[2]));
        // From the nearest point of an edge to the point.
        let (line, least) = edge_line(self, ab, pa);
        let (line, least) = nearer(line, least, edge_line(self, bc, pb));
        let (line, _) = nearer(line, least, edge_line(self, ca, pc));
        let face = normal.times_sign_of(normal.dot(pa));
        let line = line.choose(face, inside);
        let apart = line.dot(pa).min(line.dot(pb)).min(line.dot(pc));
        let far = pa.sum_of_sizes().max(pb.sum_of_sizes()).max(pc.sum_of_sizes());
        let margin =
            Lanes::splat(self, DIAGONAL * rounding) + Lanes::splat(self, 8.0 * f32::EPSILON) * far;
        let gap = (quotient(self, apart, line) - margin).max(none);
        let mut out = (gap * gap).to_array();
        empty(leaf, &mut out);
        out
    }

    /// As [`LeafGaps::gaps_to_point`] for a box, from the boxes and the planes of the triangles.
    #[inline(always)]
    fn gaps_to_box(self, leaf: &Leaf8, other: &Aabb) -> [f32; WIDTH] {
        let none = Lanes::splat(self, 0.0);
        let [a, b, c] = leaf.corners(self);
        let (low, high) = (Points::splat(self, other.min), Points::splat(self, other.max));
        let error = leaf.error + 4.0 * f32::EPSILON;
        let gap = (a.min(b).min(c) - high).max(low - a.max(b).max(c));
        let gap = (gap - Points::splat(self, [error; 3])).max(Points { x: none, y: none, z: none });
        let normal = (b - a).cross(c - a);
        let half = Lanes::splat(self, 0.5);
        let (center, reach) = ((low + high).times(half), (high - low).times(half));
        let (pa, pb, pc) = (center - a, center - b, center - c);
        let (one, two, three) = (normal.dot(pa), normal.dot(pb), normal.dot(pc));
        let lowest = one.min(two).min(three);
        let highest = one.max(two).max(three);
        let apart = lowest.max(none - highest) - normal.abs().dot(reach);
        let far = pa.sum_of_sizes().max(pb.sum_of_sizes()).max(pc.sum_of_sizes());
        let far = far + reach.sum_of_sizes();
        let large = other.min.iter().chain(&other.max).fold(0.0f32, |most, at| most.max(at.abs()));
        let margin = Lanes::splat(self, DIAGONAL * (leaf.error + 2.0 * f32::EPSILON * large))
            + Lanes::splat(self, 8.0 * f32::EPSILON) * far;
        let plane = (quotient(self, apart, normal) - margin).max(none);
        let mut out = (plane * plane).max(gap.dot(gap)).to_array();
        empty(leaf, &mut out);
        out
    }
}

impl<S: Simd> LeafGaps for S {}

/// How the corners of a leaf are seen along a ray.
struct View {
    axes: [Axis; 3],
    /// The lower corner of the leaf, and a step along each axis.
    low: [f32; 3],
    step: [f32; 3],
    /// How far a step along the last axis moves the other two.
    shift: [f32; 2],
    /// No coordinate is larger than the size, and none but the last is off by more than `off`; the
    /// last by less than twice that.
    size: f32,
    off: f32,
}

impl View {
    /// Nothing if the ray passes the leaf by.
    #[inline(always)]
    fn of(leaf: &Leaf8, ray: &LeafRay) -> Option<View> {
        let [kx, ky, kz] = ray.axes;
        let (low, step) = (leaf.low(), leaf.step());
        let z = low[kz.index()] - ray.origin[2];
        let x = low[kx.index()] - ray.origin[0] - ray.shear[0] * z;
        let y = low[ky.index()] - ray.origin[1] - ray.shear[1] * z;
        let (sx, sy, sz) = (step[kx.index()], step[ky.index()], step[kz.index()]);
        let shift = [ray.shear[0] * sz, ray.shear[1] * sz];
        // No corner is further from the lower one, because no part of the shear is above one.
        let extent = STEPS * (if sx > sy { sx } else { sy } + sz);
        // Both axes are off by the leaf's error; the rest is rounding: that of the view is in the
        // slack, two dozen halves of a unit of the size come from the corners.
        let off = 2.0 * leaf.error + 32.0 * f32::EPSILON * extent + ray.slack;
        let near = extent + off;
        // All corners on one side. Boxes have seen to it but for rounding.
        if x.abs() > near || y.abs() > near {
            return None;
        }
        let (low, step) = ([x, y, z], [sx, sy, sz]);
        Some(View { axes: ray.axes, low, step, shift, size: 2.0 * extent + off, off })
    }

    /// A corner of each triangle.
    #[inline(always)]
    fn corner<S: Simd>(&self, simd: S, leaf: &Leaf8, corner: usize) -> Points<S> {
        let [x, y, z] = self.axes;
        let (x, y) = (leaf.steps(simd, corner, x.index()), leaf.steps(simd, corner, y.index()));
        let z = leaf.steps(simd, corner, z.index());
        let (low, step) = (Points::splat(simd, self.low), Points::splat(simd, self.step));
        Points {
            x: x * step.x + low.x - z * Lanes::splat(simd, self.shift[0]),
            y: y * step.y + low.y - z * Lanes::splat(simd, self.shift[1]),
            z: z * step.z + low.z,
        }
    }
}

/// The line to a point from the nearest point of an edge that begins `from` before it, and the
/// square of its length.
#[inline(always)]
fn edge_line<S: Simd>(simd: S, edge: Points<S>, from: Points<S>) -> (Points<S>, Lanes<S>) {
    let along = from.dot(edge) / edge.dot(edge);
    // Zero for edges without length.
    let along = along.max(Lanes::splat(simd, 0.0)).min(Lanes::splat(simd, 1.0));
    let line = from - edge.times(along);
    (line, line.dot(line))
}

/// The shorter of two lines.
#[inline(always)]
fn nearer<S: Simd>(
    line: Points<S>,
    square: Lanes<S>,
    (other, others): (Points<S>, Lanes<S>),
) -> (Points<S>, Lanes<S>) {
    (line.choose(other, others.le(square)), others.min(square))
}

/// A product with a vector over its length; zero where that underflows or overflows.
#[inline(always)]
fn quotient<S: Simd>(simd: S, product: Lanes<S>, line: Points<S>) -> Lanes<S> {
    let square = line.dot(line);
    let sound = Lanes::splat(simd, 1e-30).le(square).and(product.le(Lanes::splat(simd, 1e37)));
    Lanes::splat(simd, 0.0).choose(product / square.sqrt(), sound)
}

#[inline(always)]
fn empty(leaf: &Leaf8, out: &mut [f32; WIDTH]) {
    for gap in &mut out[leaf.triangles().len()..] {
        *gap = f32::NAN;
    }
}
