//! Growing: the nearest face, the horizon of a new corner, and the cone over it.

use super::polytope::{BLOCK, Block, Bounds, HorizonEdge, Limits, Links, Polytope, State, plane};
use crate::narrow::gjk::{Difference, End};
use crate::narrow::simplex::Corner;
use glam::DVec3;

impl Polytope {
    pub(super) fn grow(&mut self, difference: &mut impl Difference, limits: &Limits) -> Bounds {
        let mut best = Bounds {
            normal: DVec3::X,
            upper: f64::INFINITY,
            lower: f64::NEG_INFINITY,
            corners: [0; 3],
            nearest: 0,
            end: End::StepLimit,
        };
        loop {
            let Some(nearest) = self.nearest_fresh_face(difference) else {
                best.end = End::Stalled;
                return best;
            };
            best.nearest = nearest;
            let normal = self.normals[nearest];
            let corner = difference.support(normal);
            let height = corner.point.dot(normal);
            if height < best.upper {
                let corners = self.links[nearest].corners;
                (best.upper, best.normal, best.corners) = (height, normal, corners);
            }
            best.lower = self.distances[nearest].min(best.upper);
            if best.upper - best.lower <= best.gap(limits) {
                best.end = End::Converged;
                return best;
            }
            if self.corners.len() >= limits.corners {
                return best;
            }
            if !self.add(difference, corner, nearest, limits) {
                best.end = End::Stalled;
                return best;
            }
        }
    }

    /// The face of least distance, once no stale face can be nearer.
    fn nearest_fresh_face(&mut self, difference: &impl Difference) -> Option<usize> {
        loop {
            let nearest = self.nearest_face()?;
            if self.states[nearest] == State::Fresh {
                return Some(nearest);
            }
            self.refresh(difference, nearest)?;
        }
    }

    /// The face of least distance, the lowest among equals. Blocks that changed are looked through
    /// again, the others answer with their least.
    fn nearest_face(&mut self) -> Option<usize> {
        let mut best = (f64::INFINITY, 0);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            if block.changed {
                let start = index * BLOCK;
                let end = (start + BLOCK).min(self.distances.len());
                *block = Block::of(&self.distances[start..end], start);
            }
            if block.least < best.0 {
                best = (block.least, block.face);
            }
        }
        best.0.is_finite().then_some(best.1)
    }

    /// Replaces the faces that see the corner. `false` when the horizon is no closed loop.
    fn add(
        &mut self,
        difference: &impl Difference,
        corner: Corner,
        first: usize,
        limits: &Limits,
    ) -> bool {
        let found = self.find_horizon(difference, corner.point, first, limits.coplanar);
        let count = self.horizon.len();
        let closed = found.is_some()
            && count >= 3
            && (0..count).all(|i| self.horizon[i].to == self.horizon[(i + 1) % count].from);
        if !closed {
            return false;
        }
        let apex = self.corners.len() as u16;
        self.corners.push(corner);
        self.cone.clear();
        for index in 0..count {
            let HorizonEdge { from, to, .. } = self.horizon[index];
            let place = self.place_face([from, to, apex]);
            self.cone.push(place);
        }
        for index in 0..count {
            let HorizonEdge { to, outer, .. } = self.horizon[index];
            let next = self.cone[(index + 1) % count];
            let previous = self.cone[(index + count - 1) % count];
            self.links[usize::from(self.cone[index])].neighbours = [outer, next, previous];
            let outer = &mut self.links[usize::from(outer)];
            let edge = outer.corners.iter().position(|&c| c == to).unwrap_or(0);
            outer.neighbours[edge] = self.cone[index];
        }
        true
    }

    /// Walks the faces that see the point, depth first in edge order, so that the edges of the
    /// horizon come out as a loop. `None` if a stale face on the way cannot be placed.
    fn find_horizon(
        &mut self,
        difference: &impl Difference,
        point: DVec3,
        first: usize,
        coplanar: f64,
    ) -> Option<()> {
        self.horizon.clear();
        self.stack.clear();
        self.kill(first);
        for edge in (0..3).rev() {
            self.stack.push((first as u16, edge));
        }
        while let Some((from_face, edge)) = self.stack.pop() {
            let links = self.links[usize::from(from_face)];
            let across = links.neighbours[usize::from(edge)];
            let place = usize::from(across);
            match self.states[place] {
                State::Dead => continue,
                State::Stale => self.refresh(difference, place)?,
                State::Fresh => {}
            }
            let from = links.corners[usize::from(edge)];
            let to = links.corners[(usize::from(edge) + 1) % 3];
            let corners = self.links[place].corners;
            let anchor = self.corners[usize::from(corners[0])].point;
            if self.normals[place].dot(point - anchor) > -coplanar {
                self.kill(place);
                let entry = corners.iter().position(|&c| c == to).unwrap_or(0);
                self.stack.push((across, ((entry + 2) % 3) as u8));
                self.stack.push((across, ((entry + 1) % 3) as u8));
            } else {
                self.horizon.push(HorizonEdge { from, to, outer: across });
            }
        }
        Some(())
    }

    fn kill(&mut self, face: usize) {
        self.states[face] = State::Dead;
        self.distances[face] = f64::INFINITY;
        self.blocks[face / BLOCK].changed = true;
        self.free.push(face as u16);
    }

    /// Makes a face, in a dead one's place if there is one; its neighbours are set later.
    pub(super) fn place_face(&mut self, corners: [u16; 3]) -> u16 {
        let (normal, distance) = plane(self.points(corners));
        let links = Links { corners, neighbours: [0; 3] };
        if let Some(place) = self.free.pop() {
            let face = usize::from(place);
            self.links[face] = links;
            self.normals[face] = normal;
            self.states[face] = State::Fresh;
            self.distances[face] = distance;
            self.blocks[face / BLOCK].changed = true;
            return place;
        }
        self.links.push(links);
        self.normals.push(normal);
        self.states.push(State::Fresh);
        self.distances.push(distance);
        let face = self.links.len() - 1;
        self.blocks.resize(face / BLOCK + 1, Block::CHANGED);
        self.blocks[face / BLOCK].changed = true;
        face as u16
    }
}
