//! EPA: penetration depth by growing a polytope inside the Minkowski difference.
//!
//! The origin lies inside the difference `a - b`; the shortest way out is the depth. EPA (van den
//! Bergen, *Proximity Queries and Penetration Depth Computation on 3D Game Objects*) starts from a
//! tetrahedron of corners around the origin, takes the face nearest to it, asks for the corner
//! furthest along that face's normal, and replaces all faces which that corner sees by a cone.
//! The nearest face bounds the depth from below (the polytope is inside the difference), the support
//! plane along any tried normal bounds it from above (moving that far separates), and the run ends
//! when both meet.
//!
//! Degenerate starts are the rule in practice (kissing vertices, aligned boxes), so:
//!
//! 1. Any simplex will do, a single corner too: it is grown along directions across itself. If the
//!    difference has no thickness across the simplex, the depth is that of the flat direction.
//! 2. The origin may lie on a face, an edge or a corner, or slightly outside: distances are signed.
//! 3. A face that contains the new corner in its plane counts as seen, so coplanar fans are
//!    re-triangulated and no face without area grows over collinear corners. Faces without area that
//!    rounding still makes are never chosen.
//! 4. A horizon that is no closed loop (rounding again) ends the run with the bounds reached.
//!
//! Cost: one support search per corner, and a pass over some blocks of faces to find the nearest one:
//! most polytopes are a single block, where a heap does not pay. Polyhedra need ten to thirty corners,
//! nearly round ones in each other's middle thousands, smooth shapes up to the limit. Choose it for depth of anything but spheres, capsules and boxes,
//! which have closed forms. It is exact for polyhedra; `sat` is slower beyond a few dozen edges.
//!
//! Tried and lost: stopping polyhedra at 192 corners and asking SAT then; concentric spheres of 642
//! vertices took some fifty times as long that way as letting EPA grow.

use super::gjk::{Difference, End};
use super::simplex::{Corner, Simplex, on_triangle};
use glam::DVec3;

/// How far a run goes, in lengths of the scene.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The run ends when the bounds are this close.
    pub gap: f64,
    /// A depth up to this is mere touch: while the bounds lie on both sides of it, the run goes on.
    pub touch: f64,
    /// Thickness under which the difference counts as flat.
    pub flat: f64,
    /// Height under which a corner counts as lying in a face's plane.
    pub coplanar: f64,
    /// Most corners of the polytope.
    pub corners: usize,
}

/// What a run found.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Unit direction of the shortest way out: moving b along it by the depth separates.
    pub normal: DVec3,
    /// Certified upper bound of the depth: moving by this along the normal separates.
    pub upper: f64,
    /// Certified lower bound of the depth, up to rounding.
    pub lower: f64,
    /// The point of a at the foot of the shortest way.
    pub on_a: DVec3,
    /// Why it ended; never `Overlap` or `CutOff`.
    pub end: End,
}

/// What growing found: the outcome without its point.
struct Bounds {
    normal: DVec3,
    upper: f64,
    lower: f64,
    /// The face the normal came from. It may have been covered since.
    corners: [u16; 3],
    /// The nearest face at the end.
    nearest: usize,
    end: End,
}

impl Bounds {
    /// The gap at which the run may end: less while the bounds leave open whether it is mere touch.
    fn gap(&self, limits: &Limits) -> f64 {
        let undecided = self.lower <= limits.touch && limits.touch < self.upper;
        if undecided { limits.gap.min(0.5 * limits.touch) } else { limits.gap }
    }
}

#[derive(Clone, Copy, Debug)]
struct Face {
    normal: DVec3,
    corners: [u16; 3],
    /// Neighbour across the edge from corner `i` to corner `i + 1`.
    neighbours: [u16; 3],
    alive: bool,
}

#[derive(Clone, Copy, Debug)]
struct HorizonEdge {
    from: u16,
    to: u16,
    /// The face that stays, on the far side.
    outer: u16,
}

/// Faces in a block.
const BLOCK: usize = 64;

/// The nearest face of a block, unless the block has changed since.
#[derive(Clone, Copy, Debug)]
struct Block {
    least: f64,
    face: usize,
    changed: bool,
}

impl Block {
    const CHANGED: Block = Block { least: f64::INFINITY, face: 0, changed: true };

