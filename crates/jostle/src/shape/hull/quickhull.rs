//! Quickhull in three dimensions with exact orientation tests.
//!
//! The idea (Barber, Dobkin and Huhdanpaa, *The Quickhull Algorithm for Convex Hulls*): begin
//! with a tetrahedron, keep for each face the points above it, and repeatedly add the furthest
//! of them: the faces it sees are replaced by a cone from their rim, the horizon, to the point.
//!
//! ```text
//! while some face has points above it
//!     p <- the furthest of them
//!     seen <- the faces strictly below p, found from that face across edges
//!     join p to each edge between a seen and an unseen face
//!     hand the points of the seen faces to the new faces they are above
//! ```
//!
//! Departures, all for safety with rounded coordinates:
//!
//! 1. "Strictly below" is decided exactly (Shewchuk, *Adaptive Precision Floating-Point
//!    Arithmetic and Fast Robust Geometric Predicates*). The faces seen from a point are then
//!    always a disc, no new triangle is degenerate, and the surface is exactly convex, flat
//!    places included. Merging facets during the search, as Qhull does, is not needed.
//! 2. Points within `epsilon` of the hull so far are left out, so rounding noise on a flat side
//!    does not become vertices. The distance that counts is the one to the seen triangles: the
//!    one to their planes is also small far beyond a sharp edge. Points are still handed on by
//!    exact sign, because a point just above one face may be far above another, and only with
//!    exact signs is it certain that a point outside is above one of the new faces.
//! 3. Each point is added at most once and a point whose horizon is not one closed ring (only
//!    possible when products underflow) is left out, so the loop ends on any input.
//!
//! O(n log n) where points are spread like on a ball or in a box: a million in a cube take less
//! than a second, a million on a sphere, all of them vertices, about half a minute. Clouds along a
//! curve come near O(n²), since a point may see a large part of the hull: twenty thousand points of
//! a helix take a second. Handing each point to the face it is furthest above instead of to the
//! first was up to ten times slower there. Memory: 8 bytes a point in addition to the coordinates,
//! about 110 bytes a face.

use glam::DVec3;
use robust::{Coord3D, orient3d};
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// This many points are added breadth first, so that the hull grows evenly; without that one rim
/// of a cylinder is finished before the other has begun, and each point of the other then sees
/// all of it. The rest is added depth first, which keeps to the cache: a million points on a
/// sphere take half the time.
const BREADTH: u32 = 1 << 14;

struct Face {
    corners: [u32; 3],
    /// Across the edge from corner `k` to corner `k + 1`.
    neighbours: [u32; 3],
    origin: DVec3,
    normal: DVec3,
    /// Bound on the error of a computed distance to this face.
    doubt: f64,
    /// Points above: first of the list, and the furthest of them.
    first: u32,
    furthest: u32,
    furthest_distance: f64,
    /// Twice the round in which the face was last looked at, plus one if it was seen.
    mark: u32,
    alive: bool,
}

/// An edge between a seen face and the unseen face `beyond`.
#[derive(Clone, Copy)]
struct Rim {
    from: u32,
    to: u32,
    beyond: u32,
}

/// A closed triangulated surface.
pub(super) struct Surface {
    pub triangles: Vec<[u32; 3]>,
    /// Across the edge from corner `k` to corner `k + 1`.
    pub neighbours: Vec<[u32; 3]>,
}

struct Builder<'a> {
    points: &'a [DVec3],
    epsilon: f64,
    diameter: f64,
    faces: Vec<Face>,
    free: Vec<u32>,
    /// Next point in the list of the same face.
    next: Vec<u32>,
    /// Faces that may have points above them.
    pending: VecDeque<u32>,
    /// Position in `rim` of the edge that leaves a vertex.
    leaving: Vec<u32>,
    rim: Vec<Rim>,
    ring: Vec<Rim>,
    seen: Vec<u32>,
    round: u32,
}

/// The hull of points whose coordinates are at most one, beginning with a tetrahedron of them
/// that is positively oriented and thicker than `epsilon`.
pub(super) fn quickhull(points: &[DVec3], tetrahedron: [u32; 4], epsilon: f64) -> Surface {
    let mut builder = Builder {
        points,
        epsilon,
        // Coordinates lie in [-1, 1].
        diameter: 2.0 * 3.0f64.sqrt(),
        faces: Vec::new(),
        free: Vec::new(),
        next: vec![NONE; points.len()],
        pending: VecDeque::new(),
        leaving: vec![NONE; points.len()],
        rim: Vec::new(),
        ring: Vec::new(),
        seen: Vec::new(),
        round: 0,
    };
    builder.start(tetrahedron);
    while let Some(face) = builder.pop_pending() {
        builder.advance(face);
    }
    builder.finish()
}

