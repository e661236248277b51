//! [`Features`]: the vertices, edges and faces of a hull with the planes between their Voronoi
//! regions, for the systems that walk from feature to feature.
//!
//! The region of a feature is what lies nearer to it than to any other of its hull, outside. Its
//! walls belong to two features each, one of which is a dimension lower:
//!
//! - a vertex and an edge: across the edge, through the vertex;
//! - an edge and a face: along the edge, across the face.
//!
//! So leaving a region through a wall tells where to go on. Walls are planes that are positive on
//! the side of the higher feature: the edge's, the face's. Hulls must be solid or flat; a flat one
//! has two faces, back to back.
//!
//! Memory: about 300 bytes an edge. Built in linear time.

use glam::DVec3;
use jostle::shape::{Hull, PoseMatrix};

use super::{Answer, Memory, Pair, TOUCH, Work};

/// A feature by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    Vertex(u32),
    Edge(u32),
    Face(u32),
}

/// A plane; positive in front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub normal: DVec3,
    pub offset: f64,
}

impl Plane {
    fn through(point: DVec3, normal: DVec3) -> Plane {
        Plane { normal, offset: normal.dot(point) }
    }

    #[inline]
    pub(super) fn height(&self, point: DVec3) -> f64 {
        self.normal.dot(point) - self.offset
    }

    #[inline]
    pub(super) fn flipped(self) -> Plane {
        Plane { normal: -self.normal, offset: -self.offset }
    }
}

/// An edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub ends: [u32; 2],
    pub tail: DVec3,
    pub head: DVec3,
    /// From tail to head, of length one.
    pub along: DVec3,
    /// The face to the left, seen from outside, and the one to the right.
    pub faces: [u32; 2],
    /// Walls to both faces, positive on the faces' sides.
    pub walls: [Plane; 2],
}

/// A face: its plane, and its edges with the wall to each, positive inside.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub plane: Plane,
    pub sides: Vec<(u32, Plane)>,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(super) vertices: Vec<DVec3>,
    pub(super) edges: Vec<Edge>,
    pub(super) faces: Vec<Face>,
    /// The edges at each vertex with the wall to each, positive on the edge's side.
    pub(super) around: Vec<Vec<(u32, Plane)>>,
}

impl Features {
    /// Of a hull. Points and segments have no faces, and none of the systems here takes them.
    pub(crate) fn new(hull: &Hull) -> Features {
        let vertices = hull.vertices().to_vec();
        let mut features = Features {
            edges: Vec::with_capacity(hull.edges().len()),
            faces: (0..hull.face_count()).map(|face| face_of(hull, face)).collect(),
            around: vec![Vec::new(); vertices.len()],
            vertices,
        };
        for (number, edge) in hull.edges().iter().enumerate() {
            if edge.faces.iter().all(|&face| (face as usize) < features.faces.len()) {
                features.add_edge(number as u32, edge.vertices, edge.faces);
            }
        }
        features
    }

    fn add_edge(&mut self, number: u32, ends: [u32; 2], faces: [u32; 2]) {
        let [tail, head] = ends.map(|end| self.vertices[end as usize]);
        let along = (head - tail).normalize_or_zero();
        let wall = |side: usize| {
            let normal = self.faces[faces[side] as usize].plane.normal;
            // The left face runs along the edge, the right one against it.
            let inward = normal.cross(if side == 0 { along } else { -along });
            Plane::through(tail, inward)
        };
        let walls = [wall(0), wall(1)];
        for side in 0..2 {
            self.faces[faces[side] as usize].sides.push((number, walls[side]));
        }
        self.around[ends[0] as usize].push((number, Plane::through(tail, along)));
        self.around[ends[1] as usize].push((number, Plane::through(head, -along)));
        self.edges.push(Edge { ends, tail, head, along, faces, walls });
    }

    pub(super) fn edge(&self, edge: u32) -> &Edge {
        &self.edges[edge as usize]
    }

    pub(super) fn face(&self, face: u32) -> &Face {
        &self.faces[face as usize]
    }

    /// The face in front of which a point is highest, and its height.
    pub(super) fn highest_face(&self, point: DVec3) -> (u32, f64) {
        let heights = self.faces.iter().map(|face| face.plane.height(point));
        let mut best = (0, f64::NEG_INFINITY);
        for (number, height) in heights.enumerate() {
            if height > best.1 {
                best = (number as u32, height);
            }
        }
        best
    }
}

