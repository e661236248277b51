//! Hill climbing on a mesh as it comes, and Ericson's artificial neighbours.
//!
//! The library's hulls have no vertex within a face, so that a climb which moves only upward ends
//! at the top. A triangulated surface may have some: all neighbours of such a vertex lie in one
//! plane with it, and for a direction across that plane none is higher, wherever the top is. The
//! thesis (section 6.2.1, figure 9) describes what is done about it:
//!
//! - [`Rule::Level`] also moves to a neighbour that is as high, and may run in a circle;
//! - [`Rule::NoReturn`] does so but visits no vertex twice, and may close itself in;
//! - an *artificial* neighbour out of the plane ([`Surface::lift_flat`]) lets [`Rule::Rise`] leave:
//!   a direction across the plane either points away from all of the mesh, or has it higher.
//!
//! Artificial neighbours on the far side of every vertex ([`Surface::join_far`]) also shorten the
//! way, at the cost of one more product at each vertex on it. A climb looks at the neighbours of
//! each vertex on its way, some √n of them.
//!
//! Products are compared as computed. On planes that are not along the axes rounding makes some
//! neighbours higher than others by noise, and the answer is the top up to that noise.

use glam::DVec3;
use jostle::shape::Hull;
use jostle_scenes::Rng;

/// When a climb goes on to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// If it is higher.
    Rise,
    /// If it is at least as high.
    Level,
    /// If it is at least as high and was not visited.
    NoReturn,
}

/// How a climb ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Climb {
    pub vertex: u32,
    /// Vertices it looked at.
    pub looked: usize,
    /// It would run in a circle for ever.
    pub endless: bool,
}

/// A convex surface: vertices, and those that each is joined to.
#[derive(Clone, Debug)]
pub(crate) struct Surface {
    pub vertices: Vec<DVec3>,
    neighbours: Vec<Vec<u32>>,
}

impl Surface {
    /// The surface of a hull.
    pub(crate) fn of_hull(hull: &Hull) -> Surface {
        let vertices = hull.vertices().to_vec();
        let count = vertices.len() as u32;
        let neighbours = (0..count).map(|vertex| hull.neighbours(vertex).to_vec()).collect();
        Surface { vertices, neighbours }
    }

