//! [`Polytope`]: its faces and corners, a run from start to end, and the point of the answer.

use crate::narrow::gjk::{Difference, End};
use crate::narrow::simplex::{Corner, Simplex, on_triangle};
use glam::DVec3;

/// How far a run goes, in lengths of the scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The run ends when the bounds are this close.
    pub gap: f64,
    /// A depth up to this is mere touch: while the bounds lie on both sides of it, the run goes on.
    pub touch: f64,
    /// Thickness under which the difference counts as flat.
    pub flat: f64,
    /// Height under which a corner counts as lying in a face's plane.
    pub coplanar: f64,
    /// Most corners of the polytope.
    pub corners: usize,
}

/// What a run found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Unit direction of the shortest way out: moving b along it by the depth separates.
    pub normal: DVec3,
    /// Certified upper bound of the depth: moving by this along the normal separates.
    pub upper: f64,
    /// Certified lower bound of the depth, up to rounding.
    pub lower: f64,
    /// The point of a at the foot of the shortest way.
    pub on_a: DVec3,
    /// Why it ended; never `Overlap` or `CutOff`.
    pub end: End,
    /// The nearest face of the polytope.
    pub nearest: usize,
}

/// What growing found: the outcome without its point.
pub(super) struct Bounds {
    pub(super) normal: DVec3,
    pub(super) upper: f64,
    pub(super) lower: f64,
    /// The face the normal came from. It may have been covered since.
    pub(super) corners: [u16; 3],
    /// The nearest face at the end.
    pub(super) nearest: usize,
    pub(super) end: End,
}

impl Bounds {
    /// The gap at which the run may end: less while the bounds leave open whether it is mere touch.
    pub(super) fn gap(&self, limits: &Limits) -> f64 {
        let undecided = self.lower <= limits.touch && limits.touch < self.upper;
        if undecided { limits.gap.min(0.5 * limits.touch) } else { limits.gap }
    }
}

/// What is known of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Covered; its place may be used again.
    Dead,
    /// From the last frame: its normal is unknown and its distance a lower bound.
    Stale,
    /// In its place.
    Fresh,
}

/// The corners of a face, and its neighbours across the edges from corner `i` to corner `i + 1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Links {
    pub(super) corners: [u16; 3],
    pub(super) neighbours: [u16; 3],
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HorizonEdge {
    pub(super) from: u16,
    pub(super) to: u16,
    /// The face that stays, on the far side.
    pub(super) outer: u16,
}

/// Faces in a block.
pub(super) const BLOCK: usize = 64;

/// The nearest face of a block, unless the block has changed since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) least: f64,
    pub(super) face: usize,
    pub(super) changed: bool,
}

impl Block {
    pub(super) const CHANGED: Block = Block { least: f64::INFINITY, face: 0, changed: true };

    /// One pass with a branch that is hardly ever taken; minima in lanes and a search for their
    /// place took some 5 % longer on large hulls.
    pub(super) fn of(distances: &[f64], start: usize) -> Block {
        let mut block = Block { changed: false, ..Block::CHANGED };
        for (index, &distance) in distances.iter().enumerate() {
            if distance < block.least {
                (block.least, block.face) = (distance, start + index);
            }
        }
        block
    }
}

/// The polytope and its scratch memory, to be kept between runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Polytope {
    pub(super) corners: Vec<Corner>,
    pub(super) links: Vec<Links>,
    pub(super) normals: Vec<DVec3>,
    pub(super) states: Vec<State>,
    /// Signed distance of each face's plane; infinite for dead faces and faces without area.
    pub(super) distances: Vec<f64>,
    /// The least distance of every block of faces.
    pub(super) blocks: Vec<Block>,
    pub(super) horizon: Vec<HorizonEdge>,
    pub(super) stack: Vec<(u16, u8)>,
    /// Places of dead faces, to be used again.
    pub(super) free: Vec<u16>,
    /// Places of the cone that is being made.
    pub(super) cone: Vec<u16>,
}

/// Cosine of the angle within which faces count as parts of one facet. A loose limit takes the
/// neighbouring sides of a prism of 24 sides for one, and a point between their feet.
const SAME_FACET: f64 = 1.0 - 1e-9;

/// Squared sine under which a new face has no area.
const NO_AREA: f64 = 1e-26;

impl Polytope {
    /// Finds the depth of the origin in the difference, starting from any simplex of it that
    /// contains the origin or comes close.
    pub(crate) fn run(
        &mut self,
        difference: &mut impl Difference,
        start: &Simplex,
        limits: &Limits,
    ) -> Outcome {
        if let Some(flat) = self.seed(difference, start, limits) {
            return flat;
        }
        let bounds = self.grow(difference, limits);
        self.outcome(difference, &bounds, limits)
    }

    /// The nearest face of a run; nothing where the difference is flat.
    pub(crate) fn face_of(&self, outcome: &Outcome) -> Simplex {
        let mut face = Simplex::default();
        if let Some(links) = self.links.get(outcome.nearest) {
            let corners = links.corners.into_iter();
            corners.for_each(|corner| face.push(self.corners[usize::from(corner)]));
        }
        face
    }

    pub(super) fn clear(&mut self) {
        self.corners.clear();
        self.links.clear();
        self.normals.clear();
        self.states.clear();
        self.distances.clear();
        self.blocks.clear();
        self.free.clear();
    }

    pub(super) fn outcome(
        &mut self,
        difference: &impl Difference,
        bounds: &Bounds,
        limits: &Limits,
    ) -> Outcome {
        let &Bounds { normal, upper, lower, end, .. } = bounds;
        let mut face = Simplex::default();
        for corner in self.foot(difference, bounds, limits) {
            face.push(self.corners[usize::from(corner)]);
        }
        Outcome { normal, upper, lower, on_a: face.witnesses().0, end, nearest: bounds.nearest }
    }

