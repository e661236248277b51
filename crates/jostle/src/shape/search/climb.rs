//! Hill climbing: from a vertex to its best neighbour, until none is better.
//!
//! On a convex surface the vertices above any height are joined by edges, so with exact numbers
//! a vertex without a better neighbour is the furthest (van den Bergen, *A Fast and Robust GJK
//! Implementation for Collision Detection of Convex Objects*). With rounded dot products it need
//! not be: on a face almost across the direction all products agree but for noise, and noise
//! has peaks of its own; Loi (*Fast GPU-based Collision Detection*) shows an endless loop there.
//!
//! Two rules make the climb exact here. It moves only to a strictly larger product, so it cannot
//! loop. And where it ends it also visits the neighbours whose product is within `tolerance`,
//! twice the largest rounding error, and theirs in turn. Between the end of the climb and the
//! vertex of the largest computed product there is a path on which the exact height never falls
//! below the lower of its two ends; computed heights along it are then at most the tolerance
//! lower, so the path lies within what is visited. Almost always there is nothing to visit. Where
//! more than [`PLATEAU`] vertices are level, or the products are so small that they underflow, or
//! the climb has looked at as many vertices as there are (hulls with vertices that have thousands
//! of neighbours), the caller scans instead, so every search is bounded by a few scans.

use super::super::hull::Lists;
use glam::DVec3;

/// Most level vertices that are visited one by one; beyond, a scan is faster.
const PLATEAU: usize = 32;

/// What the climb must know of its hull.
#[derive(Clone, Debug)]
pub(super) struct Climber {
    /// Tolerance for a direction whose components sum to one.
    tolerance: f64,
    count: u32,
}

impl Climber {
    pub(super) fn new(vertices: &[DVec3], dimension: u8) -> Climber {
        let largest = vertices.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
        // Three products and two sums err by less than 1.5 units of the sum of the products'
        // sizes. The vertices of a flat hull may also lie off their plane by the tolerance
        // of its construction, 256 units.
        let units = if dimension == 2 { 1024.0 } else { 4.0 };
        Climber { tolerance: units * f64::EPSILON * largest, count: vertices.len() as u32 }
    }

    /// The lowest index among the vertices of the largest computed product, or nothing where
    /// only a scan can tell.
    #[inline]
    pub(super) fn climb(
        &self,
        vertices: &[DVec3],
        neighbours: &Lists,
        direction: DVec3,
        hint: u32,
    ) -> Option<u32> {
        let size = direction.x.abs() + direction.y.abs() + direction.z.abs();
        let tolerance = self.tolerance * size;
        if !(1e-280..1e280).contains(&tolerance) {
            return None;
        }
        let mut best = hint.min(self.count - 1);
        let mut height = vertices[best as usize].dot(direction);
        let mut looked = 0;
        while looked <= vertices.len() {
            let from = best;
            let mut level = false;
            let floor = height - tolerance;
            let around = neighbours.get(from);
            looked += around.len();
            for &neighbour in around {
                let reach = vertices[neighbour as usize].dot(direction);
                level |= reach >= floor;
                // Selects, not a branch: which neighbour is best cannot be predicted.
                best = if reach > height { neighbour } else { best };
                height = if reach > height { reach } else { height };
            }
            if best == from {
                if !level {
                    return Some(best);
                }
                return visit_plateau(vertices, neighbours, direction, best, tolerance);
            }
        }
        None
    }
}

/// Visits the level vertices around `start`.
#[cold]
fn visit_plateau(
    vertices: &[DVec3],
    neighbours: &Lists,
    direction: DVec3,
    start: u32,
    tolerance: f64,
) -> Option<u32> {
    let mut visited = [0; PLATEAU];
    visited[0] = start;
    let (mut done, mut found) = (0, 1);
    let (mut best, mut height) = (start, vertices[start as usize].dot(direction));
    while done < found {
        for &neighbour in neighbours.get(visited[done]) {
            let reach = vertices[neighbour as usize].dot(direction);
            if reach < height - tolerance || visited[..found].contains(&neighbour) {
                continue;
            }
            *visited.get_mut(found)? = neighbour;
            found += 1;
            if reach > height || (reach == height && neighbour < best) {
                (best, height) = (neighbour, reach);
            }
        }
        done += 1;
    }
    Some(best)
}
