//! How deep shapes overlap: EPA from the simplex of GJK or from the polytope of the last frame, SAT
//! if that is asked for or EPA gives up, the plane problem of coaxial bodies, and a descent that
//! improves what curved shapes leave open.

use super::answer::{Ending, Method, Signed, touch_tolerance};
use super::epa;
use super::gjk::{self, Difference, End};
use super::pair::Cores;
use super::simplex::Simplex;
use super::solve::{CURVED_GAP, GJK_STEPS, Memory, POLYHEDRAL_GAP, Ready, Request};
use super::{coaxial, sat, witness};
use glam::DVec3;

/// Gap of the bounds, relative to the size, at which the search for the depth of curved shapes
/// ends: every digit takes a dozen more corners.
const CURVED_DEPTH_GAP: f64 = 1e-9;
/// Most corners of the polytope of curved shapes.
const CURVED_CORNERS: usize = 192;
/// The same for polyhedra: nearly round ones in each other's middle need thousands. SAT follows.
const POLYHEDRAL_CORNERS: usize = 3000;
/// Most steps of the descent after EPA.
const DESCENT_STEPS: u32 = 40;

/// The polytope numbers its faces, two for each corner, with 16 bits.
const _: () = assert!(2 * POLYHEDRAL_CORNERS < u16::MAX as usize);

