//! When does a moving vertex meet a moving triangle, or a moving edge another?
//!
//! All four points move on straight lines from time 0 to time 1. What parts the two features is
//! then affine in the time and in each of their two parameters, so that over a box of the three it
//! lies within the bounds of its eight corners (Snyder's inclusion function; Wang and others, *A
//! large-scale benchmark and an inclusion-based algorithm for continuous collision detection*).
//! Boxes whose bounds leave out the origin on an axis hold no contact; others are halved, in the
//! parameter that moves the bounds most, until the bounds are as small as the rounding.
//!
//! Bounds are widened by more than the rounding of their corners: a contact is never missed, and
//! the time returned is never too late. Features that pass each other nearer than a few units of
//! the last place of their coordinates may be called touching. A search ends after
//! [`MOST_BOXES`] boxes and then says when a contact can be at the soonest.
//!
//! Against the 250 vertex-face and 74 edge-edge queries of the published unit tests nothing is
//! missed.

use glam::DVec3;

/// Most boxes that one search opens.
const MOST_BOXES: u32 = 1 << 16;

/// Bounds this small, relative to the coordinates, are a contact.
const SMALL: f64 = 1e-13;

/// More than the rounding of a corner, relative to the coordinates.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The first time from 0 to 1 at which a vertex meets a triangle, or a little before; none if they
/// do not meet. Points are the vertex and the three corners.
///
/// ```
/// use jostle::glam::DVec3;
/// use jostle::mesh::vertex_face_time;
///
/// let face = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]].map(DVec3::from);
/// let with = |z: f64| [DVec3::new(1.0, 1.0, z), face[0], face[1], face[2]];
/// let time = vertex_face_time(&with(3.0), &with(-1.0)).expect("it falls through");
/// assert!((0.75 - 1e-9..=0.75).contains(&time));
/// assert_eq!(vertex_face_time(&with(3.0), &with(1e-9)), None);
/// ```
#[must_use]
pub fn vertex_face_time(start: &[DVec3; 4], end: &[DVec3; 4]) -> Option<f64> {
    first_time(start, end, true)
}

/// The first time from 0 to 1 at which two edges meet, or a little before; none if they do not
/// meet. Points are the two ends of the first edge, then those of the second.
#[must_use]
pub fn edge_edge_time(start: &[DVec3; 4], end: &[DVec3; 4]) -> Option<f64> {
    first_time(start, end, false)
}

/// Intervals of the time and of the two parameters.
#[derive(Clone, Copy)]
struct Cell {
    low: [f64; 3],
    high: [f64; 3],
}

struct Features {
    start: [DVec3; 4],
    end: [DVec3; 4],
    /// A vertex and a triangle; else two edges.
    face: bool,
}

impl Features {
    /// What parts the features at a time and two parameters.
    #[inline]
    fn gap(&self, t: f64, u: f64, v: f64) -> DVec3 {
        let [a, b, c, d]: [DVec3; 4] =
            std::array::from_fn(|k| self.start[k] * (1.0 - t) + self.end[k] * t);
        if self.face {
            a - (b + (c - b) * u + (d - b) * v)
        } else {
            (a + (b - a) * u) - (c + (d - c) * v)
        }
    }
}

fn first_time(start: &[DVec3; 4], end: &[DVec3; 4], face: bool) -> Option<f64> {
    // Seen from the middle, so that far coordinates round no more than they must.
    let all = || start.iter().chain(end);
    let low = all().copied().reduce(DVec3::min)?;
    let high = all().copied().reduce(DVec3::max)?;
    let middle = low * 0.5 + high * 0.5;
    let far = all().map(|point| point.abs().max_element()).fold(0.0, f64::max);
    let near = (high - low).max_element();
    let features =
        Features { start: start.map(|p| p - middle), end: end.map(|p| p - middle), face };
    let rounding = ROUNDING * near + if middle == DVec3::ZERO { 0.0 } else { f64::EPSILON * far };
    let small = SMALL * near + 2.0 * rounding;
    let (mut best, mut boxes) = (f64::INFINITY, 0);
    let mut open = vec![Cell { low: [0.0; 3], high: [1.0; 3] }];
    while let Some(cell) = open.pop() {
        if cell.low[0] >= best || face && cell.low[1] + cell.low[2] > 1.0 {
            continue;
        }
        boxes += 1;
        if boxes > MOST_BOXES {
            let soonest = open.iter().map(|cell| cell.low[0]).fold(cell.low[0], f64::min);
            return Some(soonest.min(best));
        }
        let Some((widths, size)) = bounds(&features, &cell, rounding) else { continue };
        if size <= small {
            best = cell.low[0];
            continue;
        }
        halve(&cell, widths, &mut open);
    }
    (best < f64::INFINITY).then_some(best)
}

/// How much each parameter moves the bounds, and their size; none if the origin is outside.
fn bounds(features: &Features, cell: &Cell, rounding: f64) -> Option<([f64; 3], f64)> {
    let corners: [DVec3; 8] = std::array::from_fn(|k| {
        let at = |axis: usize| if k >> axis & 1 == 0 { cell.low[axis] } else { cell.high[axis] };
        features.gap(at(0), at(1), at(2))
    });
    let (mut low, mut high) = (corners[0], corners[0]);
    for corner in &corners[1..] {
        (low, high) = (low.min(*corner), high.max(*corner));
    }
    let outside = low.cmpgt(DVec3::splat(rounding)) | high.cmplt(DVec3::splat(-rounding));
    if outside.any() {
        return None;
    }
    let widths = std::array::from_fn(|axis| {
        (0..8usize)
            .filter(|k| k >> axis & 1 == 0)
            .map(|k| (corners[k | 1 << axis] - corners[k]).abs().max_element())
            .fold(0.0, f64::max)
    });
    Some((widths, (high - low).max_element()))
}

/// Halves a cell in its widest parameter; the sooner half is opened first.
fn halve(cell: &Cell, widths: [f64; 3], open: &mut Vec<Cell>) {
    let splits = |axis: usize| {
        let middle = cell.low[axis].midpoint(cell.high[axis]);
        cell.low[axis] < middle && middle < cell.high[axis]
    };
    let widest = (0..3)
        .filter(|&axis| splits(axis))
        .reduce(|one, other| if widths[other] > widths[one] { other } else { one });
    // A cell of one point: as small as numbers are.
    let Some(axis) = widest else { return open.push(*cell) };
    let middle = cell.low[axis].midpoint(cell.high[axis]);
    let (mut sooner, mut later) = (*cell, *cell);
    (sooner.high[axis], later.low[axis]) = (middle, middle);
    open.extend([later, sooner]);
}
