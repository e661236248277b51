//! The simplex of GJK and the solver that finds its point nearest to the origin.
//!
//! The solver walks Voronoi regions with the reduced set (van den Bergen, *A Fast and Robust GJK
//! Implementation for Collision Detection of Convex Objects*, theorem 2; Ericson, *Real-Time
//! Collision Detection*): the newest corner always takes part in the answer, so a tetrahedron needs
//! seven regions instead of fourteen. Departures:
//!
//! 1. All products are taken relative to the newest corner. Corners that lie close together have
//!    exact differences, so a tiny far-away triangle loses only `eps * far / edge`, where the
//!    expanded determinants lose the square of it.
//! 2. The nearest point of a face is the projection along its normal, not a sum of weighted
//!    corners: its direction stays good when the distance is tiny.
//! 3. Heights and feet are measured from the corner that is nearest to the origin: a tiny shape
//!    against a large one has corners a million times further away than the answer.
//! 4. Short answers on long edges are made square to the edge once more, and so are normals of
//!    thin triangles: an angle of 1e-9 at a lever of one is the whole tolerance.
//! 5. The region that the theorem rules out is still tested. It is reached only by rounding or by a
//!    simplex from the last frame, and then it decides.
//! 6. A flat tetrahedron or triangle falls back to its faces or edges instead of trusting a sign.

use glam::DVec3;

/// A point of the Minkowski difference `a - b` with its origin on both shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Corner {
    /// The point of the difference.
    pub point: DVec3,
    /// The point of the first shape it came from; the second one's is `on_a - point`.
    pub on_a: DVec3,
    /// Vertices of both shapes, for the next frame; meaningless for curved shapes.
    pub ids: [u32; 2],
}

/// Up to four corners, the newest last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Simplex {
    corners: [Corner; 4],
    len: usize,
}

/// A candidate answer: the nearest vector and the corners that carry it, as a bit set.
type Nearest = (DVec3, u8);

/// Squared sine under which a triangle counts as a line.
const FLAT: f64 = 1e-28;

/// Squared sine under which a triangle's normal needs care.
const THIN: f64 = 1e-6;

/// Volume, as a share of the product of three edges, under which a tetrahedron counts as flat.
const FLAT_VOLUME: f64 = 1e-15;

impl Simplex {
    /// The corners in order of age.
    pub(crate) fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    /// The same corners with every point of b moved: points of the difference move against it.
    pub(crate) fn with_b_moved(mut self, by: DVec3) -> Simplex {
        self.corners[..self.len].iter_mut().for_each(|corner| corner.point -= by);
        self
    }

    /// Forgets every corner.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds the newest corner. A fifth one is refused: the solver has been skipped.
    pub(crate) fn push(&mut self, corner: Corner) {
        assert!(self.len < 4, "a simplex holds four corners");
        self.corners[self.len] = corner;
        self.len += 1;
    }

    /// Returns true if the point is one of the corners already.
    #[inline]
    pub(crate) fn contains(&self, point: DVec3) -> bool {
        self.corners().iter().any(|corner| corner.point == point)
    }

    /// The point nearest to the origin and the corners that carry it, as a bit set. `None` says
    /// that the origin is inside the tetrahedron.
    #[inline]
    pub(crate) fn nearest(&self) -> Option<(DVec3, u8)> {
        let point = |index: usize| self.corners[index].point;
        Some(match self.len {
            0 => (DVec3::ZERO, 0),
            1 => (point(0), 1),
            2 => on_edge(point(0), point(1)),
            3 => on_triangle(point(0), point(1), point(2)),
            _ => return on_tetrahedron(point(0), point(1), point(2), point(3)),
        })
    }

    /// Keeps the corners that carry the point nearest to the origin and returns that point.
    /// `None` says that the origin is inside the tetrahedron.
    pub(crate) fn reduce(&mut self) -> Option<DVec3> {
        let (nearest, mask) = self.nearest()?;
        self.keep(mask);
        Some(nearest)
    }

