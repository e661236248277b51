//! [`WindingTree`]: inside or outside, without asking every triangle.
//!
//! The winding number of a point is the sum of the solid angles of all triangles over the whole
//! sphere. Seen from afar a cluster of triangles looks like one small face with the sum of their
//! area vectors `N` in their middle `p` (Barill and others, *Fast winding numbers for soups and
//! clouds*): it contributes `N·v / 4π|v|³` with `v = p - q`. What that leaves out is certified
//! here: the field `v / 4π|v|³` changes by at most `1 / 2π|v|³` per unit of length, so that
//! triangles of area `A` within `r` of the middle give an error of at most `A r / 2π(|v| - r)³`.
//!
//! ```text
//! for tolerance in 1e-2, 1e-3, 1e-4
//!     sum clusters whose error is below the tolerance, descend into the others
//!     if |sum| is further from a half than the sum of the errors: that is the answer
//! sum all triangles
//! ```
//!
//! So the answer is that of the full sum for every point. Closed meshes are decided by what a ray
//! crosses where that is possible (`crossings.rs`), which is faster and exact. A node is 80 bytes
//! for about eight triangles; the tree is built when the first point is asked about, and follows
//! moved vertices.
//!
//! The next term of the expansion is left out: by its bound it would accept clusters at four times
//! their radius instead of five, for nine numbers more a node.

use super::Mesh;
use super::crossings::has_no_border;
use glam::DVec3;
use std::f64::consts::TAU;

/// Meshes of fewer triangles are summed as they are.
const FEW: usize = 64;

/// Most triangles of a leaf.
const LEAF: usize = 8;

/// Errors up to which clusters are taken whole, pass by pass.
const TOLERANCES: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// More than all roundings of a sum of a billion angles in `[-1, 1]`.
const ROUNDING: f64 = 1e-6;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct WindingTree {
    /// Parents before their children, which follow at once.
    nodes: Vec<Cluster>,
    /// The triangles in the order of the leaves.
    order: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Cluster {
    /// The mean of the triangles' middles, by their areas.
    middle: DVec3,
    /// All corners are this near.
    radius: f64,
    /// The sum of the area vectors.
    normal: DVec3,
    /// The sum of the areas.
    area: f64,
    /// The node after the last one below this.
    next: u32,
    first: u32,
    /// Number of triangles; zero for inner nodes.
    count: u32,
}

impl Mesh {
    /// How often the surface winds around a point. It has no meaning on the surface itself.
    #[must_use]
    pub fn winding_number(&self, point: DVec3) -> f64 {
        full_sum(Soup::of(self), point)
    }

    /// Returns true if the winding number of a point is more than a half in size.
    pub(crate) fn encloses(&self, point: DVec3) -> bool {
        let outside = (0..3).any(|k| point[k] < self.min[k] || point[k] > self.max[k]);
        if outside {
            return false;
        }
        if self.triangles.len() < FEW {
            return self.winding_number(point).abs() > 0.5;
        }
        if *self.closed.get_or_init(|| has_no_border(&self.triangles))
            && let Some(number) = self.crossings(point)
        {
            return number != 0;
        }
        let soup = Soup::of(self);
        self.winding.get_or_init(|| WindingTree::new(soup)).encloses(point, soup)
    }

    /// Lets the tree follow vertices that have moved.
    pub(super) fn move_winding(&mut self) {
        let Some(mut tree) = self.winding.take() else { return };
        tree.refit(Soup::of(self));
        let _ = self.winding.set(tree);
    }
}

/// What a mesh is made of.
#[derive(Clone, Copy)]
struct Soup<'a> {
    vertices: &'a [DVec3],
    triangles: &'a [[u32; 3]],
}

impl<'a> Soup<'a> {
    fn of(mesh: &'a Mesh) -> Soup<'a> {
        Soup { vertices: &mesh.vertices, triangles: &mesh.triangles }
    }

    #[inline(always)]
    fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.vertices[vertex as usize])
    }
}

impl WindingTree {
    fn new(soup: Soup<'_>) -> WindingTree {
        let triangles = soup.triangles.len();
        let middles: Vec<DVec3> = (0..triangles as u32)
            .map(|triangle| {
                let [a, b, c] = soup.corners(triangle);
                a / 3.0 + b / 3.0 + c / 3.0
            })
            .collect();
        let order = (0..triangles as u32).collect();
        let mut tree = WindingTree { nodes: Vec::new(), order };
        tree.split(&middles, 0, triangles);
        tree.refit(soup);
        tree
    }

