//! Cuts space so that every region gets the same weight, wherever the points are.
//!
//! All cuts of a level are found at once. Each rank sorts its points into the bins of the nodes
//! they are in, the bins of all ranks are summed, and the bin in which a node's cut falls is
//! divided again until the cut is good enough. That takes one reduction of at most
//! [`MOST_BINS`] numbers for each refinement, three or four to a level for points without far
//! outliers, and moves no points. The cut goes across the axis along which the finite points of
//! the node spread most, so regions come out about as long as they are wide: the surface, and with
//! it the number of ghosts, is small. A space-filling curve would need one search instead of one
//! to a level, but its regions are no boxes, and both rules of the parent module would cost a
//! search where they now cost six comparisons.
//!
//! Weights are whole numbers and sums are exact, so the same points give the same tree however
//! they are spread over the ranks.

use super::{Decomposition, LEAF};
use crate::comm::{Communicator, Reduction};

/// The most bins of all nodes of a level together; what a reduction costs.
const MOST_BINS: usize = 1 << 16;

/// A cut may miss its place by this share of one rank's weight.
const TOLERANCE: f64 = 0.005;

/// Even with outliers at the ends of f32 the bins shrink below its resolution by then.
const MOST_REFINEMENTS: usize = 40;

/// A node of the level that is being cut.
struct Node {
    axis: usize,
    /// Weight that should end up below the cut.
    target: f64,
    /// The interval in which the cut lies.
    low: f64,
    high: f64,
    /// The allowed error.
    slack: f64,
    cut: Option<f32>,
}

/// The tree over `parts` ranks that gives each the same share of the weight of all points. All
/// ranks of the communicator call this, each with its own points.
pub fn bisect(
    comm: &impl Communicator,
    parts: usize,
    points: &[[f32; 3]],
    weight: impl Fn(usize) -> u32,
) -> Decomposition {
    let mut tree = Decomposition::with_ranks(parts);
    // The node of each point, as in the tree.
    let mut places = vec![tree.root(); points.len()];
    let mut level = if parts > 1 { 0..1 } else { 0..0 };
    let mut counts = vec![parts];
    while !level.is_empty() {
        let first = level.start;
        let inside = |place: u32| {
            let known = place & LEAF == 0;
            known.then(|| place as usize - first)
        };
        let mut nodes = open(comm, points, &places, &weight, &counts, &inside);
        for _ in 0..MOST_REFINEMENTS {
            if nodes.iter().all(|node| node.cut.is_some()) {
                break;
            }
            refine(comm, points, &places, &weight, &mut nodes, &inside);
        }
        for (cut, node) in tree.cuts[level.clone()].iter_mut().zip(&nodes) {
            cut.axis = node.axis as u32;
            cut.value = node.cut.unwrap_or(node.low as f32).min(f32::MAX);
        }
        for (place, point) in places.iter_mut().zip(points) {
            if *place & LEAF == 0 {
                let cut = &tree.cuts[*place as usize];
                *place = if point[cut.axis as usize] < cut.value { cut.below } else { cut.above };
            }
        }
        let halves = counts.iter().flat_map(|&count| [count / 2, count - count / 2]);
        counts = halves.filter(|&count| count > 1).collect();
        level = level.end..level.end + counts.len();
    }
    tree
}

