//! Builds a [`MeshTree`]: surface area heuristic, in eights.
//!
//! Ranges of triangles are [`split`](super::split) at multiples of eight. So every leaf but the
//! last is full, which keeps the tree at half the memory of free splits. Eight children come from
//! splitting the child of largest surface again and again, as long as it is too large for a node
//! whose children are leaves; if there is room left, such nodes are replaced by their leaves. That
//! makes fewer nodes with more children: 6 instead of 9 bytes a triangle, for as many visits.
//!
//! Large nodes hand their children to other threads, the largest first; before that two ranges of
//! them are split at a time. Small subtrees are built by one thread in an array of their own, and
//! all are put together in a fixed order: the tree does not depend on the number of threads. Ties
//! are broken by the number of the triangle. What is left to one thread is the selection of a
//! large node's first split, and the bounds of the vertices.
//!
//! Tried and dropped: putting triangles before, in and after the bin of a split side by side in a
//! second array and selecting only within that bin, with both passes shared by threads. Next to
//! parry3d-f64 (`jostle-bench mesh-rivals`, four meshes of 5 002 to 129 032 triangles) it was 3
//! hundredths faster with one thread and 5 with two, which is noise, and two threads took 0.89 of
//! the time of one on the largest mesh, 0.72 without it.

use std::cmp::Reverse;
use std::iter;
use std::ops::Range;

use super::split::{Item, Spread, split};
use super::tree::{Fit, Frame, LEAVES_PER_TASK, Link, LinkedNode, MeshTree, triangle_box};
use crate::par::Workers;
use crate::simd;
use crate::simd::leaf8::Leaf8;
use crate::simd::node8::WIDTH;
use glam::DVec3;

/// Triangles below a node whose children are leaves.
const FULL: usize = WIDTH * WIDTH;

/// Triangles of a subtree that one thread builds.
const SMALL: usize = 1 << 12;

/// Triangles whose boxes one task computes.
const ITEMS_PER_TASK: usize = 1 << 10;

/// A part of the tree. The first of its nodes is above all others, if there are any.
struct Part {
    link: Link,
    nodes: Vec<LinkedNode>,
}

impl Part {
    const EMPTY: Part = Part { link: Link::ROOT, nodes: Vec::new() };

    /// Appends an empty node and says where.
    fn add_node(&mut self) -> usize {
        self.nodes.push(LinkedNode::EMPTY);
        self.nodes.len() - 1
    }
}

/// The tree over triangles in a frame. There is at least one triangle.
pub(super) fn build(
    frame: Frame,
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    workers: &Workers,
) -> MeshTree {
    let mut items = vec![Item::BLANK; triangles.len()];
    workers.for_each_chunk(&mut items, ITEMS_PER_TASK, |task, items| {
        for (place, item) in items.iter_mut().enumerate() {
            let triangle = task * ITEMS_PER_TASK + place;
            let corners = triangles[triangle].map(|vertex| vertices[vertex as usize]);
            *item = Item::new(&triangle_box(&frame, &corners), triangle as u32);
        }
    });
    let mut part = large(&mut items, 0, workers);
    if part.nodes.is_empty() {
        // A single leaf gets a node above it.
        let whole = Spread::new(&mut items, 0..triangles.len(), workers);
        part.add_node();
        part.nodes[0].boxes.set(0, &whole.aabb());
        part.nodes[0].links[0] = part.link;
    }
    part.nodes.shrink_to_fit();
    let leaves = leaves_of(&frame, &items, vertices, triangles, workers);
    MeshTree::new(frame, part.nodes, leaves)
}

/// Eight items to a leaf.
fn leaves_of(
    frame: &Frame,
    items: &[Item],
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    workers: &Workers,
) -> Vec<Leaf8> {
    let mut leaves = vec![Leaf8::new(iter::empty()); items.len().div_ceil(WIDTH)];
    workers.for_each_chunk(&mut leaves, LEAVES_PER_TASK, |task, leaves| {
        let own = &items[task * LEAVES_PER_TASK * WIDTH..];
        for (leaf, items) in leaves.iter_mut().zip(own.chunks(WIDTH)) {
            *leaf = Leaf8::new(items.iter().map(|item| item.triangle));
        }
        simd::run(Fit { frame, leaves, vertices, triangles });
    });
    leaves
}

/// Builds a part whose children may be built by other threads. `first` is the place of the items
/// in the order.
fn large(items: &mut [Item], first: usize, workers: &Workers) -> Part {
    if items.len() <= SMALL {
        return small(items, first);
    }
    let ranges = split_in_eight(items, 2, workers);
    let mut tasks: Vec<(Part, &mut [Item], usize)> = Vec::with_capacity(WIDTH);
    let mut rest = items;
    for part in &ranges {
        let (own, later) = rest.split_at_mut(part.range.len());
        tasks.push((Part::EMPTY, own, first + part.range.start));
        rest = later;
    }
    // The largest first, so that no thread is left with it at the end.
    tasks.sort_by_key(|(_, items, first)| (Reverse(items.len()), *first));
    workers.for_each(&mut tasks, |_, (part, items, first)| {
        *part = large(items, *first, workers);
    });
    tasks.sort_by_key(|(.., first)| *first);
    let mut whole = Part::EMPTY;
    let total: usize = tasks.iter().map(|(part, ..)| part.nodes.len()).sum();
    whole.nodes.reserve_exact(total + 1);
    whole.add_node();
    for (lane, (part, ..)) in tasks.iter().enumerate() {
        let begin = whole.nodes.len();
        whole.nodes[0].boxes.set(lane, &ranges[lane].aabb());
        whole.nodes[0].links[lane] = part.link.moved(begin);
        whole.nodes.extend_from_slice(&part.nodes);
        for node in &mut whole.nodes[begin..] {
            node.links = node.links.map(|link| link.moved(begin));
        }
    }
    whole
}