    fn split(&mut self, middles: &[DVec3], first: usize, end: usize) {
        let at = self.nodes.len();
        let mut node = Cluster {
            middle: DVec3::ZERO,
            radius: 0.0,
            normal: DVec3::ZERO,
            area: 0.0,
            next: 0,
            first: first as u32,
            count: (end - first) as u32,
        };
        if end - first > LEAF {
            node.count = 0;
        }
        self.nodes.push(node);
        if node.count == 0 {
            let own = &mut self.order[first..end];
            let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
            for &triangle in own.iter() {
                low = low.min(middles[triangle as usize]);
                high = high.max(middles[triangle as usize]);
            }
            let axis = (high - low).max_position();
            let key = |triangle: u32| middles[triangle as usize][axis];
            let half = own.len() / 2;
            own.select_nth_unstable_by(half, |&one, &other| {
                key(one).total_cmp(&key(other)).then(one.cmp(&other))
            });
            self.split(middles, first, first + half);
            self.split(middles, first + half, end);
        }
        self.nodes[at].next = self.nodes.len() as u32;
    }

    /// Sums and radii for triangles that have moved.
    fn refit(&mut self, soup: Soup<'_>) {
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            let (mut normal, mut area, mut moment) = (DVec3::ZERO, 0.0, DVec3::ZERO);
            let mut add = |vector: DVec3, size: f64, middle: DVec3| {
                normal += vector;
                area += size;
                moment += middle * size;
            };
            let own = &self.order[node.first as usize..(node.first + node.count) as usize];
            let children = [at + 1, self.nodes.get(at + 1).map_or(0, |node| node.next as usize)];
            if node.count > 0 {
                for &triangle in own {
                    let [a, b, c] = soup.corners(triangle);
                    let vector = 0.5 * (b - a).cross(c - a);
                    add(vector, vector.length(), a / 3.0 + b / 3.0 + c / 3.0);
                }
            } else {
                for child in children.map(|child| &self.nodes[child]) {
                    add(child.normal, child.area, child.middle);
                }
            }
            // Without area any place will do: there is nothing to see from afar.
            let middle = if area > 0.0 {
                moment / area
            } else if node.count > 0 {
                soup.corners(own[0])[0]
            } else {
                self.nodes[at + 1].middle
            };
            let radius = if node.count > 0 {
                let all = own.iter().flat_map(|&triangle| soup.corners(triangle));
                all.map(|corner| corner.distance(middle)).fold(0.0, f64::max)
            } else {
                let reach = |child: &Cluster| child.middle.distance(middle) + child.radius;
                children.map(|child| reach(&self.nodes[child])).into_iter().fold(0.0, f64::max)
            };
            let radius = radius * (1.0 + 1e-12);
            self.nodes[at] = Cluster { middle, radius, normal, area, ..node };
        }
    }

    /// Returns true if the winding number is more than a half in size.
    fn encloses(&self, point: DVec3, soup: Soup<'_>) -> bool {
        for tolerance in TOLERANCES {
            let (sum, error) = self.sum(point, tolerance, soup);
            // False if anything is no number.
            if (sum.abs() - 0.5).abs() > error + ROUNDING {
                return sum.abs() > 0.5;
            }
        }
        full_sum(soup, point).abs() > 0.5
    }

    /// The winding number up to an error, which comes second.
    fn sum(&self, point: DVec3, tolerance: f64, soup: Soup<'_>) -> (f64, f64) {
        let (mut angle, mut far, mut error, mut at) = (0.0, 0.0, 0.0, 0);
        while let Some(node) = self.nodes.get(at) {
            let v = node.middle - point;
            let distance = v.length();
            let room = distance - node.radius;
            let wrong = node.area * node.radius / (TAU * room * room * room);
            if room > 0.0 && wrong <= tolerance {
                error += wrong;
                far += node.normal.dot(v) / (2.0 * TAU * distance * distance * distance);
                at = node.next as usize;
            } else {
                let own = &self.order[node.first as usize..(node.first + node.count) as usize];
                for &triangle in own {
                    angle += half_angle(&soup.corners(triangle), point);
                }
                at += 1;
            }
        }
        (angle / TAU + far, error)
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Cluster>() + self.order.capacity() * 4
    }
}

/// The winding number, triangle by triangle.
fn full_sum(soup: Soup<'_>, point: DVec3) -> f64 {
    let triangles = 0..soup.triangles.len() as u32;
    let angles = triangles.map(|triangle| half_angle(&soup.corners(triangle), point));
    angles.sum::<f64>() / TAU
}

/// Half the solid angle of a triangle (Van Oosterom and Strackee).
#[inline]
fn half_angle(corners: &[DVec3; 3], point: DVec3) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - point);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let volume = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    arc_tangent(volume, below)
}