/// Finds the spread and the weight of each node of a level.
fn open(
    comm: &impl Communicator,
    points: &[[f32; 3]],
    places: &[u32],
    weight: &impl Fn(usize) -> u32,
    counts: &[usize],
    inside: &impl Fn(u32) -> Option<usize>,
) -> Vec<Node> {
    // For each node and axis: the largest key, and the largest of the inverted ones.
    let mut spread = vec![0u64; counts.len() * 6];
    let mut totals = vec![0u64; counts.len()];
    for (index, (point, &place)) in points.iter().zip(places).enumerate() {
        let Some(node) = inside(place) else { continue };
        totals[node] += u64::from(weight(index));
        for axis in 0..3 {
            if point[axis].is_finite() {
                let key = key(point[axis]);
                let at = node * 6 + axis * 2;
                spread[at] = spread[at].max(1 + key);
                spread[at + 1] = spread[at + 1].max(1 + (u64::from(u32::MAX) - key));
            }
        }
    }
    comm.all_reduce(&mut spread, Reduction::Max);
    comm.all_reduce(&mut totals, Reduction::Sum);
    let node = |place: usize| {
        let range = |axis: usize| {
            let (high, low) = (spread[place * 6 + axis * 2], spread[place * 6 + axis * 2 + 1]);
            if high == 0 {
                return (0.0, 0.0);
            }
            (value(u64::from(u32::MAX) - (low - 1)), value(high - 1))
        };
        let length = |axis: usize| range(axis).1 - range(axis).0;
        let longest =
            |best: usize, axis: usize| if length(axis) > length(best) { axis } else { best };
        let axis = (0..3).fold(0, longest);
        let (low, high) = range(axis);
        let (total, count) = (totals[place] as f64, counts[place] as f64);
        Node {
            axis,
            target: total * (counts[place] / 2) as f64 / count,
            low,
            // Beyond the last point, so that it falls into the last bin.
            high: high + (high - low) * 1e-6 + f64::MIN_POSITIVE,
            slack: (total / count * TOLERANCE).max(0.5),
            // Without weight any cut is as good as another.
            cut: (totals[place] == 0).then_some(low as f32),
        }
    };
    (0..counts.len()).map(node).collect()
}

/// One round: counts the bins of every open node, and narrows it to one bin or closes it.
fn refine(
    comm: &impl Communicator,
    points: &[[f32; 3]],
    places: &[u32],
    weight: &impl Fn(usize) -> u32,
    nodes: &mut [Node],
    inside: &impl Fn(u32) -> Option<usize>,
) {
    let bins = (MOST_BINS / nodes.len()).clamp(8, 256);
    // Two more than the bins: what lies below the interval, and what lies above.
    let row = bins + 2;
    let mut sums = vec![0u64; nodes.len() * row];
    for (index, (point, &place)) in points.iter().zip(places).enumerate() {
        let Some(place) = inside(place) else { continue };
        let node = &nodes[place];
        if node.cut.is_none() {
            let x = f64::from(point[node.axis]);
            let share = (x - node.low) / (node.high - node.low) * bins as f64;
            let bin = if x < node.low { 0 } else { 1 + (share as usize).min(bins) };
            sums[place * row + bin] += u64::from(weight(index));
        }
    }
    comm.all_reduce(&mut sums, Reduction::Sum);
    for (node, sums) in nodes.iter_mut().zip(sums.chunks_exact(row)) {
        if node.cut.is_none() {
            narrow(node, sums);
        }
    }
}

fn narrow(node: &mut Node, sums: &[u64]) {
    let bins = sums.len() - 2;
    let edge = |bin: usize| node.low + (node.high - node.low) * bin as f64 / bins as f64;
    let mut below = sums[0] as f64;
    let mut bin = 0;
    while bin < bins && below + (sums[1 + bin] as f64) < node.target {
        below += sums[1 + bin] as f64;
        bin += 1;
    }
    // More weight than the target lies below the interval, or less in all of it: outliers.
    if below >= node.target || bin == bins {
        node.cut = Some(edge(bin) as f32);
        return;
    }
    let above = below + sums[1 + bin] as f64;
    let (low, high) = (edge(bin), edge(bin + 1));
    if node.target - below <= node.slack {
        node.cut = Some(low as f32);
    } else if above - node.target <= node.slack {
        node.cut = Some(high as f32);
    } else if (low as f32).next_up() >= high as f32 {
        // One value of f32 holds too much weight to be divided: the better side of it.
        let upper = (low as f32).next_up();
        node.cut =
            Some(if node.target - below <= above - node.target { low as f32 } else { upper });
    } else {
        (node.low, node.high) = (low, high);
    }
}

/// A number that orders as the value does.
fn key(value: f32) -> u64 {
    // Both zeros are one place.
    let bits = (value + 0.0).to_bits();
    u64::from(if bits >> 31 == 1 { !bits } else { bits | 1 << 31 })
}

/// The value of a key.
fn value(key: u64) -> f64 {
    let key = key as u32;
    f64::from(f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key }))
}
