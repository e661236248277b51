//! [`Fragment`]: what of a surface lies in an axis-aligned cell, cut exactly.
//!
//! A solid cut by a convex cell is a polyhedron whose corners are corners of the surface, places
//! where its edges pierce the cell's sides, places where the cell's edges pierce its faces, and
//! corners of the cell that are inside the solid. Clipped triangles have all of the first three as
//! corners; the winding number tells the last. So their hull is the hull of the part of the solid,
//! without closing the cut. Corners of cells often lie on the surface, because cuts are made at
//! folds; so the question is asked a little further inside the cell, where it has an answer and
//! where it is about this cell and not about its neighbours.

use glam::DVec3;

/// Polygons, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Fragment {
    points: Vec<DVec3>,
    /// Where each polygon ends.
    ends: Vec<u32>,
}

impl Fragment {
    pub(super) fn new(triangles: impl Iterator<Item = [DVec3; 3]>) -> Fragment {
        let mut fragment = Fragment::default();
        triangles.for_each(|corners| fragment.push(&corners));
        fragment
    }

    pub(super) fn push(&mut self, polygon: &[DVec3]) {
        if !polygon.is_empty() {
            self.points.extend_from_slice(polygon);
            self.ends.push(self.points.len() as u32);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn points(&self) -> &[DVec3] {
        &self.points
    }

    pub(super) fn polygon(&self, index: usize) -> &[DVec3] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.points[start..self.ends[index] as usize]
    }

    /// The parts below and above a plane across an axis. Faces in the plane go to the side where
    /// the solid is: below those that face up, if `outward` is 1; if it is -1 they face inward.
    pub(super) fn cut(&self, axis: usize, at: f64, outward: f64) -> [Fragment; 2] {
        let (mut sides, mut clipped) = (<[Fragment; 2]>::default(), Vec::new());
        for index in 0..self.len() {
            let polygon = self.polygon(index);
            let (least, most) = extent(polygon, axis);
            if least == at && most == at {
                sides[usize::from(faces_down(polygon, axis, outward))].push(polygon);
            } else if most <= at {
                sides[0].push(polygon);
            } else if least >= at {
                sides[1].push(polygon);
            } else {
                for (side, above) in sides.iter_mut().zip([false, true]) {
                    clip(polygon, axis, at, above, &mut clipped);
                    side.push(&clipped);
                }
            }
        }
        sides
    }
}

/// Returns true if the solid behind a face is above it.
pub(super) fn faces_down(polygon: &[DVec3], axis: usize, outward: f64) -> bool {
    let corners = 1..polygon.len().max(2) - 1;
    let normal: DVec3 =
        corners.map(|k| (polygon[k] - polygon[0]).cross(polygon[k + 1] - polygon[0])).sum();
    normal[axis] * outward < 0.0
}

/// The least and the largest coordinate of a polygon.
pub(super) fn extent(polygon: &[DVec3], axis: usize) -> (f64, f64) {
    let empty = (f64::INFINITY, f64::NEG_INFINITY);
    polygon.iter().fold(empty, |(low, high), at| (low.min(at[axis]), high.max(at[axis])))
}

/// The part of a convex polygon on one side of a plane, which belongs to both.
pub(super) fn clip(polygon: &[DVec3], axis: usize, at: f64, above: bool, out: &mut Vec<DVec3>) {
    out.clear();
    let inside = |point: DVec3| if above { point[axis] >= at } else { point[axis] <= at };
    for (index, &from) in polygon.iter().enumerate() {
        let to = polygon[(index + 1) % polygon.len()];
        if inside(from) {
            out.push(from);
        }
        if inside(from) != inside(to) && from[axis] != at && to[axis] != at {
            out.push(crossing(from, to, axis, at));
        }
    }
}

/// Where a segment crosses a plane: the same bits from either end, and exactly on the plane.
fn crossing(from: DVec3, to: DVec3, axis: usize, at: f64) -> DVec3 {
    let (low, high) = if from[axis] < to[axis] { (from, to) } else { (to, from) };
    let share = (at - low[axis]) / (high[axis] - low[axis]);
    let mut point = low + (high - low) * share;
    point[axis] = at;
    // Rounding must not lead out of the box around the segment.
    point.clamp(low.min(high), low.max(high))
}

/// A place a little further inside a cell than one of its corners or sides.
pub(super) fn inward(at: DVec3, (low, high): (DVec3, DVec3)) -> DVec3 {
    at + ((low - at) + (high - at)) * INWARD
}

/// How much further, as a share of the cell.
const INWARD: f64 = 1e-6;

/// A corner of a box, by three bits.
pub(super) fn corner(low: DVec3, high: DVec3, bits: usize) -> DVec3 {
    let pick = |axis: usize| if bits >> axis & 1 == 0 { low[axis] } else { high[axis] };
    DVec3::new(pick(0), pick(1), pick(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(fragment: &Fragment) -> f64 {
        (0..fragment.len())
            .map(|index| {
                let polygon = fragment.polygon(index);
                let sum: DVec3 = (1..polygon.len().max(2) - 1)
                    .map(|k| (polygon[k] - polygon[0]).cross(polygon[k + 1] - polygon[0]))
                    .sum();
                0.5 * sum.length()
            })
            .sum()
    }

    #[test]
    fn faces_in_the_plane_go_to_their_solid() {
        let corners = [[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [0.0, 4.0, 1.0]].map(DVec3::from);
        let up = Fragment::new([corners].into_iter());
        let counts = |outward: f64| up.cut(2, 1.0, outward).map(|side| side.len());
        assert_eq!((counts(1.0), counts(-1.0)), ([1, 0], [0, 1]));
    }

    #[test]
    fn both_sides_of_a_cut_make_the_whole() {
        let corners = [[0.0, 0.0, 0.0], [4.0, 1.0, 0.0], [1.0, 3.0, 2.0]].map(DVec3::from);
        let whole = Fragment::new([corners].into_iter());
        for axis in 0..3 {
            for at in [-1.0, 0.0, 0.3, 1.0, 1.7, 2.0, 5.0] {
                let [below, above] = whole.cut(axis, at, 1.0);
                assert!((area(&below) + area(&above) - area(&whole)).abs() < 1e-12);
                assert!(below.points().iter().all(|point| point[axis] <= at));
                assert!(above.points().iter().all(|point| point[axis] >= at));
                let again = below.cut((axis + 1) % 3, 0.5, 1.0).map(|side| area(&side));
                assert!((again[0] + again[1] - area(&below)).abs() < 1e-12);
            }
        }
    }
}