fn face_of(hull: &Hull, face: usize) -> Face {
    let plane = Plane { normal: hull.face_normal(face), offset: hull.face_offset(face) };
    Face { plane, sides: Vec::with_capacity(hull.face_vertices(face).len()) }
}

impl Edge {
    /// The walls of its region with the feature behind each, positive inside: two across its ends,
    /// two along its faces.
    pub(super) fn region(&self) -> [(Feature, Plane); 4] {
        let [tail, head] = self.ends.map(Feature::Vertex);
        let [left, right] = self.faces.map(Feature::Face);
        [
            (tail, Plane::through(self.tail, self.along)),
            (head, Plane::through(self.head, -self.along)),
            (left, self.walls[0].flipped()),
            (right, self.walls[1].flipped()),
        ]
    }

    pub(super) fn segment(&self) -> Segment {
        Segment { tail: self.tail, head: self.head }
    }
}

/// An edge in any frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub tail: DVec3,
    pub head: DVec3,
}

impl Segment {
    #[inline]
    pub(super) fn at(&self, share: f64) -> DVec3 {
        self.tail + (self.head - self.tail) * share
    }

    /// Where it is nearest to a point, as a share of its length.
    pub(super) fn nearest_to(&self, point: DVec3) -> f64 {
        let way = self.head - self.tail;
        let length = way.length_squared();
        if length == 0.0 { 0.0 } else { ((point - self.tail).dot(way) / length).clamp(0.0, 1.0) }
    }

    /// Where two segments are nearest to each other, as shares of their lengths. Parallel ones meet
    /// in the middle of what they have in common.
    pub(super) fn nearest(&self, other: &Segment) -> (f64, f64) {
        let (u, v, w) = (self.head - self.tail, other.head - other.tail, self.tail - other.tail);
        let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
        let area = uu * vv - uv * uv;
        if area <= 1e-14 * uu * vv {
            let mut shares = [other.tail, other.head].map(|point| self.nearest_to(point));
            shares.sort_by(f64::total_cmp);
            let share = 0.5 * (shares[0] + shares[1]);
            return (share, other.nearest_to(self.at(share)));
        }
        let free = ((uv * v.dot(w) - vv * u.dot(w)) / area).clamp(0.0, 1.0);
        let on_other = other.nearest_to(self.at(free));
        let on_self = self.nearest_to(other.at(on_other));
        (on_self, other.nearest_to(self.at(on_self)))
    }
}

/// Two hulls from the frame of one of them.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub mine: &'a Features,
    pub other: &'a Features,
    place: &'a PoseMatrix,
    /// The frame is the second hull's.
    second: bool,
}

impl<'a> View<'a> {
    pub(super) fn both(pair: &'a Pair<'_>) -> [View<'a>; 2] {
        let [a, b] = [&pair.a.features, &pair.b.features];
        let place = &pair.place;
        [
            View { mine: a, other: b, place, second: false },
            View { mine: b, other: a, place, second: true },
        ]
    }

    /// A point of the other hull in this frame.
    #[inline]
    pub(super) fn point(&self, point: DVec3) -> DVec3 {
        if self.second { self.place.inverse_apply(point) } else { self.place.apply(point) }
    }

    /// A direction of this frame in the other's.
    #[inline]
    pub(super) fn direction_away(&self, direction: DVec3) -> DVec3 {
        match self.second {
            true => self.place.apply_vector(direction),
            false => self.place.inverse_apply_vector(direction),
        }
    }

    /// A vertex of the other hull in this frame.
    #[inline]
    pub(super) fn vertex(&self, vertex: u32) -> DVec3 {
        self.point(self.other.vertices[vertex as usize])
    }

    /// An edge of the other hull in this frame.
    #[inline]
    pub(super) fn segment(&self, edge: u32) -> Segment {
        let edge = self.other.edge(edge);
        Segment { tail: self.point(edge.tail), head: self.point(edge.head) }
    }

    /// The edge at one of my vertices whose wall a point is furthest beyond.
    pub(super) fn leaves_vertex(&self, vertex: u32, point: DVec3) -> Option<Feature> {
        let walls = self.mine.around[vertex as usize].iter();
        furthest(walls.map(|&(edge, wall)| (Feature::Edge(edge), -wall.height(point))))
    }

    /// The feature behind the wall of one of my edges that a point is furthest beyond.
    pub(super) fn leaves_edge(&self, edge: u32, point: DVec3) -> Option<Feature> {
        let walls = self.mine.edge(edge).region();
        furthest(walls.into_iter().map(|(behind, wall)| (behind, wall.height(point))))
    }

