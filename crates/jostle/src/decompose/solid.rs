//! [`Solid`]: a part of the input that hangs together, and questions about it.
//!
//! Closed parts that share no place are solids of their own, each with the cavities inside it;
//! everything that is open stays together, and the winding number says what is inside.

use super::cell::Fragment;
use super::parts::{Side, places, sides, signed_volume};
use crate::mesh::Mesh;
use crate::shape::Outline;
use glam::DVec3;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Folds flatter than this, by the sine of the angle, are no places to cut.
const FLAT: f64 = 0.15;

/// Points nearer to the surface than this share of its size are on it. Most points of a good hull
/// are, and there the winding number is a half: the one value that needs the sum of all triangles.
const ON_SURFACE: f64 = 1e-6;

pub(super) struct Solid<'a> {
    mesh: Cow<'a, Mesh>,
    folds: Vec<Fold>,
    /// 1 if the triangles face out, -1 if they face in.
    pub outward: f64,
}

/// An edge at which the surface is hollow.
struct Fold {
    ends: [DVec3; 2],
    /// Length times the sine of the angle.
    weight: f64,
}

impl<'a> Solid<'a> {
    pub(super) fn new(mesh: Cow<'a, Mesh>) -> Solid<'a> {
        let volume = signed_volume(&mesh, 0..mesh.triangles().len() as u32);
        let outward = if volume < 0.0 { -1.0 } else { 1.0 };
        let folds = folds(&mesh, &sides(&mesh, &places(&mesh)), outward);
        Solid { mesh, folds, outward }
    }

    pub(super) fn fragment(&self) -> Fragment {
        let triangles = 0..self.mesh.triangles().len() as u32;
        Fragment::new(triangles.map(|triangle| self.mesh.corners(triangle)))
    }

    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        (self.mesh.min(), self.mesh.max())
    }

    pub(super) fn encloses(&self, point: DVec3) -> bool {
        self.mesh.encloses(point)
    }

    /// The positions along an axis of the heaviest folds within a cell and a range.
    pub(super) fn folds_across(
        &self,
        axis: usize,
        (low, high): (DVec3, DVec3),
        (least, most): (f64, f64),
        count: usize,
    ) -> Vec<f64> {
        let near = 1e-9 * (most - least);
        let within = |at: DVec3| (0..3).all(|k| low[k] <= at[k] && at[k] <= high[k]);
        let mut found: Vec<(f64, f64)> = Vec::new();
        for Fold { ends: [a, b], weight } in &self.folds {
            if (a[axis] - b[axis]).abs() <= near
                && (least..=most).contains(&a[axis])
                && within((*a + *b) * 0.5)
            {
                found.push((a[axis], *weight));
            }
        }
        found.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let groups = found.chunk_by(|one, other| other.0 - one.0 <= near);
        let mut groups: Vec<(f64, f64)> =
            groups.map(|group| (group[0].0, group.iter().map(|fold| fold.1).sum())).collect();
        groups.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.total_cmp(&other.0)));
        groups.into_iter().take(count).map(|group| group.0).collect()
    }

    /// How far points of a hull are from the solid, on which its vertices lie: the largest distance
    /// found at about `count` points, which gather where it may be largest. Ends as soon as it is
    /// more than `enough`.
    pub(super) fn concavity(&self, hull: &Outline, count: usize, enough: f64) -> f64 {
        self.search(hull, &[], count, enough)
    }

    /// The same for a hull whose vertices lie anywhere.
    pub(super) fn concavity_of_any(&self, hull: &Outline, count: usize) -> f64 {
        self.search(hull, &hull.vertices, count, f64::INFINITY)
    }

    /// Looks at some vertices, and then at about `count` points.
    fn search(&self, hull: &Outline, vertices: &[DVec3], count: usize, enough: f64) -> f64 {
        let floor = ON_SURFACE * (self.mesh.max() - self.mesh.min()).max_element();
        let open = BinaryHeap::new();
        let mut search = Search { mesh: &self.mesh, floor, best: 0.0, open, made: 0 };
        vertices.iter().for_each(|&vertex| {
            search.measure(vertex);
        });
        let far = search.best;
        for corners in hull.surface() {
            search.add(corners, far + 0.6 * longest_side(&corners).1);
        }
        let share = 1.0 / hull.vertices.len().max(1) as f64;
        let center: DVec3 = hull.vertices.iter().map(|&vertex| vertex * share).sum();
        for step in 0..count {
            let Some(next) = search.open.pop() else { break };
            if search.best > enough {
                break;
            }
            search.divide(&next);
            if step % 2 == 0 {
                // Inside, too: a cavity does not show on the surface.
                let depth = [0.9, 0.5, 0.75, 0.25][step / 2 % 4];
                search.measure(center + (next.middle() - center) * depth);
            }
        }
        search.best
    }
}