/// The angle of a direction, within a few units of rounding of `atan2` and the same bits on every
/// machine, which the libraries of systems do not promise.
fn arc_tangent(y: f64, x: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, PI};
    let (up, across) = (y.abs(), x.abs());
    let (low, high) = (up.min(across), up.max(across));
    if high == 0.0 {
        return 0.0;
    }
    // Two halvings bring the angle from an eighth of a turn to a thirty-second, where the series
    // is short.
    let halved = |t: f64| t / (1.0 + (1.0 + t * t).sqrt());
    let t = halved(halved(low / high));
    let square = t * t;
    let series = (0..=11).rev().fold(0.0, |sum, k| 1.0 / f64::from(2 * k + 1) - square * sum);
    let small = 4.0 * t * series;
    let first = if up > across { FRAC_PI_2 - small } else { small };
    let angle = if x < 0.0 { PI - first } else { first };
    if y < 0.0 { -angle } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed, bumpy ball with a fixed pseudo-random surface.
    fn ball(rings: u32) -> Mesh {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for i in 0..=rings {
            for j in 0..2 * rings {
                let up = std::f64::consts::PI * f64::from(i) / f64::from(rings);
                let round = std::f64::consts::PI * f64::from(j) / f64::from(rings);
                let bump = 1.0 + 0.2 * (5.0 * up).sin() * (7.0 * round).cos();
                let flat = up.sin() * bump;
                vertices.push(DVec3::new(flat * round.cos(), flat * round.sin(), up.cos() * bump));
                let next = |i: u32, j: u32| i * 2 * rings + j % (2 * rings);
                if i < rings {
                    let quad = [next(i, j), next(i + 1, j), next(i + 1, j + 1), next(i, j + 1)];
                    triangles.push([quad[0], quad[1], quad[2]]);
                    triangles.push([quad[0], quad[2], quad[3]]);
                }
            }
        }
        Mesh::new(vertices, triangles).unwrap()
    }

    fn points(count: u32) -> impl Iterator<Item = DVec3> {
        let share = |k: u32, step: f64| (f64::from(k) * step).fract() * 3.0 - 1.5;
        (0..count).map(move |k| {
            DVec3::new(share(k, 0.819_172_513), share(k, 0.671_043_606), share(k, 0.549_700_477))
        })
    }

    #[test]
    fn clusters_stay_within_their_errors() {
        let mut mesh = ball(24);
        for round in 0..2 {
            let mut tree = WindingTree::new(Soup::of(&mesh));
            if round == 1 {
                // The order of one shape, the places of another.
                let wide: Vec<DVec3> = mesh.vertices().iter().map(|v| *v * v.x.exp()).collect();
                mesh.set_vertices(&wide, &crate::par::Workers::one()).unwrap();
                tree.refit(Soup::of(&mesh));
            }
            let mut least_error = f64::INFINITY;
            for point in points(200) {
                let full = full_sum(Soup::of(&mesh), point);
                for tolerance in TOLERANCES {
                    let (sum, error) = tree.sum(point, tolerance, Soup::of(&mesh));
                    assert!((sum - full).abs() <= error + 1e-12, "{point}: {sum} is not {full}");
                    least_error = least_error.min(error);
                }
            }
            assert!(least_error > 0.0, "no cluster was taken whole");
        }
    }

    #[test]
    fn the_answer_is_that_of_the_full_sum() {
        // With a hole, so that winding numbers take all values.
        let whole = ball(24);
        let open = whole.triangles()[200..].to_vec();
        for mesh in [Mesh::new(whole.vertices().to_vec(), open).unwrap(), whole] {
            let soup = Soup::of(&mesh);
            let tree = WindingTree::new(soup);
            let mut inside = 0;
            for point in points(500) {
                let expected = full_sum(soup, point).abs() > 0.5;
                assert_eq!(tree.encloses(point, soup), expected, "{point}");
                inside += usize::from(expected);
            }
            assert!((50..450).contains(&inside));
        }
    }

    #[test]
    fn the_angle_is_that_of_the_library() {
        for k in 0..10_000 {
            let turn = f64::from(k - 5000) * 6.283e-4;
            for size in [1e-200, 1.0, 1e180] {
                let (y, x) = (turn.sin() * size, turn.cos() * size);
                assert!((arc_tangent(y, x) - y.atan2(x)).abs() < 2e-15, "{turn}");
            }
        }
        assert_eq!((arc_tangent(0.0, 0.0), arc_tangent(0.0, 2.0)), (0.0, 0.0));
    }
}