    /// Takes the newest corner away.
    pub(crate) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }

    /// As [`Simplex::reduce`], for a simplex with no newest corner: every region is tried.
    pub(crate) fn reduce_any(&mut self) -> Option<DVec3> {
        let mut best: Option<(DVec3, Simplex)> = None;
        for first in 0..self.len.max(1) {
            let mut turned = *self;
            turned.corners[..self.len].rotate_left(first);
            let nearest = turned.reduce()?;
            if best.is_none_or(|(other, _)| nearest.length_squared() < other.length_squared()) {
                best = Some((nearest, turned));
            }
        }
        let (nearest, simplex) = best?;
        *self = simplex;
        Some(nearest)
    }

    /// Keeps the corners of a bit set, in order.
    #[inline]
    pub(crate) fn keep(&mut self, mask: u8) {
        let mut kept = 0;
        for index in 0..self.len {
            if mask >> index & 1 == 1 {
                if kept != index {
                    self.corners[kept] = self.corners[index];
                }
                kept += 1;
            }
        }
        self.len = kept;
    }

    /// Weights of the corners for the point of the simplex nearest to the origin; they are not
    /// negative and sum to one.
    pub(crate) fn weights(&self) -> [f64; 4] {
        let [p, q, r, s] = [0, 1, 2, 3].map(|i| self.corners[i].point);
        match self.len {
            0 | 1 => [1.0, 0.0, 0.0, 0.0],
            2 => edge_weights(p, q),
            3 => triangle_weights(p, q, r),
            _ => tetrahedron_weights(p, q, r, s),
        }
    }

    /// The nearest point's place on both shapes.
    pub(crate) fn witnesses(&self) -> (DVec3, DVec3) {
        let weights = self.weights();
        let mut on_a = DVec3::ZERO;
        let mut point = DVec3::ZERO;
        for (corner, weight) in self.corners().iter().zip(weights) {
            on_a += corner.on_a * weight;
            point += corner.point * weight;
        }
        (on_a, on_a - point)
    }
}

/// Nearest point of the segment from `p` (bit 0) to the newest `q` (bit 1).
#[inline]
fn on_edge(p: DVec3, q: DVec3) -> Nearest {
    let edge = p - q;
    let along = -q.dot(edge);
    let length = edge.length_squared();
    if along <= 0.0 {
        (q, 0b10)
    } else if along >= length {
        (p, 0b01)
    } else {
        let foot = if along + along <= length {
            q + edge * (along / length)
        } else {
            p - edge * (p.dot(edge) / length)
        };
        (across(foot, edge, length), 0b11)
    }
}

/// A vector that should be square to an edge, made so again if it is so short that rounding has
/// turned it: the far ends of the edge would see the error as height.
#[inline]
fn across(vector: DVec3, edge: DVec3, length: f64) -> DVec3 {
    if vector.length_squared() > 1e-8 * length {
        return vector;
    }
    vector - edge * (vector.dot(edge) / length)
}

/// The normal of a thin triangle made square to its longer edge again. The cross product of nearly
/// parallel edges is turned by rounding, and a long edge makes height of it.
#[cold]
fn squared(normal: DVec3, to_p: DVec3, to_q: DVec3) -> DVec3 {
    let (at_p, at_q) = (to_p.length_squared(), to_q.length_squared());
    let (edge, length) = if at_p > at_q { (to_p, at_p) } else { (to_q, at_q) };
    normal - edge * (normal.dot(edge) / length)
}

/// The corner nearest to the origin: its height over a plane suffers least from rounding.
#[inline]
fn smallest(p: DVec3, q: DVec3, r: DVec3) -> DVec3 {
    let (at_p, at_q, at_r) = (p.length_squared(), q.length_squared(), r.length_squared());
    if at_r <= at_p && at_r <= at_q {
        r
    } else if at_p <= at_q {
        p
    } else {
        q
    }
}

fn closer(a: Nearest, b: Nearest) -> Nearest {
    if b.0.length_squared() < a.0.length_squared() { b } else { a }
}

