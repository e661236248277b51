//! Chung and Wang's separating vector: a direction that is reflected until it separates.
//!
//! With the corner `r` of `a - b` furthest against the vector `s`, scaled to length one, the vector
//! separates if `s · r > 0`; else it becomes its mirror image `s - 2 (r · s) r` (section 5.2.2,
//! figure 5). The corners also tell when to give up: as soon as no plane through the origin has all
//! of them on one side, nothing separates. The vector and the vertices stay for the next frame.
//!
//! Cost: a search, a reflection and a cut a round. The vectors that all corners so far allow are a
//! convex cone, kept as a polygon of rays on the sphere; each corner cuts it once, k rays at most,
//! which gives the k² in the authors' bound. An empty polygon is the proof of an overlap.
//!
//! Every reflection brings the vector closer to every separating axis `w`: `r · s <= 0` and
//! `r · w > 0`, hence `s · w` grows by `-2 (r · s)(r · w)`. How much is another matter: the gain
//! may shrink from step to step and their sum stay short of the goal, so there is a limit of
//! rounds. A pair that reaches it is reported as such, not as touching.

use glam::DVec3;

use super::{Answer, Memory, Pair, TOUCH, Work};

/// Rounds after which a pair is given up: the k of the authors' bound.
pub(super) const ROUNDS: u32 = 200;

/// The vectors that have no negative product with any corner so far, as rays around a cone.
#[derive(Debug)]
struct Cone {
    first: DVec3,
    /// Empty until two corners that are not parallel bound it.
    rays: Vec<DVec3>,
    cut: Vec<DVec3>,
}

impl Cone {
    /// The half-space of the first corner.
    fn new(first: DVec3) -> Cone {
        Cone { first, rays: Vec::new(), cut: Vec::new() }
    }

    /// Takes a corner in. Returns false if nothing is left.
    fn take(&mut self, corner: DVec3) -> bool {
        if !self.rays.is_empty() {
            return self.cut(corner);
        }
        // The wedge between two half-spaces: its edge both ways, and a ray in each of its sides,
        // so that no two rays are opposite.
        let edge = self.first.cross(corner);
        if edge.length_squared() > 1e-20 {
            let product = self.first.dot(corner);
            let sides = [corner - self.first * product, self.first - corner * product];
            self.rays.extend([edge, sides[0], -edge, sides[1]].map(DVec3::normalize));
        }
        true
    }

    /// Takes away what has a negative product with a corner. Returns false if nothing is left.
    fn cut(&mut self, corner: DVec3) -> bool {
        self.cut.clear();
        for (at, &ray) in self.rays.iter().enumerate() {
            let next = self.rays[(at + 1) % self.rays.len()];
            let (here, there) = (ray.dot(corner), next.dot(corner));
            if here >= 0.0 {
                self.cut.push(ray);
            }
            if (here < 0.0) != (there < 0.0) {
                let border = ray * there.abs() + next * here.abs();
                self.cut.push(border.normalize_or_zero());
            }
        }
        std::mem::swap(&mut self.rays, &mut self.cut);
        self.rays.len() > 2
    }
}

/// Do they touch? Compares every step with a known axis, if one is given.
pub(super) fn run(
    pair: &Pair<'_>,
    known: Option<DVec3>,
    memory: &mut Memory,
    work: &mut Work,
) -> Answer {
    let touch = TOUCH * pair.size();
    let mut vector = memory.axis.normalize_or(DVec3::X);
    let mut cone: Option<Cone> = None;
    for _ in 0..ROUNDS {
        work.steps += 1;
        let corner = pair.support(-vector, memory, work);
        if vector.dot(corner) > touch {
            memory.axis = vector;
            return Answer::Apart(None);
        }
        let length = corner.length();
        if length <= touch {
            return Answer::Touching;
        }
        let corner = corner / length;
        if !cone.get_or_insert_with(|| Cone::new(corner)).take(corner) {
            memory.axis = vector;
            return Answer::Touching;
        }
        let before = vector;
        vector = (vector - corner * (2.0 * corner.dot(vector))).normalize_or(DVec3::X);
        if let Some(known) = known {
            let gain = vector.dot(known) - before.dot(known);
            work.compared += 1;
            work.gained += u64::from(gain > 0.0);
            work.lost += u64::from(gain < -1e-12 * known.length());
        }
    }
    memory.axis = vector;
    Answer::Endless
}
