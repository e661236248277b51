//! [`Shell`]: the polytope of one frame as the start of the next.
//!
//! Most of a polytope only proves that nothing else is nearer, and mostly with room to spare. So a
//! face is not placed again while its room lasts: if no point of the difference has moved by more
//! than `moved`, no face has come nearer to the origin by more than that. Faces keep the distance
//! they are known to have, less all motion since; only where that falls below the depth, or a new
//! corner is seen, is a face placed with the poses of this frame.
//!
//! The bound is as sharp as that of a fresh run. A closed surface of points of the difference that
//! winds round the origin and keeps a distance from it has the ball of that radius inside the
//! difference, which is convex; the surface need not be. And it keeps winding round:
//!
//! 1. While the corners slide straight from their old places to their new ones, a face with room
//!    left cannot pass the origin; one without is placed, and must have the origin on its inner
//!    side with old and new corners alike, by its new normal. Then none of its points passes the
//!    origin either.
//! 2. A new corner replaces faces that see it by a cone. The tetrahedra between lie beyond planes
//!    that have the origin on their inner side, so that they do not hold it.
//!
//! Where any of this fails the shell is given up, and the pair starts cold.
//!
//! A polytope that follows a motion gathers fine faces on its way, all of them near the depth; it
//! is forgotten when it has half as many again as at its cold start.
//!
//! Memory: sixteen bytes a face and eight a corner, eight hundred for a usual polytope, in pairs of
//! overlapping polyhedra alone. Tried and lost, for hulls of 642 vertices: placing every face in
//! every frame took 1.2 times as long at a motion of 1 % a frame and 1.4 times at 0.1 %; letting
//! polytopes grow to 240 faces, 1.4 times; keeping a direction with each room, so that only motion
//! along it counts, gained nothing.

use super::polytope::{BLOCK, Block, Limits, Links, Outcome, Polytope, State, plane};
use crate::narrow::gjk::{Difference, End};
use crate::narrow::simplex::Corner;
use glam::DVec3;

/// A polytope between two frames: vertices of both shapes for each corner; for each face its
/// corners, its neighbours and its distance from the origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shell {
    corners: Vec<[u32; 2]>,
    links: Vec<Links>,
    /// No point of the face is nearer to the origin than this: infinite for dead faces, minus
    /// infinite for those without area.
    rooms: Vec<f32>,
    has_dead: bool,
    /// The face nearest to the origin.
    nearest: usize,
    /// Most faces before a cold start is cheaper.
    most_faces: usize,
}

impl Shell {
    /// Larger polytopes are not remembered: they would be placed as slowly as grown.
    const MOST_FACES: usize = 240;

    /// Nothing remembered.
    pub(crate) const fn new() -> Shell {
        Shell {
            corners: Vec::new(),
            links: Vec::new(),
            rooms: Vec::new(),
            has_dead: false,
            nearest: 0,
            most_faces: 0,
        }
    }

    /// Returns true if nothing is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Forgets the polytope but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.corners.clear();
        self.links.clear();
        self.rooms.clear();
    }
}

/// Rounds down to f32, and by some more: a room must never be promised that is not there.
#[inline]
fn rounded_down(room: f64) -> f32 {
    (room * (1.0 - 2e-7)) as f32
}

/// Finds the place of a corner of which only the vertices are known.
#[inline(never)]
fn place(difference: &impl Difference, corner: &mut Corner) -> Option<()> {
    let Corner { point, on_a, .. } = difference.corner(corner.ids)?;
    (corner.point, corner.on_a) = (point, on_a);
    Some(())
}