    /// The edge of one of my faces that a point is furthest beyond.
    pub(super) fn leaves_face(&self, face: u32, point: DVec3) -> Option<Feature> {
        let walls = self.mine.face(face).sides.iter();
        furthest(walls.map(|&(edge, wall)| (Feature::Edge(edge), wall.height(point))))
    }

    /// The vertex or edge of one of my faces that is nearest to a segment. At a vertex both edges
    /// are as near, and only one of them may lead on.
    pub(super) fn nearest_side(&self, face: u32, segment: &Segment) -> Feature {
        let mut best = (Feature::Face(face), f64::INFINITY);
        for &(number, _) in &self.mine.face(face).sides {
            let edge = self.mine.edge(number);
            let side = edge.segment();
            let (on_side, on_segment) = side.nearest(segment);
            let distance = side.at(on_side).distance_squared(segment.at(on_segment));
            if distance < best.1 {
                let feature = match on_side {
                    0.0 => Feature::Vertex(edge.ends[0]),
                    1.0 => Feature::Vertex(edge.ends[1]),
                    _ => Feature::Edge(number),
                };
                best = (feature, distance);
            }
        }
        best.0
    }
}

/// The feature with the lowest height, if that is below zero.
fn furthest(heights: impl Iterator<Item = (Feature, f64)>) -> Option<Feature> {
    let mut worst = (None, 0.0);
    for (feature, height) in heights {
        if height < worst.1 {
            worst = (Some(feature), height);
        }
    }
    worst.0
}

/// The part of a segment in front of some planes, and the features behind the planes that cut it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clip {
    pub shares: [f64; 2],
    pub cut_by: [Option<Feature>; 2],
    /// All of it is behind one plane.
    pub behind: Option<Feature>,
}

impl Clip {
    pub(super) fn new(
        segment: &Segment,
        planes: impl IntoIterator<Item = (Feature, Plane)>,
    ) -> Clip {
        let mut clip = Clip { shares: [0.0, 1.0], cut_by: [None; 2], behind: None };
        for (feature, plane) in planes {
            let (tail, head) = (plane.height(segment.tail), plane.height(segment.head));
            if tail < 0.0 && head < 0.0 {
                clip.behind = Some(feature);
                return clip;
            }
            let share = tail / (tail - head);
            if tail < 0.0 && share > clip.shares[0] {
                (clip.shares[0], clip.cut_by[0]) = (share, Some(feature));
            } else if head < 0.0 && share < clip.shares[1] {
                (clip.shares[1], clip.cut_by[1]) = (share, Some(feature));
            }
        }
        clip
    }

    /// Nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.behind.is_some() || self.shares[0] > self.shares[1]
    }
}

/// Finds out that a walk has come back to where it was, so that it would go on for ever: Brent's
/// method, which remembers one state.
#[derive(Debug)]
pub(super) struct Watch {
    saved: [Feature; 2],
    left: u32,
    span: u32,
}

impl Watch {
    pub(super) fn new(state: [Feature; 2]) -> Watch {
        Watch { saved: state, left: 1, span: 1 }
    }

    pub(super) fn came_back(&mut self, state: [Feature; 2]) -> bool {
        if state == self.saved {
            return true;
        }
        self.left -= 1;
        if self.left == 0 {
            self.span *= 2;
            (self.saved, self.left) = (state, self.span);
        }
        false
    }
}

/// What a look at two features says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The first hull, or the second, goes on with another feature.
    To(usize, Feature),
    /// Both do.
    Both([Feature; 2]),
    /// They are the closest, this far apart.
    Apart(f64),
    /// The hulls meet.
    Touching,
}

/// Walks from the features of the last frame until a look at two of them tells the answer.
pub(super) fn walk(
    pair: &Pair<'_>,
    memory: &mut Memory,
    work: &mut Work,
    look: impl Fn(&[View<'_>; 2], [Feature; 2]) -> Step,
) -> Answer {
    let touch = TOUCH * pair.size();
    let views = View::both(pair);
    let mut state = memory.features;
    let mut watch = Watch::new(state);
    loop {
        work.steps += 1;
        match look(&views, state) {
            Step::To(side, feature) => state[side] = feature,
            Step::Both(features) => state = features,
            Step::Apart(distance) => {
                memory.features = state;
                return match distance <= touch {
                    true => Answer::Touching,
                    false => Answer::Apart(Some(distance)),
                };
            }
            Step::Touching => {
                memory.features = state;
                return Answer::Touching;
            }
        }
        if watch.came_back(state) {
            memory.features = state;
            return Answer::Endless;
        }
    }
}