impl Builder<'_> {
    fn start(&mut self, [a, b, c, d]: [u32; 4]) {
        // Each face with its neighbours across ab, bc, ca.
        let base = [
            ([a, b, c], [1, 2, 3]),
            ([b, a, d], [0, 3, 2]),
            ([c, b, d], [0, 1, 3]),
            ([a, c, d], [0, 2, 1]),
        ];
        for (corners, neighbours) in base {
            self.add_face(corners, neighbours);
        }
        for point in 0..self.points.len() as u32 {
            if ![a, b, c, d].contains(&point) {
                self.assign(point, 0..4);
            }
        }
        self.pending.extend(0..4);
    }

    fn add_face(&mut self, corners: [u32; 3], neighbours: [u32; 3]) -> u32 {
        let [a, b, c] = corners.map(|corner| self.points[corner as usize]);
        let (normal, doubt) = plane(a, b, c, self.diameter);
        let face = Face {
            corners,
            neighbours,
            origin: a,
            normal,
            doubt,
            first: NONE,
            furthest: NONE,
            furthest_distance: 0.0,
            mark: 0,
            alive: true,
        };
        if let Some(slot) = self.free.pop() {
            self.faces[slot as usize] = face;
            return slot;
        }
        self.faces.push(face);
        self.faces.len() as u32 - 1
    }

    fn pop_pending(&mut self) -> Option<u32> {
        if self.round < BREADTH { self.pending.pop_front() } else { self.pending.pop_back() }
    }

    /// Exact: returns true if the point lies strictly above the face.
    fn sees(&self, face: u32, point: u32) -> bool {
        let face = &self.faces[face as usize];
        let point = self.points[point as usize];
        let distance = face.normal.dot(point - face.origin);
        if distance.abs() > face.doubt {
            return distance > 0.0;
        }
        let [a, b, c] = face.corners.map(|corner| coordinates(self.points[corner as usize]));
        // The predicate is positive below the plane.
        orient3d(a, b, c, coordinates(point)) < 0.0
    }

    /// Puts a point into the list of the first of the faces that it is above.
    fn assign(&mut self, point: u32, mut faces: impl Iterator<Item = u32>) {
        if let Some(face) = faces.find(|&face| self.sees(face, point)) {
            let at = self.points[point as usize];
            let Face { normal, origin, .. } = self.faces[face as usize];
            self.put(point, face, normal.dot(at - origin));
        }
    }

    fn put(&mut self, point: u32, face: u32, distance: f64) {
        let face = &mut self.faces[face as usize];
        if face.first == NONE || distance > face.furthest_distance {
            face.furthest = point;
            face.furthest_distance = distance;
        }
        self.next[point as usize] = face.first;
        face.first = point;
    }

    /// Adds the furthest point of a face, or one that is far from the hull.
    fn advance(&mut self, start: u32) {
        let face = &self.faces[start as usize];
        if !face.alive || face.first == NONE {
            return;
        }
        let point = face.furthest;
        let certain = face.furthest_distance > 2.0 * self.epsilon && face.doubt <= self.epsilon;
        if certain && self.find_horizon(start, point) {
            self.replace_seen(point);
            return;
        }
        // All points of this face are near its plane: look at them one by one.
        while let Some(point) = self.take_point(start) {
            if self.find_horizon(start, point) && self.is_far(point) {
                self.replace_seen(point);
                return;
            }
        }
    }

    fn take_point(&mut self, face: u32) -> Option<u32> {
        let face = &mut self.faces[face as usize];
        let point = face.first;
        if point == NONE {
            return None;
        }
        face.first = self.next[point as usize];
        // Whichever is furthest now is near the plane as well.
        face.furthest = face.first;
        face.furthest_distance = 0.0;
        Some(point)
    }

    /// Returns true if the point is further than `epsilon` from every face it sees.
    fn is_far(&self, point: u32) -> bool {
        let at = self.points[point as usize];
        let near = |&face: &u32| self.distance(&self.faces[face as usize], at) <= self.epsilon;
        !self.seen.iter().any(near)
    }

    /// Distance from a triangle: to its plane over its inside, to its sides elsewhere.
    fn distance(&self, face: &Face, point: DVec3) -> f64 {
        let corners = face.corners.map(|corner| self.points[corner as usize]);
        let sides = [0, 1, 2].map(|k| (corners[k], corners[(k + 1) % 3] - corners[k]));
        let over =
            |&(from, side): &(DVec3, DVec3)| face.normal.dot(side.cross(point - from)) >= 0.0;
        // A thin triangle has no certain plane, but then its sides are near enough.
        if face.doubt <= self.epsilon && sides.iter().all(over) {
            return face.normal.dot(point - face.origin).abs();
        }
        let to_side = |&(from, side): &(DVec3, DVec3)| {
            let along = side.dot(point - from) / side.length_squared();
            (point - from - side * along.clamp(0.0, 1.0)).length()
        };
        sides.iter().map(to_side).fold(f64::INFINITY, f64::min)
    }

    /// Fills `seen`, and `ring` with the edges around it in order; false if they are no ring.
    fn find_horizon(&mut self, start: u32, point: u32) -> bool {
        self.round += 1;
        let (unseen, seen) = (2 * self.round, 2 * self.round + 1);
        self.seen.clear();
        self.rim.clear();
        self.seen.push(start);
        self.faces[start as usize].mark = seen;
        let mut done = 0;
        while done < self.seen.len() {
            let Face { corners, neighbours, .. } = self.faces[self.seen[done] as usize];
            done += 1;
            for edge in 0..3 {
                let beyond = neighbours[edge];
                if self.faces[beyond as usize].mark < unseen {
                    let mark = if self.sees(beyond, point) { seen } else { unseen };
                    self.faces[beyond as usize].mark = mark;
                    if mark == seen {
                        self.seen.push(beyond);
                    }
                }
                if self.faces[beyond as usize].mark == unseen {
                    let (from, to) = (corners[edge], corners[(edge + 1) % 3]);
                    self.rim.push(Rim { from, to, beyond });
                }
            }
        }
        self.close_ring()
    }

    /// Orders `rim` into `ring`; false unless it is one closed ring.
    fn close_ring(&mut self) -> bool {
        self.ring.clear();
        for (position, edge) in self.rim.iter().enumerate() {
            self.leaving[edge.from as usize] = position as u32;
        }
        let Some(&first) = self.rim.first() else { return false };
        let mut edge = first;
        for _ in 0..self.rim.len() {
            self.ring.push(edge);
            let position = self.leaving[edge.to as usize];
            // The table keeps entries of earlier rounds: check that this one is of today.
            match self.rim.get(position as usize) {
                Some(next) if next.from == edge.to => edge = *next,
                _ => return false,
            }
            if edge.from == first.from {
                break;
            }
        }
        self.ring.len() == self.rim.len() && edge.from == first.from
    }

    /// Replaces the seen faces by the cone from the ring to the point.
    fn replace_seen(&mut self, point: u32) {
        let mut orphans = NONE;
        for index in 0..self.seen.len() {
            let face = self.seen[index];
            orphans = self.take_points(face, orphans);
            self.faces[face as usize].alive = false;
        }
        // Slots are reused only after all marks of this round were read.
        self.free.append(&mut self.seen);
        let created = self.add_cone(point);
        while orphans != NONE {
            let following = self.next[orphans as usize];
            if orphans != point {
                self.assign(orphans, created.iter().copied());
            }
            orphans = following;
        }
        self.pending.extend(created);
    }

    /// Moves the points of a face to the front of another list.
    fn take_points(&mut self, face: u32, mut list: u32) -> u32 {
        let mut point = std::mem::replace(&mut self.faces[face as usize].first, NONE);
        while point != NONE {
            let following = self.next[point as usize];
            self.next[point as usize] = list;
            list = point;
            point = following;
        }
        list
    }

    fn add_cone(&mut self, point: u32) -> Vec<u32> {
        let ring = std::mem::take(&mut self.ring);
        let created: Vec<u32> = ring
            .iter()
            .map(|edge| self.add_face([edge.from, edge.to, point], [edge.beyond, NONE, NONE]))
            .collect();
        for (position, edge) in ring.iter().enumerate() {
            let count = ring.len();
            let face = &mut self.faces[created[position] as usize];
            face.neighbours[1] = created[(position + 1) % count];
            face.neighbours[2] = created[(position + count - 1) % count];
            let beyond = &mut self.faces[edge.beyond as usize];
            let side = (0..3).find(|&side| beyond.corners[side] == edge.to);
            beyond.neighbours[side.unwrap_or(0)] = created[position];
        }
        self.ring = ring;
        created
    }

    fn finish(self) -> Surface {
        let mut number = vec![NONE; self.faces.len()];
        let mut count = 0;
        for (slot, face) in self.faces.iter().enumerate() {
            if face.alive {
                number[slot] = count;
                count += 1;
            }
        }
        let alive = || self.faces.iter().filter(|face| face.alive);
        Surface {
            triangles: alive().map(|face| face.corners).collect(),
            neighbours: alive().map(|f| f.neighbours.map(|slot| number[slot as usize])).collect(),
        }
    }
}

fn coordinates(point: DVec3) -> Coord3D<f64> {
    Coord3D { x: point.x, y: point.y, z: point.z }
}

/// Unit normal of a triangle and a bound on the error of distances computed with it, for
/// points no further than `diameter` from it.
fn plane(a: DVec3, b: DVec3, c: DVec3, diameter: f64) -> (DVec3, f64) {
    let sides = [b - a, c - b, a - c];
    // The two shorter sides give the smaller error.
    let lengths = sides.map(|side| side.length());
    let longest = (0..3).max_by(|&i, &j| lengths[i].total_cmp(&lengths[j])).unwrap_or(0);
    let (first, second) = ((longest + 1) % 3, (longest + 2) % 3);
    let cross = sides[first].cross(sides[second]);
    let area = cross.length();
    if area < 1e-280 {
        return (DVec3::ZERO, f64::INFINITY);
    }
    let sharpness = lengths[first] * lengths[second] / area;
    (cross / area, 8.0 * f64::EPSILON * diameter * (1.0 + sharpness))
}