/// Nearest point of the triangle `p`, `q` and the newest `r` (bits 0, 1, 2).
#[inline]
pub(super) fn on_triangle(p: DVec3, q: DVec3, r: DVec3) -> Nearest {
    let (to_p, to_q) = (p - r, q - r);
    let normal = to_p.cross(to_q);
    let area = normal.length_squared();
    let at_p = -r.cross(to_q).dot(normal);
    let at_q = -to_p.cross(r).dot(normal);
    let span = to_p.length_squared() * to_q.length_squared();
    let flat = area <= FLAT * span;
    if !flat && at_p > 0.0 && at_q > 0.0 && at_p + at_q < area {
        let normal = if area < THIN * span { squared(normal, to_p, to_q) } else { normal };
        let area = normal.length_squared();
        return (normal * (smallest(p, q, r).dot(normal) / area), 0b111);
    }
    let mut best = (DVec3::INFINITY, 0);
    if flat || at_q <= 0.0 {
        let (nearest, mask) = on_edge(p, r);
        best = (nearest, mask & 1 | (mask & 2) << 1);
    }
    if flat || at_p <= 0.0 {
        let (nearest, mask) = on_edge(q, r);
        best = closer(best, (nearest, mask << 1));
    }
    if flat || at_p + at_q >= area {
        best = closer(best, on_edge(p, q));
    }
    best
}

/// Nearest point of the tetrahedron `p`, `q`, `r` and the newest `s` (bits 0 to 3).
fn on_tetrahedron(p: DVec3, q: DVec3, r: DVec3, s: DVec3) -> Option<Nearest> {
    let (to_p, to_q, to_r) = (p - s, q - s, r - s);
    let normals = [to_p.cross(to_q), to_q.cross(to_r), to_r.cross(to_p)];
    let volume = normals[0].dot(to_r);
    // Heights of the origin over the newest faces, positive on the inner side.
    let heights = normals.map(|normal| -s.dot(normal) * volume.signum());
    // Two roots instead of a squared volume: degree six would leave the range of f64.
    let span = (to_p.length_squared() * to_q.length_squared()).sqrt() * to_r.length();
    let flat = volume.abs() <= FLAT_VOLUME * span;
    let beyond = heights[0] + heights[1] + heights[2] > volume.abs();
    if !flat && !beyond && heights.iter().all(|&height| height >= 0.0) {
        return None;
    }
    let mut best = (DVec3::INFINITY, 0);
    if flat || heights[0] < 0.0 {
        let (nearest, mask) = on_triangle(p, q, s);
        best = (nearest, mask & 0b11 | (mask & 0b100) << 1);
    }
    if flat || heights[1] < 0.0 {
        let (nearest, mask) = on_triangle(q, r, s);
        best = closer(best, (nearest, mask << 1));
    }
    if flat || heights[2] < 0.0 {
        let (nearest, mask) = on_triangle(r, p, s);
        let mask = (mask & 1) << 2 | (mask & 2) >> 1 | (mask & 4) << 1;
        best = closer(best, (nearest, mask));
    }
    if flat || beyond {
        best = closer(best, on_triangle(p, q, r));
    }
    Some(best)
}

/// The nearest point of an edge or a triangle together with the weights of its corners, where it
/// lies inside; nothing elsewhere and in degenerate ones.
pub(super) mod foot_inside {
    use super::{FLAT_VOLUME, THIN, across, smallest};
    use glam::DVec3;

    #[inline(always)]
    pub(crate) fn edge(p: DVec3, q: DVec3) -> Option<(DVec3, [f64; 2])> {
        let edge = p - q;
        let along = -q.dot(edge);
        let length = edge.length_squared();
        if !(0.0 < along && along < length) {
            return None;
        }
        let at_p = along / length;
        let foot = if at_p <= 0.5 { q + edge * at_p } else { p - edge * (p.dot(edge) / length) };
        Some((across(foot, edge, length), [at_p, 1.0 - at_p]))
    }

    #[inline(always)]
    pub(crate) fn triangle(p: DVec3, q: DVec3, r: DVec3) -> Option<(DVec3, [f64; 3])> {
        let (to_p, to_q) = (p - r, q - r);
        let normal = to_p.cross(to_q);
        let area = normal.length_squared();
        let at_p = -r.cross(to_q).dot(normal);
        let at_q = -to_p.cross(r).dot(normal);
        let thick = area >= THIN * to_p.length_squared() * to_q.length_squared();
        if !(thick && at_p > 0.0 && at_q > 0.0 && at_p + at_q < area) {
            return None;
        }
        let share = 1.0 / area;
        let (at_p, at_q) = (at_p * share, at_q * share);
        let height = smallest(p, q, r).dot(normal) * share;
        Some((normal * height, [at_p, at_q, 1.0 - at_p - at_q]))
    }

