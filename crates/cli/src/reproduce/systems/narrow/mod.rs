//! The narrow phases that Loi's thesis surveys (sections 5.2 and 6.2), on pairs of convex hulls.
//!
//! | file | system | answer |
//! |---|---|---|
//! | `gjk.rs` | GJK and ISA-GJK, with any solver, from one direction or four | either |
//! | `voronoi.rs` | the simplex solver by Voronoi regions: fourteen, or seven | |
//! | `johnson.rs` | the simplex solver by linear equations | |
//! | `separating_vector.rs` | Chung and Wang's reflected vector | yes or no |
//! | `features.rs`, `lin_canny.rs` | closest features, walked to by distances | distance |
//! | `v_clip.rs` | closest features, walked to by clipping | distance |
//! | `neighbours.rs` | hill climbing with artificial neighbours | a support vertex |
//!
//! The library has one of each kind, mended where rounding hurts. These are as their authors have
//! them, so that they can be compared with each other: one [`Pair`] in, one [`Answer`] out, the
//! same search for support vertices, work counted in one [`Work`]. All of them work in the frame of
//! the first hull. What they leave open at an end that rounding forces is said in their heads, and
//! the tests compare every answer with the library's.

mod features;
mod gjk;
mod johnson;
mod lin_canny;
pub(crate) mod neighbours;
mod separating_vector;
#[cfg(test)]
mod tests;
mod v_clip;
mod voronoi;

use std::sync::Arc;

use glam::DVec3;
use jostle::shape::{Hull, Pose, PoseMatrix};

pub(crate) use features::Features;
pub(crate) use gjk::Solver;
use gjk::Start;

/// Lengths up to this share of the hulls' size count as touching, as in the library.
const TOUCH: f64 = jostle::narrow::TOUCH;

/// A hull and what the systems that walk over features need of it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub hull: Arc<Hull>,
    pub features: Features,
}

impl Body {
    pub(crate) fn new(hull: Arc<Hull>) -> Body {
        Body { features: Features::new(&hull), hull }
    }
}

/// Two hulls in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<'a> {
    pub a: &'a Body,
    pub b: &'a Body,
    /// The second one's place in the frame of the first.
    pub place: PoseMatrix,
}

impl<'a> Pair<'a> {
    pub(crate) fn new([a, b]: [&'a Body; 2], [at_a, at_b]: &[Pose; 2]) -> Pair<'a> {
        Pair { a, b, place: at_b.matrix().relative_to(&at_a.matrix()) }
    }

    /// What lengths are compared with.
    fn size(&self) -> f64 {
        self.a.hull.bounding_radius() + self.b.hull.bounding_radius()
    }

    /// The corner of `a - b` furthest along a direction.
    #[inline]
    fn support(&self, direction: DVec3, memory: &mut Memory, work: &mut Work) -> DVec3 {
        work.searches += 1;
        let [at_a, at_b] = &mut memory.hints;
        let on_a = self.a.hull.support_from(direction, at_a);
        let back = self.place.inverse_apply_vector(-direction);
        on_a - self.place.apply(self.b.hull.support_from(back, at_b))
    }
}

/// What a pair remembers from frame to frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// Where the searches for support vertices start.
    pub hints: [u32; 2],
    /// The last axis, from b to a.
    pub axis: DVec3,
    /// The last closest features.
    pub features: [features::Feature; 2],
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { hints: [0; 2], axis: DVec3::X, features: [features::Feature::Vertex(0); 2] }
    }
}

/// What answers cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Support points of the difference that were asked for: two searches each.
    pub searches: u64,
    /// Rounds of the loop: reductions of a simplex, reflections, steps from feature to feature.
    pub steps: u64,
    /// Voronoi regions, or subsets of a simplex, that were looked at.
    pub regions: u64,
    /// Reflections of Chung and Wang's vector that were compared with a known axis, those that
    /// came nearer to it, and those that went away from it by more than rounding.
    pub compared: u64,
    pub gained: u64,
    pub lost: u64,
}

/// What a system says about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// They are apart, by this much if the system tells distances.
    Apart(Option<f64>),
    /// They touch or overlap.
    Touching,
    /// It would go on for ever: the state has come back, or the limit of steps is reached.
    Endless,
}

/// A narrow phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// Yes or no by GJK's steps, from the last axis.
    IsaGjk(Solver),
    /// The same from four directions.
    FourDirections(Solver),
    /// Distances.
    Gjk(Solver),
    SeparatingVector,
    /// Closest features as first published: it does not end if the hulls overlap.
    LinCanny,
    /// The same with the inner regions that find overlaps.
    InnerRegions,
    VClip,
}

impl System {
    /// What it is called in tables and pictures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            System::IsaGjk(Solver::Seven) => "ISA-GJK",
            System::IsaGjk(Solver::Fourteen) => "ISA-GJK, 14 regions",
            System::IsaGjk(Solver::Johnson) => "ISA-GJK, Johnson",
            System::FourDirections(_) => "ISA-GJK, four directions",
            System::Gjk(Solver::Seven) => "GJK",
            System::Gjk(Solver::Fourteen) => "GJK, 14 regions",
            System::Gjk(Solver::Johnson) => "GJK, Johnson",
            System::SeparatingVector => "Chung-Wang",
            System::LinCanny => "Lin-Canny",
            System::InnerRegions => "Lin-Canny, inner regions",
            System::VClip => "V-Clip",
        }
    }

    /// Answers for one frame and leaves in `memory` what the next one starts from.
    #[inline]
    pub(crate) fn ask(self, pair: &Pair<'_>, memory: &mut Memory, work: &mut Work) -> Answer {
        match self {
            System::IsaGjk(solver) => gjk::isa(pair, solver, Start::Axis, memory, work),
            System::FourDirections(solver) => gjk::isa(pair, solver, Start::Four, memory, work),
            System::Gjk(solver) => gjk::distance(pair, solver, memory, work),
            System::SeparatingVector => separating_vector::run(pair, None, memory, work),
            System::LinCanny => lin_canny::run(pair, false, memory, work),
            System::InnerRegions => lin_canny::run(pair, true, memory, work),
            System::VClip => v_clip::run(pair, memory, work),
        }
    }
}

/// Chung and Wang's steps, each compared with a known separating axis, which need not be of unit
/// length: those that lose ground are counted.
pub(crate) fn separating_vector_against(
    pair: &Pair<'_>,
    axis: DVec3,
    memory: &mut Memory,
    work: &mut Work,
) -> Answer {
    separating_vector::run(pair, Some(axis), memory, work)
}