impl Polytope {
    /// As [`Polytope::run`], from the polytope of the last frame. No point of the difference has
    /// moved by more than `moved` since, and `before` tells where a corner was then.
    /// `None` if the polytope may no longer hold the origin.
    pub(crate) fn resume(
        &mut self,
        difference: &mut impl Difference,
        shell: &Shell,
        moved: f64,
        before: impl Fn([u32; 2]) -> Option<DVec3>,
        limits: &Limits,
    ) -> Option<Outcome> {
        self.load(shell, moved);
        let room = self.distances[shell.nearest];
        self.refresh(difference, shell.nearest)?;
        if room <= limits.flat && !self.kept_inside(shell.nearest, &before, limits.flat) {
            return None;
        }
        // Nothing beyond the last nearest face can be nearer now.
        let limit = self.distances[shell.nearest];
        for face in 0..self.links.len() {
            let room = self.distances[face];
            if room <= limit && self.states[face] == State::Stale {
                self.refresh(difference, face)?;
                if room <= limits.flat && !self.kept_inside(face, &before, limits.flat) {
                    return None;
                }
            }
        }
        let bounds = self.grow(difference, limits);
        let sound = bounds.end == End::Converged && bounds.lower > 0.0;
        sound.then(|| self.outcome(difference, &bounds, limits))
    }

    /// Takes the faces over without their normals, and the corners without their places.
    fn load(&mut self, shell: &Shell, moved: f64) {
        let faces = shell.links.len();
        self.corners.resize(shell.corners.len(), Corner::default());
        for (corner, &ids) in self.corners.iter_mut().zip(&shell.corners) {
            (corner.ids, corner.point.x) = (ids, f64::NAN);
        }
        self.links.clear();
        self.links.extend_from_slice(&shell.links);
        self.normals.resize(faces, DVec3::ZERO);
        self.distances.clear();
        self.distances.extend(shell.rooms.iter().map(|&room| f64::from(room) - moved));
        self.states.clear();
        self.states.resize(faces, State::Stale);
        self.blocks.clear();
        self.blocks.resize(faces.div_ceil(BLOCK), Block::CHANGED);
        self.free.clear();
        if shell.has_dead {
            self.bury();
        }
    }

    /// Finds the dead among the faces taken over.
    fn bury(&mut self) {
        for (face, state) in self.states.iter_mut().enumerate() {
            if self.distances[face] == f64::INFINITY {
                *state = State::Dead;
                self.free.push(face as u16);
            }
        }
    }

    /// Places a stale face by the poses of this frame. `None` if the origin is not on its inner
    /// side any more, or its corners are not to be found.
    #[inline]
    pub(super) fn refresh(&mut self, difference: &impl Difference, face: usize) -> Option<()> {
        let corners = self.links[face].corners;
        for corner in corners {
            let corner = &mut self.corners[usize::from(corner)];
            if corner.point.x.is_nan() {
                place(difference, corner)?;
            }
        }
        let (normal, distance) = plane(self.points(corners));
        self.normals[face] = normal;
        self.distances[face] = distance;
        self.states[face] = State::Fresh;
        self.blocks[face / BLOCK].changed = true;
        (distance > 0.0 && distance < f64::INFINITY).then_some(())
    }

    /// Returns true if a placed face has the origin on its inner side with its corners' old places
    /// as well.
    fn kept_inside(
        &self,
        face: usize,
        before: impl Fn([u32; 2]) -> Option<DVec3>,
        flat: f64,
    ) -> bool {
        let inside = |corner: u16| {
            let point = before(self.corners[usize::from(corner)].ids);
            point.is_some_and(|point| point.dot(self.normals[face]) > flat)
        };
        self.distances[face] > flat && self.links[face].corners.into_iter().all(inside)
    }

    /// Remembers the polytope of a depth for the next frame; forgets it when it has grown large or
    /// does not hold the origin.
    pub(crate) fn save(&mut self, outcome: &Outcome, shell: &mut Shell) {
        let living = self.links.len() - self.free.len();
        if shell.is_empty() {
            shell.most_faces = (living + living / 2 + 8).min(Shell::MOST_FACES);
        }
        shell.clear();
        let sound = outcome.end == End::Converged && outcome.lower > 0.0;
        if !sound || living > shell.most_faces || self.corners.len() > Shell::MOST_FACES {
            return;
        }
        shell.nearest = outcome.nearest;
        shell.corners.extend(self.corners.iter().map(|corner| corner.ids));
        shell.links.extend_from_slice(&self.links);
        let room = |(&distance, &state): (&f64, &State)| {
            let flat = distance == f64::INFINITY && state != State::Dead;
            if flat { f32::NEG_INFINITY } else { rounded_down(distance) }
        };
        shell.rooms.extend(self.distances.iter().zip(&self.states).map(room));
        shell.has_dead = !self.free.is_empty();
    }
}
