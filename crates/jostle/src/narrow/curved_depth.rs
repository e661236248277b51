//! The depth of curved shapes: a coarse EPA, an exact step to the way near by, and a proof.
//!
//! On a smooth surface EPA alone takes more corners for every digit. So it ends at a coarse gap,
//! where it only has to tell which way out is the shortest. Then:
//!
//! 1. If one shape has a face that looks nearly along that way, its normal is tried: the way out of
//!    a body that lies on a face is across that face, exactly.
//! 2. Where the surface is smooth, Newton's method finds the way: three support searches tell how
//!    the furthest point moves with the direction, and it must come to lie on its own direction.
//! 3. Otherwise the descent of `depth.rs` finds it by the distance of the parted shapes.
//!
//! Five corners there let the bounds meet, as a rule; where they do not, another way may be
//! shorter, and EPA goes on until the bounds meet. So a wrong guess costs time and nothing else.
//!
//! Counted by callgrind on three steps of the scene `pour` of `jostle bench --world`, 5 000 bodies,
//! 30 516 such depths: 1.45 million support searches and 1.35 million faces, where EPA to the last
//! digit and a descent after it took 1.86 and 1.69 million. Two in three still take the third way,
//! whose distances are now the largest part: edges and rims, smooth on one side alone.

use super::answer::Signed;
use super::epa;
use super::gjk::{Difference, End};
use super::pair::Core;
use super::simplex::Simplex;
use super::solve::{Memory, Ready};
use super::witness;
use glam::DVec3;

/// Gap of the bounds, relative to the size, at which the first look ends.
const FIRST_GAP: f64 = 1e-3;
/// Cosine of the angle up to which the normal of a face may be the way that was found coarsely.
const NEAR_FACE: f64 = 0.9;
/// How far Newton's method leans to see how the surface bends.
const LEAN: f64 = 1e-4;
/// Most steps of Newton's method.
const NEWTON_STEPS: u32 = 5;
/// Newton's method has converged when it turns by less than this: what is left is its square.
const TURN: f64 = 1e-5;

/// How far from its way the furthest point may be at the end, as a share of the size.
const ON_WAY: f64 = 1e-7;

/// A way out of the overlap: its direction, how long it is, and the point of a, if it is known.
struct Way {
    normal: DVec3,
    upper: f64,
    on_a: Option<DVec3>,
}

impl Ready<'_> {
    /// The depth of cores of which one is curved. `None` where rounding or a flat difference is in
    /// the way.
    pub(super) fn curved_depth(
        &mut self,
        simplex: &Simplex,
        limits: &epa::Limits,
        memory: &mut Memory<'_>,
    ) -> Option<Signed> {
        let scratch = memory.scratch.get_or_insert_default();
        let polytope = &mut scratch.polytope;
        let coarse =
            epa::Limits { gap: FIRST_GAP * self.size, touch: f64::NEG_INFINITY, ..*limits };
        let first = polytope.run(&mut self.cores, simplex, &coarse);
        if first.end != End::Converged {
            return None;
        }
        let face = polytope.face(first.nearest)?;
        let way = self.across_face(first.normal, first.upper);
        let way = way.or_else(|| self.by_newton(first.normal));
        let mut way = way.unwrap_or_else(|| {
            let found = self.descend((first.normal, first.upper, first.on_a), &face);
            Way { normal: found.0, upper: found.1, on_a: Some(found.2) }
        });
        if !polytope.surround(&mut self.cores, (way.normal, way.upper), limits) {
            return None;
        }
        let found = polytope.go_on(&mut self.cores, (way.normal, way.upper), limits);
        if found.upper < way.upper - 1e-12 * self.size {
            let face = polytope.face(found.nearest)?;
            let found = self.descend((found.normal, found.upper, found.on_a), &face);
            way = Way { normal: found.0, upper: found.1, on_a: Some(found.2) };
        }
        let Way { normal, upper, on_a } = way;
        let on_a =
            on_a.unwrap_or_else(|| witness::deepest(&self.cores, normal, &mut scratch.facets));
        let gap = (upper - found.lower).max(0.0);
        Some(Signed {
            signed: -upper,
            normal,
            on_a,
            on_b: on_a,
            bound: gap + self.rounding(),
            ending: self.ending_of(found.end, gap),
        })
    }

    /// The way across the face that looks most along a direction, if it is no longer than that one.
    fn across_face(&mut self, normal: DVec3, upper: f64) -> Option<Way> {
        let pose = &self.cores.b_in_a;
        let of_b = face_along(&self.cores.b, pose.inverse_apply_vector(-normal));
        let of_b = of_b.map(|facing| -pose.apply_vector(facing));
        let mut best: Option<Way> = None;
        for normal in [face_along(&self.cores.a, normal), of_b].into_iter().flatten() {
            let height = self.cores.support(normal).point.dot(normal);
            if height <= best.as_ref().map_or(upper, |best| best.upper) {
                best = Some(Way { normal, upper: height, on_a: None });
            }
        }
        best
    }

    /// The way near a direction, where the surface is smooth.
    fn by_newton(&mut self, from: DVec3) -> Option<Way> {
        let mut normal = from;
        let mut corner = self.cores.support(normal);
        for _ in 0..NEWTON_STEPS {
            let upper = corner.point.dot(normal);
            let side = normal.any_orthonormal_vector();
            let other = normal.cross(side);
            let across = |point: DVec3| [point.dot(side), point.dot(other)];
            // How the furthest point moves as the direction leans.
            let mut lean = |to: DVec3| {
                let moved = self.cores.support(normal + to * LEAN).point - corner.point;
                across(moved / LEAN)
            };
            let ([xx, xy], [yx, yy]) = (lean(side), lean(other));
            let (xx, yy, mixed) = (xx - upper, yy - upper, 0.5 * (xy + yx));
            let area = xx * yy - mixed * mixed;
            // Not the shortest way of all near it, or not smooth.
            if !(xx > 0.0 && area > 0.0) {
                return None;
            }
            let [x, y] = across(corner.point);
            let turn = (side * (mixed * y - yy * x) + other * (mixed * x - xx * y)) / area;
            let next = (normal + turn).normalize_or_zero();
            let there = self.cores.support(next);
            let height = there.point.dot(next);
            if !(height <= upper + self.rounding()) {
                return None;
            }
            (normal, corner) = (next, there);
            if turn.length() < TURN {
                // On a face the furthest point jumps, and small turns mean nothing.
                let off = (corner.point - normal * height).length();
                let on_way = off <= ON_WAY * self.size;
                return on_way.then_some(Way { normal, upper: height, on_a: Some(corner.on_a) });
            }
        }
        None
    }
}

/// The normal of the face of a core that looks most along a direction, if one nearly does.
fn face_along(core: &Core<'_>, direction: DVec3) -> Option<DVec3> {
    let facing = match core {
        Core::Box(_) => {
            let size = direction.abs();
            let axis = if size.x >= size.y.max(size.z) {
                0
            } else if size.y >= size.z {
                1
            } else {
                2
            };
            DVec3::AXES[axis] * 1f64.copysign(direction[axis])
        }
        Core::Hull(hull) => {
            let normals = (0..hull.face_count()).map(|face| hull.face_normal(face));
            let better = |best: DVec3, normal: DVec3| {
                if normal.dot(direction) > best.dot(direction) { normal } else { best }
            };
            normals.fold(-direction, better)
        }
        _ => return None,
    };
    (facing.dot(direction) > NEAR_FACE).then_some(facing)
}
