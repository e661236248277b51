//! Where to cut: the plane that leaves the smallest hulls.
//!
//! The volumes of the two sides add up to that of the part wherever the cut is, so the plane with
//! the smallest two hulls is the one that leaves the least of what is not solid. Planes are tried
//! at even steps and at the sharpest folds, which is where the pieces of made things meet. All
//! planes of an axis are judged at once: the part is sliced at each of them, and the hull below a
//! plane is that of the hull below the plane before and the slice between.
//!
//! Where several planes are as good, as in an empty box, those at folds come first, then equal
//! shares: walls come off whole and need not be joined again.

use super::cell::{Fragment, clip, corner, extent, faces_down, inward};
use super::solid::Solid;
use crate::shape::Outline;
use glam::DVec3;

/// Share of a hull's area, times the size of the mesh, that counts as volume.
const AREA: f64 = 0.01;

/// Share of the difference between both sides that counts as volume.
const BALANCE: f64 = 0.02;

/// Share of both hulls by which a plane at a fold is better than another.
const AT_FOLD: f64 = 0.03;

/// Planes at folds for each axis.
const FOLDS: usize = 8;

/// Nearer to the end of a part than this share of its length no plane is tried.
const RIM: f64 = 0.02;

/// Of more polygons only about this many are looked at when planes are judged.
const ENOUGH: usize = 20_000;

/// A cut and what it is worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    pub axis: usize,
    pub at: f64,
    cost: f64,
}

/// The best cut of a part; the first among equals, `None` if it is too small for any.
pub(super) fn best(
    solid: &Solid<'_>,
    fragment: &Fragment,
    cell: (DVec3, DVec3),
    planes: usize,
    size: f64,
) -> Option<Plane> {
    let mut best: Option<Plane> = None;
    for axis in 0..3 {
        let candidates = candidates(solid, fragment, cell, axis, planes, size);
        if candidates.is_empty() {
            continue;
        }
        let positions: Vec<f64> = candidates.iter().map(|candidate| candidate.at).collect();
        let slices = slices(solid, fragment, cell, axis, &positions);
        for plane in costs(&slices, axis, &candidates, size) {
            if best.is_none_or(|best| plane.cost < best.cost) {
                best = Some(plane);
            }
        }
    }
    best
}

/// A plane to be judged.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    at: f64,
    fold: bool,
}

/// Planes across an axis, ascending.
fn candidates(
    solid: &Solid<'_>,
    fragment: &Fragment,
    (low, high): (DVec3, DVec3),
    axis: usize,
    planes: usize,
    size: f64,
) -> Vec<Candidate> {
    let (least, most) = extent(fragment.points(), axis);
    let (least, most) = (least.max(low[axis]), most.min(high[axis]));
    let length = most - least;
    // Too thin to gain anything, or empty.
    if length <= 1e-3 * size {
        return Vec::new();
    }
    let rim = RIM * length;
    let even = (1..=planes).map(|k| least + length * (k as f64 / (planes + 1) as f64));
    let folds = solid.folds_across(axis, (low, high), (least + rim, most - rim), FOLDS);
    let mut all: Vec<Candidate> = even.map(|at| Candidate { at, fold: false }).collect();
    all.extend(folds.into_iter().map(|at| Candidate { at, fold: true }));
    all.sort_by(|one, other| one.at.total_cmp(&other.at).then(other.fold.cmp(&one.fold)));
    // Of two in one place the fold stays: it comes first, or the place is not quite the same.
    all.dedup_by(|next, kept| {
        let same = next.at - kept.at <= 1e-9 * length;
        if same && next.fold {
            *kept = *next;
        }
        same
    });
    all
}

/// The outlines between planes.
fn slices(
    solid: &Solid<'_>,
    fragment: &Fragment,
    (low, high): (DVec3, DVec3),
    axis: usize,
    positions: &[f64],
) -> Vec<Outline> {
    let mut clouds: Vec<Vec<DVec3>> = vec![Vec::new(); positions.len() + 1];
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let stride = fragment.len().div_ceil(ENOUGH).max(1);
    for index in (0..fragment.len()).step_by(stride) {
        let polygon = fragment.polygon(index);
        let (least, most) = extent(polygon, axis);
        let first = positions.partition_point(|&at| at < least);
        let in_plane = least == most && positions.get(first) == Some(&least);
        if in_plane && faces_down(polygon, axis, solid.outward) {
            clouds[first + 1].extend_from_slice(polygon);
            continue;
        }
        let last = positions.partition_point(|&at| at < most);
        if first == last {
            clouds[first].extend_from_slice(polygon);
            continue;
        }
        upper.clear();
        upper.extend_from_slice(polygon);
        for slice in first..last {
            clip(&upper, axis, positions[slice], false, &mut lower);
            clouds[slice].extend_from_slice(&lower);
            let rest = std::mem::take(&mut upper);
            clip(&rest, axis, positions[slice], true, &mut upper);
        }
        clouds[last].extend_from_slice(&upper);
    }
    // The corners of each slice of the cell that are inside the solid.
    for bits in (0..8).filter(|bits| bits >> axis & 1 == 0) {
        for (slice, cloud) in clouds.iter_mut().enumerate() {
            let (mut low, mut high) = (low, high);
            low[axis] = if slice == 0 { low[axis] } else { positions[slice - 1] };
            high[axis] = positions.get(slice).copied().unwrap_or(high[axis]);
            let own = [bits, bits | 1 << axis].map(|bits| corner(low, high, bits));
            cloud.extend(own.iter().filter(|&&at| solid.encloses(inward(at, (low, high)))));
        }
    }
    clouds.iter().map(|cloud| Outline::new(cloud)).collect()
}

/// The cost of each plane.
fn costs(slices: &[Outline], axis: usize, candidates: &[Candidate], size: f64) -> Vec<Plane> {
    let weight = |outline: &Outline| (outline.volume, outline.volume + AREA * size * outline.area);
    let mut above = vec![(0.0, 0.0); candidates.len()];
    let mut hull = Outline::default();
    for (place, slice) in above.iter_mut().zip(&slices[1..]).rev() {
        hull = hull.joined(slice);
        *place = weight(&hull);
    }
    let mut hull = Outline::default();
    let mut planes = Vec::with_capacity(candidates.len());
    for ((&Candidate { at, fold }, slice), above) in candidates.iter().zip(slices).zip(above) {
        hull = hull.joined(slice);
        let below = weight(&hull);
        let even = BALANCE * (below.0 - above.0).abs();
        let sharp = if fold { AT_FOLD * (below.0 + above.0) } else { 0.0 };
        let cost = below.1 + above.1 + even - sharp;
        planes.push(Plane { axis, at, cost });
    }
    planes
}