    fn of(distances: &[f64], start: usize) -> Block {
        let mut block = Block { changed: false, ..Block::CHANGED };
        for (index, &distance) in distances.iter().enumerate() {
            if distance < block.least {
                (block.least, block.face) = (distance, start + index);
            }
        }
        block
    }
}

/// The polytope and its scratch memory, to be kept between runs.
#[derive(Debug, Default)]
pub struct Polytope {
    corners: Vec<Corner>,
    faces: Vec<Face>,
    /// Signed distance of each face's plane; infinite for dead faces and faces without area.
    distances: Vec<f64>,
    /// The least distance of every block of faces.
    blocks: Vec<Block>,
    horizon: Vec<HorizonEdge>,
    stack: Vec<(u16, u8)>,
    /// Places of dead faces, to be used again.
    free: Vec<u16>,
    /// Places of the cone that is being made.
    cone: Vec<u16>,
    /// New numbers of faces and corners while saving.
    renumbered: Vec<u8>,
}

/// A polytope between two frames: vertices of both shapes for each corner, and for each face its
/// corners and its neighbours. Some four hundred bytes for a usual one.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    corners: Vec<[u32; 2]>,
    faces: Vec<[u8; 6]>,
}

impl Shell {
    /// Larger polytopes are cheaper to grow anew than to place.
    const MOST_FACES: usize = 120;

    /// Nothing remembered.
    pub const fn new() -> Shell {
        Shell { corners: Vec::new(), faces: Vec::new() }
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.faces.is_empty()
    }

    /// Forgets the polytope but keeps the memory.
    pub fn clear(&mut self) {
        self.corners.clear();
        self.faces.clear();
    }
}

/// Squared sine under which a new face has no area.
const NO_AREA: f64 = 1e-26;

impl Polytope {
    /// Finds the depth of the origin in the difference, starting from any simplex of it that
    /// contains the origin or comes close.
    pub fn run(
        &mut self,
        difference: &mut impl Difference,
        start: &Simplex,
        limits: &Limits,
    ) -> Outcome {
        if let Some(flat) = self.seed(difference, start, limits) {
            return flat;
        }
        let bounds = self.grow(difference, limits);
        self.outcome(&bounds, limits.gap)
    }

    /// As [`Polytope::run`], from the polytope of the last frame with its corners placed anew.
    /// `None` if it no longer holds the origin, or ceases to.
    ///
    /// The old polytope need not be convex any more, and the bounds need it not: all its faces look
    /// away from the origin, so that it winds round it, and all its points belong to the difference.
    /// Then the ball up to the nearest face is inside the difference, which is convex.
    pub fn resume(
        &mut self,
        difference: &mut impl Difference,
        shell: &Shell,
        place: impl Fn([u32; 2]) -> Option<Corner>,
        limits: &Limits,
    ) -> Option<Outcome> {
        self.clear();
        for &ids in &shell.corners {
            self.corners.push(place(ids)?);
        }
        for face in &shell.faces {
            let [p, q, r, neighbours @ ..] = face.map(u16::from);
            let made = usize::from(self.place_face([p, q, r]));
            self.faces[made].neighbours = neighbours;
            let holds_origin = self.distances[made] > limits.flat;
            if !holds_origin {
                return None;
            }
        }
        let bounds = self.grow(difference, limits);
        let sound = bounds.end == End::Converged && bounds.lower > 0.0;
        sound.then(|| self.outcome(&bounds, limits.gap))
    }

    /// Remembers the polytope for the next frame; forgets it when it has grown large.
    pub fn save(&mut self, shell: &mut Shell) {
        shell.clear();
        self.renumbered.clear();
        self.renumbered.resize(self.faces.len() + self.corners.len(), u8::MAX);
        let (new_faces, new_corners) = self.renumbered.split_at_mut(self.faces.len());
        let alive = |face: &&Face| face.alive;
        if self.faces.iter().filter(alive).count() > Shell::MOST_FACES {
            return;
        }
        let living = self.faces.iter().enumerate().filter(|(_, face)| face.alive);
        for (new, (old, _)) in living.enumerate() {
            new_faces[old] = new as u8;
        }
        for face in self.faces.iter().filter(alive) {
            let mut saved = [0; 6];
            for (slot, corner) in face.corners.map(usize::from).into_iter().enumerate() {
                if new_corners[corner] == u8::MAX {
                    new_corners[corner] = shell.corners.len() as u8;
                    shell.corners.push(self.corners[corner].ids);
                }
                saved[slot] = new_corners[corner];
                saved[slot + 3] = new_faces[usize::from(face.neighbours[slot])];
            }
            shell.faces.push(saved);
        }
    }

