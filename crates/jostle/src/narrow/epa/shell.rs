//! [`Shell`]: the polytope of one frame as the start of the next.
//!
//! Most of a polytope only proves that nothing else is nearer, and mostly with room to spare. So a
//! face is not placed anew while its room lasts: if no point of the difference has moved by more
//! than `moved`, no face has come nearer to the origin by more than that. Faces keep the distance
//! they are known to have, less all motion since; only where that falls below the depth, or a new
//! corner is seen, is a face placed with the poses of this frame.
//!
//! The bound is as sharp as that of a fresh run. A closed surface of points of the difference that
//! winds round the origin and keeps a distance from it has the ball of that radius inside the
//! difference, which is convex; the surface need not be. And it keeps winding round:
//!
//! 1. While the corners slide straight from their old places to their new ones, a face with room left
//!    cannot pass the origin; one without is placed, and must have the origin on its inner side with
//!    old and new corners alike, by its new normal. Then none of its points passes the origin either.
//! 2. A new corner replaces faces that see it by a cone. The tetrahedra between lie beyond planes
//!    that have the origin on their inner side, so that they do not hold it.
//!
//! Where any of this fails the shell is given up, and the pair starts cold.
//!
//! Memory: ten bytes a face and eight a corner, six hundred for a usual polytope. Tried and lost:
//! placing every face in every frame took 1.5 to 2 times as long.

use super::{BLOCK, Block, Limits, Links, Outcome, Polytope, State, plane};
use crate::narrow::gjk::{Difference, End};
use crate::narrow::simplex::Corner;
use glam::DVec3;

/// A polytope between two frames: vertices of both shapes for each corner; for each face its corners,
/// its neighbours and its distance from the origin.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    corners: Vec<[u32; 2]>,
    links: Vec<[u8; 6]>,
    /// No point of the face is nearer to the origin than this: infinite for dead faces, minus
    /// infinite for those without area.
    rooms: Vec<f32>,
    has_dead: bool,
    /// The depth at the last frame.
    depth: f64,
}

impl Shell {
    /// Larger polytopes are cheaper to grow anew than to place.
    const MOST_FACES: usize = 240;
    /// Covered corners stay until there are this many.
    const MOST_CORNERS: usize = 250;

    /// Nothing remembered.
    pub const fn new() -> Shell {
        Shell {
            corners: Vec::new(),
            links: Vec::new(),
            rooms: Vec::new(),
            has_dead: false,
            depth: 0.0,
        }
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// Forgets the polytope but keeps the memory.
    pub fn clear(&mut self) {
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

impl Polytope {
    /// As [`Polytope::run`], from the polytope of the last frame. No point of the difference has
    /// moved by more than `moved` since, and `before` tells where a corner was then.
    /// `None` if the polytope may no longer hold the origin.
    pub fn resume(
        &mut self,
        difference: &mut impl Difference,
        shell: &Shell,
        moved: f64,
        before: impl Fn([u32; 2]) -> Option<DVec3>,
        limits: &Limits,
    ) -> Option<Outcome> {
        self.load(shell, moved);
        for face in 0..self.links.len() {
            let room = self.distances[face];
            if room <= shell.depth {
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

    fn load(&mut self, shell: &Shell, moved: f64) {
        self.clear();
        let nowhere = Corner { point: DVec3::NAN, ..Corner::default() };
        self.corners.extend(shell.corners.iter().map(|&ids| Corner { ids, ..nowhere }));
        self.links.extend(shell.links.iter().map(|links| {
            let [p, q, r, neighbours @ ..] = links.map(u16::from);
            Links { corners: [p, q, r], neighbours }
        }));
        let state = |&room: &f32| if room == f32::INFINITY { State::Dead } else { State::Stale };
        self.states.extend(shell.rooms.iter().map(state));
        if shell.has_dead {
            let dead = (0..).zip(&self.states).filter(|(_, state)| **state == State::Dead);
            self.free.extend(dead.map(|(face, _): (u16, _)| face));
        }
        self.distances.extend(shell.rooms.iter().map(|&room| f64::from(room) - moved));
        self.normals.resize(self.links.len(), DVec3::ZERO);
        self.blocks.resize(self.links.len().div_ceil(BLOCK), Block::CHANGED);
    }

    /// Places a stale face by the poses of this frame. `None` if the origin is not on its inner side
    /// any more, or its corners are not to be found.
    pub(super) fn refresh(&mut self, difference: &impl Difference, face: usize) -> Option<()> {
        let corners = self.links[face].corners;
        for corner in corners {
            let corner = &mut self.corners[usize::from(corner)];
            if corner.point.x.is_nan() {
                *corner = difference.corner(corner.ids)?;
            }
        }
        let (normal, distance) = plane(self.points(corners));
        self.normals[face] = normal;
        self.distances[face] = distance;
        self.states[face] = State::Fresh;
        self.blocks[face / BLOCK].changed = true;
        (distance > 0.0 && distance < f64::INFINITY).then_some(())
    }

    /// Whether a placed face has the origin on its inner side with its corners' old places as well.
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
    pub fn save(&mut self, outcome: &Outcome, shell: &mut Shell) {
        shell.clear();
        let sound = outcome.end == End::Converged && outcome.lower > 0.0;
        if !sound || self.links.len() > Shell::MOST_FACES {
            return;
        }
        shell.depth = outcome.lower;
        self.save_faces(shell);
        if self.corners.len() <= Shell::MOST_CORNERS {
            shell.corners.extend(self.corners.iter().map(|corner| corner.ids));
        } else {
            self.save_living_corners(shell);
        }
    }

    fn save_faces(&self, shell: &mut Shell) {
        shell.links.extend(self.links.iter().map(|links| {
            let Links { corners: [p, q, r], neighbours: [s, t, u] } = *links;
            [p, q, r, s, t, u].map(|number| number as u8)
        }));
        let room = |(&distance, &state): (&f64, &State)| {
            let flat = distance == f64::INFINITY && state != State::Dead;
            if flat { f32::NEG_INFINITY } else { rounded_down(distance) }
        };
        shell.rooms.extend(self.distances.iter().zip(&self.states).map(room));
        shell.has_dead = !self.free.is_empty();
    }

    /// Saves only the corners in use and renumbers them in the faces.
    #[cold]
    fn save_living_corners(&mut self, shell: &mut Shell) {
        const NEW: u8 = u8::MAX;
        self.renumbered.clear();
        self.renumbered.resize(self.corners.len(), NEW);
        for (face, links) in self.links.iter().enumerate() {
            if self.states[face] == State::Dead {
                shell.links[face][..3].fill(0);
                continue;
            }
            for (slot, corner) in links.corners.map(usize::from).into_iter().enumerate() {
                if self.renumbered[corner] == NEW {
                    self.renumbered[corner] = shell.corners.len() as u8;
                    shell.corners.push(self.corners[corner].ids);
                }
                shell.links[face][slot] = self.renumbered[corner];
            }
        }
    }
}
