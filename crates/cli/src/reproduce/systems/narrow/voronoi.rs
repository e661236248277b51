//! The simplex solver by Voronoi regions, as Ericson has it and as the thesis shortens it.
//!
//! The origin lies in the region of one vertex, edge or face of the simplex, or inside. Ericson
//! looks at all regions, fourteen of a tetrahedron; by van den Bergen's theorem 2 the newest corner
//! is part of the answer, which leaves seven (sections 5.2.3 and 6.2.1). A region is told by signs
//! of dot products alone:
//!
//! - of a vertex: behind the planes across all its edges;
//! - of an edge: between its ends, and outside of each face at it, seen in the face's plane;
//! - of a face: inside of its edges, and on the side without the fourth corner.
//!
//! Cost: up to three, four and four signs for a region. Departure: where rounding leaves no region
//! at all, the nearest of all features answers, whose foot lies within it; `work.regions` counts
//! those as well.

use glam::DVec3;

use super::Work;

/// Up to four corners, the newest last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    pub corners: [DVec3; 4],
    pub len: usize,
}

impl Simplex {
    pub(super) fn push(&mut self, corner: DVec3) {
        self.corners[self.len] = corner;
        self.len += 1;
    }

    pub(super) fn contains(&self, corner: DVec3) -> bool {
        self.corners[..self.len].contains(&corner)
    }

    /// Keeps the corners of a bit set.
    pub(super) fn keep(&mut self, mask: usize) {
        let mut kept = 0;
        for at in 0..self.len {
            if mask >> at & 1 == 1 {
                self.corners[kept] = self.corners[at];
                kept += 1;
            }
        }
        self.len = kept;
    }
}

/// The corners of a bit set with some others.
struct Corners {
    list: [usize; 4],
    len: usize,
}

impl Corners {
    fn of(mask: usize) -> Corners {
        let mut corners = Corners { list: [0; 4], len: 0 };
        for at in (0..4).filter(|at| mask >> at & 1 == 1) {
            corners.list[corners.len] = at;
            corners.len += 1;
        }
        corners
    }

    fn slice(&self) -> &[usize] {
        &self.list[..self.len]
    }
}

/// The point nearest to the origin and the corners it is made of; nothing if the origin is inside.
/// `all` looks at every region, else only at those of the newest corner.
pub(super) fn nearest(simplex: &Simplex, all: bool, work: &mut Work) -> Option<(DVec3, usize)> {
    let whole = (1 << simplex.len) - 1;
    let newest = 1 << (simplex.len - 1);
    for mask in 1..=whole {
        if mask == 0b1111 || !(all || mask & newest != 0) {
            continue;
        }
        work.regions += 1;
        if in_region(simplex, mask, whole) {
            return Some((foot(simplex, mask), mask));
        }
    }
    if whole == 0b1111 && encloses(simplex) {
        return None;
    }
    Some(best(simplex, whole, work))
}

/// On which side of the edge from `p` to `q` the origin is, in the plane of `other`: positive on
/// that of `other`.
#[inline]
fn side(p: DVec3, q: DVec3, other: DVec3) -> f64 {
    let (edge, to) = (q - p, other - p);
    to.dot(edge) * p.dot(edge) - p.dot(to) * edge.length_squared()
}

fn in_region(simplex: &Simplex, mask: usize, whole: usize) -> bool {
    let (inside, outside) = (Corners::of(mask), Corners::of(whole & !mask));
    let at = |index: usize| simplex.corners[index];
    match *inside.slice() {
        [p] => outside.slice().iter().all(|&other| -at(p).dot(at(other) - at(p)) <= 0.0),
        [p, q] => {
            let edge = at(q) - at(p);
            let between = -at(p).dot(edge) > 0.0 && at(q).dot(edge) > 0.0;
            between && outside.slice().iter().all(|&other| side(at(p), at(q), at(other)) <= 0.0)
        }
        [p, q, r] => {
            let (p, q, r) = (at(p), at(q), at(r));
            let within = side(p, q, r) > 0.0 && side(q, r, p) > 0.0 && side(r, p, q) > 0.0;
            let normal = (q - p).cross(r - p);
            let beyond = |&other: &usize| p.dot(normal) * (at(other) - p).dot(normal) > 0.0;
            within && outside.slice().iter().all(beyond)
        }
        _ => false,
    }
}

/// The point nearest to the origin of the line or plane through some corners.
pub(super) fn foot(simplex: &Simplex, mask: usize) -> DVec3 {
    let at = |index: usize| simplex.corners[index];
    match *Corners::of(mask).slice() {
        [p] => at(p),
        [p, q] => {
            let edge = at(q) - at(p);
            at(p) - edge * (at(p).dot(edge) / edge.length_squared())
        }
        [p, q, r] => {
            let normal = (at(q) - at(p)).cross(at(r) - at(p));
            normal * (at(p).dot(normal) / normal.length_squared())
        }
        _ => DVec3::ZERO,
    }
}

/// Returns true if the origin is on the inner side of all four faces.
fn encloses(simplex: &Simplex) -> bool {
    let [p, q, r, s] = simplex.corners;
    let inner = |p: DVec3, q: DVec3, r: DVec3, s: DVec3| {
        let normal = (q - p).cross(r - p);
        -p.dot(normal) * (s - p).dot(normal) >= 0.0
    };
    let solid = (q - p).cross(r - p).dot(s - p) != 0.0;
    solid && inner(p, q, r, s) && inner(p, q, s, r) && inner(p, r, s, q) && inner(q, r, s, p)
}

/// The nearest of all feet that lie within their features.
fn best(simplex: &Simplex, whole: usize, work: &mut Work) -> (DVec3, usize) {
    let mut best = (DVec3::INFINITY, 1);
    for mask in 1..=whole.min(0b1110) {
        work.regions += 1;
        let point = foot(simplex, mask);
        let near = point.length_squared() < best.0.length_squared();
        if near && in_region(simplex, mask, mask) {
            best = (point, mask);
        }
    }
    best
}