    fn clear(&mut self) {
        self.corners.clear();
        self.faces.clear();
        self.distances.clear();
        self.blocks.clear();
        self.free.clear();
    }

    fn outcome(&self, bounds: &Bounds, gap: f64) -> Outcome {
        let &Bounds { normal, upper, lower, end, .. } = bounds;
        let mut face = Simplex::default();
        for corner in self.foot(bounds, gap) {
            face.push(self.corners[usize::from(corner)]);
        }
        Outcome { normal, upper, lower, on_a: face.witnesses().0, end }
    }

    /// The face that holds the foot of the shortest way. A facet may be cut into several faces in
    /// one plane, all equally near; only one of them holds it. Opposite facets may be equally near
    /// too, so that only faces along the normal count.
    fn foot(&self, bounds: &Bounds, gap: f64) -> [u16; 3] {
        let along = |face: &Face| face.alive && face.normal.dot(bounds.normal) > 0.9;
        let way = |corners: [u16; 3]| {
            let [p, q, r] = corners.map(|corner| self.corners[usize::from(corner)].point);
            let (nearest, mask) = on_triangle(p, q, r);
            (nearest.length(), mask)
        };
        let last = &self.faces[bounds.nearest];
        if along(last) && way(last.corners).1 == 0b111 {
            return last.corners;
        }
        // The recorded face may lie inside the grown polytope: it stands in only if there is no other.
        let mut best = (f64::INFINITY, bounds.corners);
        for (face, &distance) in self.faces.iter().zip(&self.distances) {
            if distance <= bounds.upper + gap && along(face) {
                let length = way(face.corners).0;
                if length < best.0 {
                    best = (length, face.corners);
                }
            }
        }
        best.1
    }