impl Ready<'_> {
    pub(crate) fn epa_limits(&self) -> epa::Limits {
        let polyhedral = self.cores.is_polyhedral();
        epa::Limits {
            gap: if polyhedral { POLYHEDRAL_GAP * 10.0 } else { CURVED_DEPTH_GAP } * self.size,
            touch: touch_tolerance(self.size) - self.radii[0] - self.radii[1],
            flat: 1e-12 * self.size,
            coplanar: 1e-14 * self.size,
            corners: if polyhedral { POLYHEDRAL_CORNERS } else { CURVED_CORNERS },
        }
    }

    /// The depth from the polytope of the last frame, if it still holds the origin. That proves
    /// the overlap as well, so that GJK has nothing left to say.
    #[inline(never)]
    pub(crate) fn resume(&mut self, memory: &mut Memory<'_>) -> Option<Signed> {
        let Memory { cache, scratch } = memory;
        let limits = self.epa_limits();
        let pose = self.cores.b_in_a;
        let moved = self.ball.moved(&cache.pose(), &pose);
        let last = Cores { b_in_a: cache.pose(), ..self.cores.clone() };
        let before = |ids| last.corner(ids).map(|corner| corner.point);
        let polytope = &mut scratch.get_or_insert_default().polytope;
        let shell = cache.shell()?;
        let found = polytope.resume(&mut self.cores, shell, moved, before, &limits);
        if let (Some(found), Some(shell)) = (&found, cache.shell_to_keep()) {
            polytope.save(found, shell);
        }
        cache.keep_pose(&pose);
        let Some(found) = found else {
            cache.forget_shell();
            return None;
        };
        let on_a = found.on_a;
        let gap = found.upper - found.lower;
        Some(Signed {
            signed: -found.upper,
            normal: found.normal,
            on_a,
            on_b: on_a,
            bound: gap + self.rounding(),
            ending: self.ending_of(found.end, gap),
        })
    }

    /// The depth of the cores, which overlap or touch.
    #[inline(never)]
    pub(crate) fn depth(
        &mut self,
        simplex: &Simplex,
        request: &Request,
        memory: &mut Memory<'_>,
    ) -> Signed {
        let polyhedral = self.cores.is_polyhedral();
        if polyhedral && request.options.method == Method::GjkSat {
            return self.depth_by_axes(memory);
        }
        let limits = self.epa_limits();
        let round = !polyhedral && request.options.method == Method::Auto;
        let coaxial = if round {
            let chain = &mut memory.scratch.get_or_insert_default().chain;
            coaxial::run(&mut self.cores, self.size, &limits, chain)
        } else {
            None
        };
        let mut face = Simplex::default();
        let depth =
            coaxial.unwrap_or_else(|| self.grown_depth(simplex, &limits, memory, &mut face));
        if polyhedral && depth.end != End::Converged && request.options.method == Method::Auto {
            return self.depth_by_axes(memory);
        }
        let mut on_a = depth.on_a;
        let (mut normal, mut upper) = (depth.normal, depth.upper);
        if !polyhedral || depth.end != End::Converged {
            (normal, upper, on_a) = self.descend((normal, upper, on_a), face);
        }
        Signed {
            signed: -upper,
            normal,
            on_a,
            on_b: on_a,
            bound: upper - depth.lower + self.rounding(),
            ending: self.ending_of(depth.end, upper - depth.lower),
        }
    }

    /// The depth by EPA, and the face it ended at.
    fn grown_depth(
        &mut self,
        simplex: &Simplex,
        limits: &epa::Limits,
        memory: &mut Memory<'_>,
        face: &mut Simplex,
    ) -> epa::Outcome {
        let polytope = &mut memory.scratch.get_or_insert_default().polytope;
        let depth = polytope.run(&mut self.cores, simplex, limits);
        *face = polytope.face_of(&depth);
        if self.cores.is_polyhedral()
            && let Some(shell) = memory.cache.shell_to_keep()
        {
            polytope.save(&depth, shell);
        }
        depth
    }

    /// Improves normal and points of curved shapes, and a depth whose bounds did not meet. Bodies
    /// of revolution on one axis have a whole circle of shortest ways, along which EPA spends its
    /// corners; any of them can be made exact. And EPA's face at the end is small only across
    /// curvature, so that a point mixed from its corners may be off where the surface is straight.
    /// Moved just out along the normal, the shapes have a distance, and its normal is at least as
    /// short a way: `depth' <= (depth + out) cos - out`.
    ///
    /// GJK starts from the face that EPA ended at, and then from where it ended itself: from
    /// scratch it took as many instructions again as EPA (callgrind, the scene `pour` of
    /// `jostle bench --world`). Tried and lost there: leaving EPA at a hundredth or at a
    /// ten-thousandth of the size, descending from its rough normal, and proving the depth with
    /// rings of corners around the end of the descent. EPA saved a third; the descent took five
    /// times as much.
    fn descend(
        &mut self,
        (normal, upper, on_a): (DVec3, f64, DVec3),
        mut face: Simplex,
    ) -> (DVec3, f64, DVec3) {
        let (normal, upper) = coaxial::turned(&mut self.cores, self.size, normal, upper);
        let mut best = (normal, upper, on_a);
        let out = 1e-3 * self.size;
        let limits = gjk::Limits {
            gap: CURVED_GAP * self.size,
            touch: touch_tolerance(self.size),
            cut_off: f64::INFINITY,
            steps: GJK_STEPS,
        };
        for _ in 0..DESCENT_STEPS {
            let offset = best.0 * (best.1 + out);
            let mut shifted = self.cores.clone();
            shifted.b_in_a.translation += offset;
            let mut simplex = face.with_b_moved(offset);
            let found = gjk::run(&mut shifted, &mut simplex, -best.0, &limits);
            if found.end == End::Overlap || found.upper == 0.0 {
                break;
            }
            let normal = -found.nearest / found.upper;
            let depth = self.cores.support(normal).point.dot(normal);
            // The points come from here even if the normal was right already.
            best.2 = simplex.witnesses().0;
            if depth >= best.1 - 1e-12 * self.size {
                break;
            }
            face = simplex.with_b_moved(-offset);
            (best.0, best.1) = self.further(best.0, normal, depth);
        }
        best
    }

    /// Goes on in the same direction as long as the way gets shorter: nearly round shapes would
    /// otherwise take a hundred small steps.
    fn further(&mut self, from: DVec3, to: DVec3, depth: f64) -> (DVec3, f64) {
        let mut best = (to, depth);
        let step = to - from;
        let mut stride = 2.0;
        while stride < 1e4 {
            let normal = (from + step * stride).normalize_or(to);
            let depth = self.cores.support(normal).point.dot(normal);
            if depth >= best.1 {
                break;
            }
            best = (normal, depth);
            stride *= 2.0;
        }
        best
    }

    fn depth_by_axes(&mut self, memory: &mut Memory<'_>) -> Signed {
        let sat::Outcome { normal, depth, .. } = sat::run(&mut self.cores);
        let facets = &mut memory.scratch.get_or_insert_default().facets;
        let on_a = witness::deepest(&self.cores, normal, facets);
        let bound = self.rounding();
        Signed { signed: -depth, normal, on_a, on_b: on_a, bound, ending: Ending::Closed }
    }
}