    /// The face that holds the foot of the shortest way. A facet may be cut into several faces in
    /// one plane, all equally near; only one of them holds it. Other facets may be equally near
    /// too, opposite ones or the neighbours on a prism, so that only faces along the normal count.
    fn foot(&mut self, difference: &impl Difference, bounds: &Bounds, limits: &Limits) -> [u16; 3] {
        let last = bounds.nearest;
        if self.looks_along(last, bounds.normal) && self.way(self.links[last].corners).1 == 0b111 {
            return self.links[last].corners;
        }
        // The recorded face may lie inside the grown polytope: it stands in only if there is no
        // other.
        let mut best = (f64::INFINITY, bounds.corners);
        for face in 0..self.links.len() {
            if self.distances[face] > bounds.upper + limits.gap {
                continue;
            }
            if self.states[face] == State::Stale {
                self.refresh(difference, face);
            }
            if self.looks_along(face, bounds.normal) {
                let corners = self.links[face].corners;
                let length = self.way(corners).0;
                if length < best.0 {
                    best = (length, corners);
                }
            }
        }
        best.1
    }

    fn looks_along(&self, face: usize, normal: DVec3) -> bool {
        self.states[face] == State::Fresh && self.normals[face].dot(normal) > SAME_FACET
    }

    /// The origin's distance from a triangle of corners, and the corners that carry it.
    fn way(&self, corners: [u16; 3]) -> (f64, u8) {
        let [p, q, r] = self.points(corners);
        let (nearest, mask) = on_triangle(p, q, r);
        (nearest.length(), mask)
    }

    #[inline]
    pub(super) fn points(&self, corners: [u16; 3]) -> [DVec3; 3] {
        corners.map(|corner| self.corners[usize::from(corner)].point)
    }
}

/// Normal and distance of the plane through three points; no normal and an infinite distance where
/// they span none.
#[inline]
pub(super) fn plane([p, q, r]: [DVec3; 3]) -> (DVec3, f64) {
    let (first, second) = (q - p, r - p);
    let cross = first.cross(second);
    let area = cross.length_squared();
    if area <= NO_AREA * first.length_squared() * second.length_squared() {
        return (DVec3::ZERO, f64::INFINITY);
    }
    let normal = cross * (1.0 / area.sqrt());
    (normal, normal.dot(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cube of half size one about a center, as a difference.
    struct Cube(DVec3);

    impl Difference for Cube {
        fn support(&mut self, direction: DVec3) -> Corner {
            let side = |value: f64| if value < 0.0 { -1.0 } else { 1.0 };
            let corner =
                DVec3::new(side(direction.x), side(direction.y), side(direction.z)) + self.0;
            Corner { point: corner, on_a: corner, ids: [0; 2] }
        }
    }

    /// A disc of radius one across z, without thickness.
    struct Disc;

    impl Difference for Disc {
        fn support(&mut self, direction: DVec3) -> Corner {
            let point = DVec3::new(direction.x, direction.y, 0.0).normalize_or(DVec3::X);
            Corner { point, on_a: point, ids: [0; 2] }
        }
    }

    const LIMITS: Limits =
        Limits { gap: 1e-12, touch: 1e-10, flat: 1e-12, coplanar: 1e-14, corners: 100 };

    fn simplex_of(points: &[DVec3]) -> Simplex {
        let mut simplex = Simplex::default();
        for &point in points {
            simplex.push(Corner { point, on_a: point, ids: [0; 2] });
        }
        simplex
    }

    /// Starts that hold the origin in a corner, an edge, a face, or inside.
    #[test]
    fn every_degenerate_start_finds_the_depth() {
        let corners = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(-1.0, -1.0, -1.0),
            DVec3::new(1.0, -1.0, 1.0),
            DVec3::new(-1.0, 1.0, 1.0),
        ];
        for center in [DVec3::ZERO, DVec3::new(0.25, -0.5, 0.125), DVec3::new(0.0, 1.0, 0.0)] {
            let expected = (DVec3::ONE - center.abs()).min_element();
            for count in 0..=4 {
                let start: Vec<DVec3> = corners[..count].iter().map(|c| *c + center).collect();
                let found =
                    Polytope::default().run(&mut Cube(center), &simplex_of(&start), &LIMITS);
                assert_eq!(found.end, End::Converged, "{center} {count}");
                assert!((found.upper - expected).abs() < 1e-12, "{center} {count} {found:?}");
                assert!((found.lower - expected).abs() < 1e-12, "{center} {count} {found:?}");
            }
        }
    }

    #[test]
    fn a_flat_difference_has_no_depth_across_itself() {
        let found = Polytope::default().run(&mut Disc, &Simplex::default(), &LIMITS);
        assert_eq!((found.upper, found.end), (0.0, End::Converged));
        assert!((found.normal.z.abs() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_corner_limit_ends_a_run_with_honest_bounds() {
        struct Ball;
        impl Difference for Ball {
            fn support(&mut self, direction: DVec3) -> Corner {
                let point = direction.normalize_or(DVec3::X);
                Corner { point, on_a: point, ids: [0; 2] }
            }
        }
        let found = Polytope::default().run(&mut Ball, &Simplex::default(), &LIMITS);
        assert_eq!(found.end, End::StepLimit);
        assert!(found.lower < 1.0 && found.upper >= 1.0 - 1e-12 && found.lower > 0.9, "{found:?}");
    }
}