/// Looks for the point of a hull that is furthest from a solid: distances change no faster than the
/// point moves, so that a triangle has a bound, and the one with the largest is divided next.
struct Search<'a> {
    mesh: &'a Mesh,
    /// Points this near to the surface are on it.
    floor: f64,
    best: f64,
    open: BinaryHeap<Patch>,
    made: u32,
}

impl Search<'_> {
    /// No place of a triangle is further from the solid than its corners are, and from the nearest
    /// of them.
    fn add(&mut self, corners: [DVec3; 3], bound: f64) {
        if bound > self.best {
            self.open.push(Patch { corners, bound, number: Reverse(self.made) });
            self.made += 1;
        }
    }

    /// Halves a triangle across its longest side.
    fn divide(&mut self, patch: &Patch) {
        let middle = patch.middle();
        let far = self.measure(middle);
        let (side, length) = longest_side(&patch.corners);
        if length == 0.0 {
            return;
        }
        let [a, b, c] = [0, 1, 2].map(|k| patch.corners[(side + k) % 3]);
        let half = (a + b) * 0.5;
        for corners in [[a, half, c], [half, b, c]] {
            let reach = corners.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max);
            self.add(corners, patch.bound.min(far + reach));
        }
    }

    /// The distance of a point from the solid; for points inside, minus that from the surface.
    fn measure(&mut self, point: DVec3) -> f64 {
        let distance = self.mesh.project(point).distance;
        if distance <= self.best.max(self.floor) {
            // On whichever side.
            return distance;
        }
        if self.mesh.encloses(point) {
            return -distance;
        }
        self.best = distance;
        distance
    }
}

/// The side from corner `k` to the next that is longest, and its length.
fn longest_side(corners: &[DVec3; 3]) -> (usize, f64) {
    let lengths = [0, 1, 2].map(|k| corners[k].distance(corners[(k + 1) % 3]));
    let side = (1..3).fold(0, |best, k| if lengths[k] > lengths[best] { k } else { best });
    (side, lengths[side])
}

struct Patch {
    corners: [DVec3; 3],
    bound: f64,
    number: Reverse<u32>,
}

impl Patch {
    fn middle(&self) -> DVec3 {
        let [a, b, c] = self.corners;
        a / 3.0 + b / 3.0 + c / 3.0
    }
}

impl PartialEq for Patch {
    fn eq(&self, other: &Patch) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Patch {}

impl PartialOrd for Patch {
    fn partial_cmp(&self, other: &Patch) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The largest bound comes first, then the one made first.
impl Ord for Patch {
    fn cmp(&self, other: &Patch) -> Ordering {
        self.bound.total_cmp(&other.bound).then(self.number.cmp(&other.number))
    }
}

/// The hollow edges of a mesh.
fn folds(mesh: &Mesh, sides: &[Side], outward: f64) -> Vec<Fold> {
    let normal = |triangle: u32| {
        let [a, b, c] = mesh.corners(triangle);
        (b - a).cross(c - a).try_normalize()
    };
    let mut all = Vec::new();
    for same in sides.chunk_by(|one, other| one.ends == other.ends) {
        let [one, other] = same else { continue };
        if one.backward == other.backward {
            continue;
        }
        let (Some(first), Some(second)) = (normal(one.triangle), normal(other.triangle)) else {
            continue;
        };
        let ends = one.ends.map(|vertex| mesh.vertices()[vertex as usize]);
        let [a, b, c] = mesh.corners(other.triangle);
        let rise = outward * first.dot((a - ends[0]) + (b - ends[0]) + (c - ends[0]));
        let sine = first.cross(second).length();
        if rise > 0.0 && sine > FLAT {
            all.push(Fold { ends, weight: ends[0].distance(ends[1]) * sine });
        }
    }
    all
}