/// Builds a part on this thread.
fn small(items: &mut [Item], first: usize) -> Part {
    let mut part = Part::EMPTY;
    part.nodes.reserve(items.len() / 50 + 2);
    part.link = link_of(items, first, &mut part);
    part
}

/// The link to a leaf of items or a node over them, which is appended to the part with all that
/// is below it.
fn link_of(items: &mut [Item], first: usize, part: &mut Part) -> Link {
    if items.len() <= WIDTH {
        return Link::to_leaf(first / WIDTH);
    }
    let place = part.add_node();
    for (lane, spread) in split_in_eight(items, 1, &Workers::one()).into_iter().enumerate() {
        let start = first + spread.range.start;
        let link = link_of(&mut items[spread.range.clone()], start, part);
        part.nodes[place].boxes.set(lane, &spread.aabb());
        part.nodes[place].links[lane] = link;
    }
    Link::to_node(place)
}

/// A range, and the two that it falls into once that is known.
struct Piece {
    whole: Spread,
    halves: Option<[Spread; 2]>,
}

impl Piece {
    fn new(whole: Spread) -> Piece {
        Piece { whole, halves: None }
    }
}

/// Reorders items into up to eight ranges, more than eight items into at least two. Splits the
/// range of largest surface among those that are too large for a node above leaves; then replaces
/// such nodes by their leaves while there is room.
///
/// With an `ahead` of two the next largest is split at the same time by another thread, because it
/// is seldom not wanted afterwards. That too reorders items: so it depends on the number of items
/// alone and not on the number of threads.
fn split_in_eight(items: &mut [Item], ahead: usize, workers: &Workers) -> Vec<Spread> {
    let mut pieces = Vec::with_capacity(WIDTH);
    pieces.push(Piece::new(Spread::new(items, 0..items.len(), workers)));
    while pieces.len() < WIDTH {
        let Some(widest) = widest(&pieces, FULL + 1..usize::MAX, None) else { break };
        let next = if ahead > 1 && pieces.len() + 1 < WIDTH {
            self::widest(&pieces, FULL + 1..usize::MAX, Some(widest))
        } else {
            None
        };
        divide(items, &mut pieces, widest, next, workers);
    }
    while let Some(wanted) =
        widest(&pieces, WIDTH + 1..(WIDTH + 1 - pieces.len()) * WIDTH + 1, None)
    {
        let Range { start, end } = pieces[wanted].whole.range;
        let of_it = |piece: &Piece| {
            let range = &piece.whole.range;
            range.len() > WIDTH && (start..end).contains(&range.start)
        };
        while let Some(large) = pieces.iter().position(of_it) {
            divide(items, &mut pieces, large, None, workers);
        }
    }
    pieces.into_iter().map(|piece| piece.whole).collect()
}

/// Puts the halves of a piece in its place.
fn divide(
    items: &mut [Item],
    pieces: &mut Vec<Piece>,
    place: usize,
    next: Option<usize>,
    workers: &Workers,
) {
    if pieces[place].halves.is_none() {
        split_both(items, pieces, place, next, workers);
    }
    if let Some([one, other]) = pieces[place].halves.take() {
        pieces[place] = Piece::new(one);
        pieces.insert(place + 1, Piece::new(other));
    }
}

/// The piece of largest surface with a number of items in a range, but for one; the first among
/// equals.
fn widest(pieces: &[Piece], sizes: Range<usize>, but: Option<usize>) -> Option<usize> {
    let weight = |index: usize| {
        let whole = &pieces[index].whole;
        (whole.surface(), whole.range.len())
    };
    let open = |index: &usize| sizes.contains(&pieces[*index].whole.range.len());
    (0..pieces.len()).filter(|index| open(index) && Some(*index) != but).max_by(|&a, &b| {
        let ((x, n), (y, m)) = (weight(a), weight(b));
        x.total_cmp(&y).then(n.cmp(&m)).then(b.cmp(&a))
    })
}

/// Splits a piece, and at the same time another that is not split yet.
fn split_both(
    items: &mut [Item],
    pieces: &mut [Piece],
    widest: usize,
    next: Option<usize>,
    workers: &Workers,
) {
    let Some(next) = next.filter(|&next| pieces[next].halves.is_none()) else {
        let range = pieces[widest].whole.range.clone();
        pieces[widest].halves = Some(halves(&mut items[range], &pieces[widest].whole, workers));
        return;
    };
    let (low, high) = (widest.min(next), widest.max(next));
    let (one, other) = (&pieces[low].whole, &pieces[high].whole);
    let (below, above) = items.split_at_mut(other.range.start);
    let (below, above) = (&mut below[one.range.clone()], &mut above[..other.range.len()]);
    let (one, other) =
        workers.join(|| halves(below, one, workers), || halves(above, other, workers));
    (pieces[low].halves, pieces[high].halves) = (Some(one), Some(other));
}

/// Splits the items of a range.
fn halves(items: &mut [Item], whole: &Spread, workers: &Workers) -> [Spread; 2] {
    let middle = split(items, whole, workers);
    let Range { start, end } = whole.range;
    let mut one = Spread::new(items, 0..middle, workers);
    let mut other = Spread::new(items, middle..end - start, workers);
    (one.range, other.range) = (start..start + middle, start + middle..end);
    [one, other]
}