    fn grow(&mut self, difference: &mut impl Difference, limits: &Limits) -> Bounds {
        let mut best = Bounds {
            normal: DVec3::X,
            upper: f64::INFINITY,
            lower: f64::NEG_INFINITY,
            corners: [0; 3],
            nearest: 0,
            end: End::StepLimit,
        };
        loop {
            let Some(nearest) = self.nearest_face() else {
                best.end = End::Stalled;
                return best;
            };
            best.nearest = nearest;
            let Face { normal, corners, .. } = self.faces[nearest];
            let corner = difference.support(normal);
            let height = corner.point.dot(normal);
            if height < best.upper {
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
            if !self.add(corner, nearest, limits) {
                best.end = End::Stalled;
                return best;
            }
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
    fn add(&mut self, corner: Corner, first: usize, limits: &Limits) -> bool {
        self.find_horizon(corner.point, first, limits.coplanar);
        let count = self.horizon.len();
        let closed = count >= 3
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
            self.faces[usize::from(self.cone[index])].neighbours = [outer, next, previous];
            let outer = &mut self.faces[usize::from(outer)];
            let edge = outer.corners.iter().position(|&c| c == to).unwrap_or(0);
            outer.neighbours[edge] = self.cone[index];
        }
        true
    }

    /// Walks the faces that see the point, depth first in edge order, so that the edges of the
    /// horizon come out as a loop.
    fn find_horizon(&mut self, point: DVec3, first: usize, coplanar: f64) {
        self.horizon.clear();
        self.stack.clear();
        self.kill(first);
        for edge in (0..3).rev() {
            self.stack.push((first as u16, edge));
        }
        while let Some((from_face, edge)) = self.stack.pop() {
            let face = self.faces[usize::from(from_face)];
            let across = face.neighbours[usize::from(edge)];
            let neighbour = self.faces[usize::from(across)];
            if !neighbour.alive {
                continue;
            }
            let from = face.corners[usize::from(edge)];
            let to = face.corners[(usize::from(edge) + 1) % 3];
            let anchor = self.corners[usize::from(neighbour.corners[0])].point;
            if neighbour.normal.dot(point - anchor) > -coplanar {
                self.kill(usize::from(across));
                let entry = neighbour.corners.iter().position(|&c| c == to).unwrap_or(0);
                self.stack.push((across, ((entry + 2) % 3) as u8));
                self.stack.push((across, ((entry + 1) % 3) as u8));
            } else {
                self.horizon.push(HorizonEdge { from, to, outer: across });
            }
        }
    }

    fn kill(&mut self, face: usize) {
        self.faces[face].alive = false;
        self.distances[face] = f64::INFINITY;
        self.blocks[face / BLOCK].changed = true;
        self.free.push(face as u16);
    }

    /// Makes a face, in a dead one's place if there is one; its neighbours are set later.
    fn place_face(&mut self, corners: [u16; 3]) -> u16 {
        let [p, q, r] = corners.map(|corner| self.corners[usize::from(corner)].point);
        let (first, second) = (q - p, r - p);
        let cross = first.cross(second);
        let area = cross.length_squared();
        let flat = area <= NO_AREA * first.length_squared() * second.length_squared();
        let normal = if flat { DVec3::ZERO } else { cross / area.sqrt() };
        let distance = if flat { f64::INFINITY } else { normal.dot(p) };
        let face = Face { normal, corners, neighbours: [0; 3], alive: true };
        if let Some(place) = self.free.pop() {
            self.faces[usize::from(place)] = face;
            self.distances[usize::from(place)] = distance;
            self.blocks[usize::from(place) / BLOCK].changed = true;
            return place;
        }
        self.faces.push(face);
        self.distances.push(distance);
        self.blocks.resize(self.faces.len().div_ceil(BLOCK), Block::CHANGED);
        self.blocks[(self.faces.len() - 1) / BLOCK].changed = true;
        (self.faces.len() - 1) as u16
    }

    /// Builds the first tetrahedron, or answers at once for a flat difference.
    fn seed(
        &mut self,
        difference: &mut impl Difference,
        start: &Simplex,
        limits: &Limits,
    ) -> Option<Outcome> {
        self.clear();
        self.corners.extend_from_slice(start.corners());
        self.drop_flat_corners(limits.flat);
        if self.corners.is_empty() {
            self.corners.push(difference.support(DVec3::X));
        }
        while self.corners.len() < 4 {
            let grown = self.thicken(difference, limits.flat);
            if let Err(normal) = grown {
                return Some(self.flat_outcome(difference, normal));
            }
        }
        self.seed_faces();
        None
    }

    /// Removes corners that add no length, area or volume to those before them.
    fn drop_flat_corners(&mut self, flat: f64) {
        let candidates = std::mem::take(&mut self.corners);
        for &corner in &candidates {
            if self.corners.is_empty() || self.height(corner.point) > flat {
                self.corners.push(corner);
            }
        }
    }

    /// Distance of a point from the point, line or plane through the corners.
    fn height(&self, point: DVec3) -> f64 {
        let to = |index: usize| self.corners[index].point - self.corners[0].point;
        let offset = point - self.corners[0].point;
        match self.corners.len() {
            1 => offset.length(),
            2 => offset.cross(to(1).normalize_or_zero()).length(),
            3 => offset.dot(to(1).cross(to(2)).normalize_or_zero()).abs(),
            _ => 0.0,
        }
    }

    /// Adds the highest of the supports across the corners, or names a direction without thickness.
    fn thicken(&mut self, difference: &mut impl Difference, flat: f64) -> Result<(), DVec3> {
        let directions = self.directions_across();
        let mut best: Option<(f64, Corner)> = None;
        for direction in directions.iter().flat_map(|&d| [d, -d]) {
            let corner = difference.support(direction);
            let height = self.height(corner.point);
            if height > flat && best.is_none_or(|(other, _)| height > other) {
                best = Some((height, corner));
            }
        }
        let (_, corner) = best.ok_or(directions[0])?;
        self.corners.push(corner);
        Ok(())
    }

    /// Unit directions that span what the corners do not.
    fn directions_across(&self) -> [DVec3; 3] {
        let to = |index: usize| self.corners[index].point - self.corners[0].point;
        match self.corners.len() {
            1 => [DVec3::X, DVec3::Y, DVec3::Z],
            2 => {
                let line = to(1).normalize_or(DVec3::X);
                let side = line.any_orthonormal_vector();
                [side, line.cross(side), side]
            }
            _ => [to(1).cross(to(2)).normalize_or(DVec3::X); 3],
        }
    }

    fn flat_outcome(&self, difference: &mut impl Difference, normal: DVec3) -> Outcome {
        let there = difference.support(normal).point.dot(normal);
        let back = difference.support(-normal).point.dot(-normal);
        let (normal, upper) = if there <= back { (normal, there) } else { (-normal, back) };
        let mut face = Simplex::default();
        for &corner in &self.corners {
            face.push(corner);
        }
        let on_a = face.witnesses().0;
        Outcome { normal, upper, lower: upper.min(0.0), on_a, end: End::Converged }
    }

    fn seed_faces(&mut self) {
        let [p, q, r, s] = [0, 1, 2, 3].map(|index| self.corners[index].point);
        if (q - p).cross(r - p).dot(s - p) > 0.0 {
            self.corners.swap(0, 1);
        }
        // Now corner 3 is behind the face 0, 1, 2.
        const FACES: [[u16; 3]; 4] = [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]];
        const NEIGHBOURS: [[u16; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        for (corners, neighbours) in FACES.into_iter().zip(NEIGHBOURS) {
            let place = self.place_face(corners);
            self.faces[usize::from(place)].neighbours = neighbours;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cube of half size one about a center, as a difference.
    struct Cube(DVec3);

    impl Difference for Cube {
        fn support(&mut self, direction: DVec3) -> Corner {
            let side = |value: f64| if value < 0.0 { -1.0 } else { 1.0 };
            let corner =
                DVec3::new(side(direction.x), side(direction.y), side(direction.z)) + self.0;
            Corner { point: corner, on_a: corner, ids: [0; 2] }
        }
    }

    /// A disc of radius one across z, without thickness.
    struct Disc;

    impl Difference for Disc {
        fn support(&mut self, direction: DVec3) -> Corner {
            let point = DVec3::new(direction.x, direction.y, 0.0).normalize_or(DVec3::X);
            Corner { point, on_a: point, ids: [0; 2] }
        }
    }

    const LIMITS: Limits =
        Limits { gap: 1e-12, touch: 1e-10, flat: 1e-12, coplanar: 1e-14, corners: 100 };

    fn simplex_of(points: &[DVec3]) -> Simplex {
        let mut simplex = Simplex::default();
        for &point in points {
            simplex.push(Corner { point, on_a: point, ids: [0; 2] });
        }
        simplex
    }

    /// Starts that hold the origin in a corner, an edge, a face, or inside.
    #[test]
    fn every_degenerate_start_finds_the_depth() {
        let corners = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(-1.0, -1.0, -1.0),
            DVec3::new(1.0, -1.0, 1.0),
            DVec3::new(-1.0, 1.0, 1.0),
        ];
        for center in [DVec3::ZERO, DVec3::new(0.25, -0.5, 0.125), DVec3::new(0.0, 1.0, 0.0)] {
            let expected = (DVec3::ONE - center.abs()).min_element();
            for count in 0..=4 {
                let start: Vec<DVec3> = corners[..count].iter().map(|c| *c + center).collect();
                let found =
                    Polytope::default().run(&mut Cube(center), &simplex_of(&start), &LIMITS);
                assert_eq!(found.end, End::Converged, "{center} {count}");
                assert!((found.upper - expected).abs() < 1e-12, "{center} {count} {found:?}");
                assert!((found.lower - expected).abs() < 1e-12, "{center} {count} {found:?}");
            }
        }
    }

    #[test]
    fn a_flat_difference_has_no_depth_across_itself() {
        let found = Polytope::default().run(&mut Disc, &Simplex::default(), &LIMITS);
        assert_eq!((found.upper, found.end), (0.0, End::Converged));
        assert!((found.normal.z.abs() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_corner_limit_ends_a_run_with_honest_bounds() {
        struct Ball;
        impl Difference for Ball {
            fn support(&mut self, direction: DVec3) -> Corner {
                let point = direction.normalize_or(DVec3::X);
                Corner { point, on_a: point, ids: [0; 2] }
            }
        }
        let found = Polytope::default().run(&mut Ball, &Simplex::default(), &LIMITS);
        assert_eq!(found.end, End::StepLimit);
        assert!(found.lower < 1.0 && found.upper >= 1.0 - 1e-12 && found.lower > 0.9, "{found:?}");
    }
}