    /// The weights alone: the nearest point is the origin.
    #[inline(always)]
    pub(crate) fn tetrahedron(p: DVec3, q: DVec3, r: DVec3, s: DVec3) -> Option<[f64; 4]> {
        let (to_p, to_q, to_r) = (p - s, q - s, r - s);
        let (across_r, across_p, across_q) = (to_p.cross(to_q), to_q.cross(to_r), to_r.cross(to_p));
        let volume = across_r.dot(to_r);
        let span = (to_p.length_squared() * to_q.length_squared()).sqrt() * to_r.length();
        if volume.abs() <= FLAT_VOLUME * span {
            return None;
        }
        let share = -1.0 / volume;
        let (at_p, at_q, at_r) =
            (s.dot(across_p) * share, s.dot(across_q) * share, s.dot(across_r) * share);
        let at_s = 1.0 - at_p - at_q - at_r;
        let inside = at_p >= 0.0 && at_q >= 0.0 && at_r >= 0.0 && at_s >= 0.0;
        inside.then_some([at_p, at_q, at_r, at_s])
    }
}

fn edge_weights(p: DVec3, q: DVec3) -> [f64; 4] {
    let edge = p - q;
    let length = edge.length_squared();
    let at_p = if length > 0.0 { (-q.dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
    [at_p, 1.0 - at_p, 0.0, 0.0]
}

fn triangle_weights(p: DVec3, q: DVec3, r: DVec3) -> [f64; 4] {
    let (to_p, to_q) = (p - r, q - r);
    let normal = to_p.cross(to_q);
    let area = normal.length_squared();
    if area <= FLAT * to_p.length_squared() * to_q.length_squared() {
        let mut line = Simplex { len: 3, ..Simplex::default() };
        for (corner, point) in line.corners.iter_mut().zip([p, q, r]) {
            corner.point = point;
        }
        let (_, mask) = on_triangle(p, q, r);
        line.keep(mask);
        return spread(line.weights(), mask);
    }
    let at_p = (-r.cross(to_q).dot(normal) / area).clamp(0.0, 1.0);
    let at_q = (-to_p.cross(r).dot(normal) / area).max(0.0).min(1.0 - at_p);
    [at_p, at_q, 1.0 - at_p - at_q, 0.0]
}

fn tetrahedron_weights(p: DVec3, q: DVec3, r: DVec3, s: DVec3) -> [f64; 4] {
    let (to_p, to_q, to_r) = (p - s, q - s, r - s);
    let volume = to_p.cross(to_q).dot(to_r);
    if volume == 0.0 {
        return triangle_weights(p, q, r);
    }
    let at_p = (-s.dot(to_q.cross(to_r)) / volume).clamp(0.0, 1.0);
    let at_q = (-s.dot(to_r.cross(to_p)) / volume).max(0.0).min(1.0 - at_p);
    let at_r = (-s.dot(to_p.cross(to_q)) / volume).max(0.0).min(1.0 - at_p - at_q);
    [at_p, at_q, at_r, 1.0 - at_p - at_q - at_r]
}

/// Puts the weights of the kept corners back into the places the mask names.
fn spread(kept: [f64; 4], mask: u8) -> [f64; 4] {
    let mut all = [0.0; 4];
    let mut next = 0;
    for (index, weight) in all.iter_mut().enumerate() {
        if mask >> index & 1 == 1 {
            *weight = kept[next];
            next += 1;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The nearest point of the convex hull of up to four points, by trying every subset: the best
    /// of the projections onto their affine hulls that lie inside.
    fn by_all_subsets(points: &[DVec3]) -> f64 {
        let mut best = f64::INFINITY;
        for mask in 1u32..1 << points.len() {
            let chosen: Vec<DVec3> =
                (0..points.len()).filter(|i| mask >> i & 1 == 1).map(|i| points[i]).collect();
            if let Some(distance) = inside_projection(&chosen) {
                best = best.min(distance);
            }
        }
        best
    }

    /// Distance of the origin to the affine hull, if the foot is a mix without negative weights.
    fn inside_projection(points: &[DVec3]) -> Option<f64> {
        let base = *points.last()?;
        let edges: Vec<DVec3> = points[..points.len() - 1].iter().map(|p| *p - base).collect();
        let size = edges.len();
        let mut rows: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                let mut row: Vec<f64> = edges.iter().map(|e| e.dot(edges[i])).collect();
                row.push(-base.dot(edges[i]));
                row
            })
            .collect();
        for pivot in 0..size {
            let lead = (pivot..size)
                .max_by(|&i, &j| rows[i][pivot].abs().total_cmp(&rows[j][pivot].abs()))?;
            rows.swap(pivot, lead);
            if rows[pivot][pivot].abs() < 1e-9 {
                return None;
            }
            for row in 0..size {
                if row != pivot {
                    let factor = rows[row][pivot] / rows[pivot][pivot];
                    let lead = rows[pivot].clone();
                    for (value, above) in rows[row].iter_mut().zip(&lead) {
                        *value -= factor * above;
                    }
                }
            }
        }
        let weights: Vec<f64> = (0..size).map(|i| rows[i][size] / rows[i][i]).collect();
        let sum: f64 = weights.iter().sum();
        if weights.iter().any(|&w| w < -1e-12) || sum > 1.0 + 1e-12 {
            return None;
        }
        let foot =
            edges.iter().zip(&weights).fold(base, |foot, (edge, weight)| foot + *edge * *weight);
        Some(foot.length())
    }

    fn simplex_of(points: &[DVec3]) -> Simplex {
        let mut simplex = Simplex::default();
        for &point in points {
            simplex.push(Corner { point, on_a: point, ids: [0; 2] });
        }
        simplex
    }

    proptest! {
        #[test]
        fn finds_the_nearest_point_of_any_simplex(
            points in prop::collection::vec(prop::array::uniform3(-1.0..1.0f64), 1..=4),
            shift in prop::array::uniform3(-1.5..1.5f64),
        ) {
            let points: Vec<DVec3> =
                points.into_iter().map(|p| DVec3::from(p) + DVec3::from(shift)).collect();
            let expected = by_all_subsets(&points);
            let mut simplex = simplex_of(&points);
            let found = simplex.reduce();
            let distance = found.map_or(0.0, |nearest| nearest.length());
            prop_assert!((distance - expected).abs() < 1e-9, "{distance} {expected}");
            // The weights mix the kept corners to that point, and sum to one.
            let weights = simplex.weights();
            let weighted = simplex.corners().iter().zip(weights).map(|(c, w)| c.point * w);
            let mixed = weighted.sum::<DVec3>();
            prop_assert!((mixed.length() - distance).abs() < 1e-9);
            prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn a_tiny_far_triangle_keeps_its_distance(
            points in prop::array::uniform3(prop::array::uniform2(-1.0..1.0f64)),
            height in 0.5..2.0f64,
        ) {
            // In the plane at the given height, over the origin, a millionth wide.
            let corners = points.map(|[x, z]| DVec3::new(1e-6 * x, height, 1e-6 * z));
            let mut simplex = simplex_of(&corners);
            let nearest = simplex.reduce().expect("a triangle holds no volume");
            prop_assert!((nearest.length() - height).abs() < 3e-12);
        }
    }

    #[test]
    fn flat_and_doubled_corners_fall_back_to_lower_features() {
        let line =
            [DVec3::new(-1.0, 1.0, 0.0), DVec3::new(0.5, 1.0, 0.0), DVec3::new(2.0, 1.0, 0.0)];
        assert_eq!(simplex_of(&line).reduce(), Some(DVec3::Y));
        let same = [DVec3::Y; 4];
        assert_eq!(simplex_of(&same).reduce(), Some(DVec3::Y));
        let plane = [
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(1.0, 1.0, -1.0),
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(-1.0, 1.0, 1.0),
        ];
        let nearest = simplex_of(&plane).reduce().expect("a flat tetrahedron holds nothing");
        assert!((nearest - DVec3::Y).length() < 1e-15);
    }
}