    /// A cube about the origin, each face of which is cut into `cuts` times `cuts` squares and
    /// those into two triangles.
    pub(crate) fn tessellated_cube(cuts: usize) -> Surface {
        let mut surface = Surface { vertices: Vec::new(), neighbours: Vec::new() };
        let side = cuts + 1;
        let mut number = vec![u32::MAX; side * side * side];
        let at = |p: [usize; 3]| (p[0] * side + p[1]) * side + p[2];
        let points = (0..side * side * side)
            .map(|n| [n / (side * side), n / side % side, n % side])
            .filter(|p| p.iter().any(|&x| x == 0 || x == cuts));
        for point in points {
            number[at(point)] = surface.vertices.len() as u32;
            let place = point.map(|x| 2.0 * x as f64 / cuts as f64 - 1.0);
            surface.vertices.push(DVec3::from_array(place));
            surface.neighbours.push(Vec::new());
        }
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for (level, i, j) in [0, cuts]
                .into_iter()
                .flat_map(|level| (0..cuts * cuts).map(move |n| (level, n / cuts, n % cuts)))
            {
                let corner = |di: usize, dj: usize| {
                    let mut point = [0; 3];
                    (point[axis], point[u], point[v]) = (level, i + di, j + dj);
                    number[at(point)]
                };
                let square = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                for (one, other) in [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)] {
                    surface.join(square[one], square[other]);
                    surface.join(square[other], square[one]);
                }
            }
        }
        surface
    }

    fn join(&mut self, from: u32, to: u32) {
        let list = &mut self.neighbours[from as usize];
        if !list.contains(&to) {
            list.push(to);
        }
    }

    /// Lists the neighbours of every vertex in random order.
    pub(crate) fn shuffle(&mut self, rng: &mut Rng) {
        for list in &mut self.neighbours {
            for place in (1..list.len()).rev() {
                list.swap(place, rng.below(place + 1));
            }
        }
    }

    /// Gives every vertex whose neighbours lie in one plane with it the vertex that is furthest
    /// from that plane. Returns how many there are.
    pub(crate) fn lift_flat(&mut self) -> usize {
        let normals: Vec<Option<DVec3>> =
            (0..self.vertices.len()).map(|vertex| self.flat_normal(vertex)).collect();
        let mut lifted = 0;
        for (vertex, normal) in normals.into_iter().enumerate() {
            let Some(normal) = normal else { continue };
            let height =
                |other: usize| (self.vertices[other] - self.vertices[vertex]).dot(normal).abs();
            let best = (0..self.vertices.len())
                .max_by(|&i, &j| height(i).total_cmp(&height(j)).then(j.cmp(&i)));
            if let Some(best) = best {
                self.join(vertex as u32, best as u32);
                lifted += 1;
            }
        }
        lifted
    }

    /// The normal of the plane in which all neighbours of a vertex lie.
    fn flat_normal(&self, vertex: usize) -> Option<DVec3> {
        let here = self.vertices[vertex];
        let ways: Vec<DVec3> = self.neighbours[vertex]
            .iter()
            .map(|&other| (self.vertices[other as usize] - here).normalize_or_zero())
            .collect();
        let first = *ways.first()?;
        let normal = ways.iter().map(|way| first.cross(*way)).fold(DVec3::ZERO, |best, one| {
            if one.length_squared() > best.length_squared() { one } else { best }
        });
        let normal = normal.normalize_or_zero();
        ways.iter().all(|way| way.dot(normal).abs() < 1e-9).then_some(normal)
    }

    /// Gives every vertex the one that is furthest against its own direction from the middle.
    pub(crate) fn join_far(&mut self) {
        let middle = self.vertices.iter().sum::<DVec3>() / self.vertices.len() as f64;
        let mut near = 0;
        for vertex in 0..self.vertices.len() {
            let direction = middle - self.vertices[vertex];
            near = self.climb(direction, near, Rule::Rise).vertex;
            self.join(vertex as u32, near);
        }
    }

    /// Climbs from a vertex.
    pub(crate) fn climb(&self, direction: DVec3, start: u32, rule: Rule) -> Climb {
        let height = |vertex: u32| self.vertices[vertex as usize].dot(direction);
        let (mut here, mut before) = (start, u32::MAX);
        let mut visited: Vec<u32> = Vec::new();
        let mut climb = Climb { vertex: start, looked: 0, endless: false };
        let mut level_steps = 0;
        loop {
            climb.vertex = here;
            let allowed = |other: &&u32| rule != Rule::NoReturn || !visited.contains(other);
            let mut best: Option<(u32, f64)> = None;
            for &other in self.neighbours[here as usize].iter().filter(allowed) {
                let there = height(other);
                climb.looked += 1;
                if best.is_none_or(|best| there > best.1) {
                    best = Some((other, there));
                }
            }
            let Some((next, there)) = best else { return climb };
            let now = height(here);
            if there < now || (rule == Rule::Rise && there == now) {
                return climb;
            }
            level_steps = if there == now { level_steps + 1 } else { 0 };
            // Where to go on depends on the vertex alone, so one that comes back comes for ever.
            if rule == Rule::Level && (next == before || level_steps > self.vertices.len()) {
                climb.endless = true;
                return climb;
            }
            if rule == Rule::NoReturn {
                visited.push(here);
            }
            (before, here) = (here, next);
        }
    }

    /// How much higher the top is than a vertex.
    pub(crate) fn shortfall(&self, direction: DVec3, vertex: u32) -> f64 {
        let heights = self.vertices.iter().map(|point| point.dot(direction));
        heights.fold(f64::NEG_INFINITY, f64::max) - self.vertices[vertex as usize].dot(direction)
    }

    /// Joined vertices on average.
    #[cfg(test)]
    pub(crate) fn mean_degree(&self) -> f64 {
        let sum: usize = self.neighbours.iter().map(Vec::len).sum();
        sum as f64 / self.vertices.len() as f64
    }
}
