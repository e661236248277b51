//! Hulls of flat clouds: a convex polygon.
//!
//! The plane is seen along the axis that its normal is nearest to. Dropping that coordinate is
//! exact, so the polygon is exactly convex there. Quickhull in two dimensions first leaves out
//! points within `epsilon` of the hull of the others, beginning with the extremes of the longer of
//! the two remaining coordinates (on a needle the other one is noise); Andrew's monotone chain
//! (*Another Efficient Algorithm for Convex Hulls in Two Dimensions*) with exact orientation then
//! puts the few that remain in order. O(n log n) expected.

use super::{Lists, Shell};
use glam::DVec3;
use robust::{Coord, orient2d};

type Flat = Coord<f64>;

/// The polygon around points near a plane, seen counter-clockwise from the side of `normal`.
pub(super) fn polygon(points: &[DVec3], normal: DVec3, epsilon: f64) -> Shell {
    let size = normal.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        std::mem::swap(&mut u, &mut v);
    }
    let flat: Vec<Flat> = points.iter().map(|point| Coord { x: point[u], y: point[v] }).collect();
    let ring = monotone_chain(&flat, candidates(&flat, epsilon));
    ring_shell(ring)
}

/// A shell with a front, a back, and a fan of triangles on each.
fn ring_shell(ring: Vec<u32>) -> Shell {
    let mut vertices = ring.clone();
    vertices.sort_unstable();
    let position = |vertex: &u32| vertices.partition_point(|other| other < vertex) as u32;
    let front: Vec<u32> = ring.iter().map(position).collect();
    let back: Vec<u32> = front.iter().rev().copied().collect();
    let mut faces = Lists::default();
    let mut triangles = Vec::new();
    for side in [front, back] {
        faces.push(&side);
        triangles.extend(side[1..].windows(2).map(|pair| [side[0], pair[0], pair[1]]));
    }
    Shell { dimension: 2, vertices, triangles, faces }
}

/// Points that are vertices, up to a few that lie within rounding of an edge.
fn candidates(flat: &[Flat], epsilon: f64) -> Vec<u32> {
    let extent = |of: &dyn Fn(&Flat) -> f64| {
        let (low, high) = flat
            .iter()
            .map(of)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |all, x| (all.0.min(x), all.1.max(x)));
        high - low
    };
    let upright = extent(&|point| point.y) > extent(&|point| point.x);
    let key = |point: &Flat| if upright { (point.y, point.x) } else { (point.x, point.y) };
    let before = |a: &Flat, b: &Flat| key(a) < key(b);
    let (mut low, mut high) = (0u32, 0u32);
    for (index, point) in flat.iter().enumerate() {
        if before(point, &flat[low as usize]) {
            low = index as u32;
        }
        if before(&flat[high as usize], point) {
            high = index as u32;
        }
    }
    let mut found = vec![low, high];
    let all: Vec<u32> = (0..flat.len() as u32).collect();
    let mut work = vec![(low, high, all.clone()), (high, low, all)];
    // Each step removes the furthest point from every set it hands on, so this ends.
    while let Some((from, to, points)) = work.pop() {
        let (outside, furthest) = outside_of(flat, from, to, &points, epsilon);
        let Some(furthest) = furthest else { continue };
        found.push(furthest);
        work.push((from, furthest, outside.clone()));
        work.push((furthest, to, outside));
    }
    found
}

/// The points right of the line and further than `epsilon` from its stretch between the two
/// vertices, and the one furthest from the line.
fn outside_of(
    flat: &[Flat],
    from: u32,
    to: u32,
    points: &[u32],
    epsilon: f64,
) -> (Vec<u32>, Option<u32>) {
    let (a, b) = (flat[from as usize], flat[to as usize]);
    let (along_x, along_y) = (b.x - a.x, b.y - a.y);
    let length = along_x.hypot(along_y);
    let mut outside = Vec::new();
    let mut best = (0.0, None);
    for &index in points {
        let point = flat[index as usize];
        let (x, y) = (point.x - a.x, point.y - a.y);
        let distance = (x * along_y - y * along_x) / length;
        let right = distance > 0.0;
        if !right || index == from || index == to {
            continue;
        }
        let along = (x * along_x + y * along_y) / length;
        let beyond = (along - length).max(-along).max(0.0);
        if distance.hypot(beyond) > epsilon {
            outside.push(index);
            if distance > best.0 {
                best = (distance, Some(index));
            }
        }
    }
    (outside, best.1)
}

/// The strictly convex polygon of some points, counter-clockwise, from its lowest x.
fn monotone_chain(flat: &[Flat], mut points: Vec<u32>) -> Vec<u32> {
    let at = |index: u32| flat[index as usize];
    points.sort_unstable_by(|&i, &j| {
        let (a, b) = (at(i), at(j));
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(i.cmp(&j))
    });
    points.dedup_by(|i, j| at(*i) == at(*j));
    let mut ring: Vec<u32> = Vec::new();
    let reverse: Vec<u32> = points.iter().rev().copied().collect();
    for chain in [points, reverse] {
        let fixed = ring.len();
        for point in chain {
            while ring.len() >= fixed + 2 {
                let (a, b) = (ring[ring.len() - 2], ring[ring.len() - 1]);
                if orient2d(at(a), at(b), at(point)) > 0.0 {
                    break;
                }
                ring.pop();
            }
            ring.push(point);
        }
        // The last point begins the other chain.
        ring.pop();
    }
    ring
}
