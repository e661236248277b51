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
use crate::par::Workers;
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
    workers: &Workers,
) -> Option<Plane> {
    let mut axes: [Axis; 3] = Default::default();
    workers.for_each(&mut axes, |axis, own| {
        own.candidates = candidates(solid, fragment, cell, axis, planes, size);
        let positions: Vec<f64> = own.candidates.iter().map(|candidate| candidate.at).collect();
        if !positions.is_empty() {
            own.slices = slices(solid, fragment, cell, axis, &positions);
        }
    });
    let mut all: Vec<&mut Slice> = axes.iter_mut().flat_map(|own| &mut own.slices).collect();
    workers.for_each(&mut all, |_, slice| slice.hull = Outline::new(&slice.cloud));
    let mut weights: [Vec<Weight>; 6] = Default::default();
    workers.for_each(&mut weights, |task, weights| {
        let hulls = axes[task / 2].slices.iter().map(|slice| &slice.hull);
        *weights = if task % 2 == 0 { running(hulls, size) } else { running(hulls.rev(), size) };
    });
    let mut best: Option<Plane> = None;
    for (axis, own) in axes.iter().enumerate() {
        for plane in costs(axis, &own.candidates, &weights[2 * axis], &weights[2 * axis + 1]) {
            if best.is_none_or(|best| plane.cost < best.cost) {
                best = Some(plane);
            }
        }
    }
    best
}

/// All planes across an axis, and the slices between them.
#[derive(Debug, Default)]
struct Axis {
    candidates: Vec<Candidate>,
    slices: Vec<Slice>,
}

#[derive(Clone, Debug, Default)]
struct Slice {
    cloud: Vec<DVec3>,
    hull: Outline,
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

/// The points between planes.
fn slices(
    solid: &Solid<'_>,
    fragment: &Fragment,
    (low, high): (DVec3, DVec3),
    axis: usize,
    positions: &[f64],
) -> Vec<Slice> {
    let mut slices: Vec<Slice> = vec![Slice::default(); positions.len() + 1];
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let stride = fragment.len().div_ceil(ENOUGH).max(1);
    for index in (0..fragment.len()).step_by(stride) {
        let polygon = fragment.polygon(index);
        let (least, most) = extent(polygon, axis);
        let first = positions.partition_point(|&at| at < least);
        let in_plane = least == most && positions.get(first) == Some(&least);
        if in_plane && faces_down(polygon, axis, solid.outward) {
            slices[first + 1].cloud.extend_from_slice(polygon);
            continue;
        }
        let last = positions.partition_point(|&at| at < most);
        if first == last {
            slices[first].cloud.extend_from_slice(polygon);
            continue;
        }
        upper.clear();
        upper.extend_from_slice(polygon);
        for slice in first..last {
            clip(&upper, axis, positions[slice], false, &mut lower);
            slices[slice].cloud.extend_from_slice(&lower);
            let rest = std::mem::take(&mut upper);
            clip(&rest, axis, positions[slice], true, &mut upper);
        }
        slices[last].cloud.extend_from_slice(&upper);
    }
    // The corners of each slice of the cell that are inside the solid.
    for bits in (0..8).filter(|bits| bits >> axis & 1 == 0) {
        for (slice, Slice { cloud, .. }) in slices.iter_mut().enumerate() {
            let (mut low, mut high) = (low, high);
            low[axis] = if slice == 0 { low[axis] } else { positions[slice - 1] };
            high[axis] = positions.get(slice).copied().unwrap_or(high[axis]);
            let own = [bits, bits | 1 << axis].map(|bits| corner(low, high, bits));
            cloud.extend(own.iter().filter(|&&at| solid.encloses(inward(at, (low, high)))));
        }
    }
    slices
}

/// The volume of a hull, and that with its area.
type Weight = (f64, f64);

/// The weights of the first hull, of the hull of the first two, and so on, but not of all.
fn running<'a>(hulls: impl ExactSizeIterator<Item = &'a Outline>, size: f64) -> Vec<Weight> {
    let (count, mut hull) = (hulls.len().saturating_sub(1), Outline::default());
    let next = |slice: &Outline| {
        hull = hull.joined(slice);
        (hull.volume, hull.volume + AREA * size * hull.area)
    };
    hulls.take(count).map(next).collect()
}

/// The cost of each plane, from what is below planes and what is above them, the highest first.
fn costs<'a>(
    axis: usize,
    candidates: &'a [Candidate],
    below: &'a [Weight],
    above: &'a [Weight],
) -> impl Iterator<Item = Plane> + 'a {
    let sides = below.iter().zip(above.iter().rev());
    candidates.iter().zip(sides).map(move |(&Candidate { at, fold }, (below, above))| {
        let even = BALANCE * (below.0 - above.0).abs();
        let sharp = if fold { AT_FOLD * (below.0 + above.0) } else { 0.0 };
        Plane { axis, at, cost: below.1 + above.1 + even - sharp }
    })
}
