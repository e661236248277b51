//! Builds a [`MeshTree`]: surface area heuristic, in eights.
//!
//! Ranges of triangles are [`split`](super::split) at multiples of eight. So every leaf but the
//! last is full, which keeps the tree at half the memory of free splits. Eight children come from
//! splitting the child of largest surface again and again, as long as it is too large for a node
//! whose children are leaves; if there is room left, such nodes are replaced by their leaves. That
//! makes fewer nodes with more children: 6 instead of 9 bytes a triangle, for as many visits.
//!
//! How a range is split depends on the range alone, not on the node that it will be in. So large
//! ranges are first split in halves again and again, both halves at the same time, and nodes then
//! find their splits made. Large nodes hand their children to other threads. Small subtrees are
//! built by one thread in an array of their own, and all are put together in a fixed order: the
//! tree does not depend on the number of threads. Ties are broken by the number of the triangle.
//! What is left to one thread is moving triangles to their sides of the root's split, and putting
//! nodes together. Arrays are first written by the threads that fill them, as the system hands out
//! memory when it is written.
//!
//! Two threads share work from both ends: the calling one begins with the first triangles and the
//! other with the last, in every pass, so that each finds in its own cache most of what it wrote in
//! the pass before. How much that is worth depends on the cores. Two of one virtual machine that
//! hand a word back and forth in 110 ns, and so share a cache, build 1.87 to 1.95 times as fast as
//! one; two meshes at the same time, one on each, are 1.80 to 1.93 times as fast, so that there is
//! nothing left to gain. On the same machine at another time the word took 370 ns: 1.6 to 1.8
//! times, and 1.5 to 1.7 before work was shared so (`Mesh::with_workers`, least of 10 to 200
//! builds, meshes of 5 002 to 387 872 triangles). `jostle-bench mesh-rivals` times two builds at
//! once, too.
//!
//! Tried and dropped:
//! - Putting triangles before, in and after the bin of a split side by side in a second array and
//!   selecting only within that bin, with both passes shared by threads. Next to parry3d-f64
//!   (`jostle-bench mesh-rivals`, four meshes of 5 002 to 129 032 triangles) it was 3 hundredths
//!   faster with one thread and 5 with two, which is noise, and two threads took 0.89 of the time
//!   of one on the largest mesh, 0.72 without it.
//! - Subtrees of at most 512 triangles for one thread: no faster with two simulated threads, and a
//!   tenth slower with one on `spot.ply`.
//! - Splitting ahead no further than what one thread builds: nodes also take small ranges of large
//!   surface apart, and then one thread does while the others wait. Runs disagreed on how much
//!   that costs.
//! - Threads that stay awake when what woke them is done before they are up: no difference.

use std::ops::Range;

use super::split::{Item, SHARED, Spread, split};
use super::tree::{Fit, Frame, LEAVES_PER_TASK, Link, LinkedNode, MeshTree, triangle_box};
use crate::aabb::Aabb;
use crate::par::Workers;
use crate::simd;
use crate::simd::leaf8::Leaf8;
use crate::simd::new_list::new_list;
use crate::simd::node8::WIDTH;
use glam::DVec3;

/// Triangles below a node whose children are leaves.
const FULL: usize = WIDTH * WIDTH;

/// Triangles of a subtree that one thread builds.
const SMALL: usize = 1 << 10;

/// Triangles of a piece that is split ahead: a node of a large mesh takes smaller pieces apart too,
/// if their surface is large.
const AHEAD: usize = 1 << 8;

/// Triangles of a piece whose halves are split at the same time: handing over less takes longer
/// than it saves.
const JOINED: usize = 1 << 10;

/// How deep pieces are split ahead. Halves are seldom so uneven that it takes more levels; then the
/// rest is split when its node is made, and no mesh makes the recursion deep. Unit tests come
/// across it with fewer triangles.
const MOST_AHEAD: usize = if cfg!(test) { 4 } else { 32 };

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
    let mut items = new_list(triangles.len(), ITEMS_PER_TASK, workers, |triangle| {
        let corners = triangles[triangle].map(|vertex| vertices[vertex as usize]);
        Item::new(&triangle_box(&frame, &corners), triangle as u32)
    });
    let whole = Spread::new(&mut items, 0, workers);
    let bounds = whole.aabb();
    let piece = ahead(&mut items, whole, MOST_AHEAD, workers);
    let mut part = large(&mut items, piece, workers);
    if part.nodes.is_empty() {
        // A single leaf gets a node above it.
        part.add_node();
        part.nodes[0].boxes.set(0, &bounds);
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
    let count = items.len().div_ceil(WIDTH);
    let mut leaves = new_list(count, LEAVES_PER_TASK, workers, |leaf| {
        let own = items[leaf * WIDTH..].iter().take(WIDTH);
        Leaf8::new(own.map(|item| item.triangle()))
    });
    workers.for_each_chunk_from_ends(&mut leaves, LEAVES_PER_TASK, |_, leaves| {
        simd::run(Fit { frame, leaves, vertices, triangles });
    });
    leaves
}

/// Splits large pieces ahead of the nodes that they will be in, halves at the same time.
fn ahead(items: &mut [Item], whole: Spread, most: usize, workers: &Workers) -> Piece {
    if items.len() <= AHEAD || most == 0 {
        return Piece::new(whole);
    }
    let [one, other] = halves(items, &whole, workers);
    let many = items.len() >= JOINED;
    let (below, above) = items.split_at_mut(one.range.len());
    let one = || ahead(below, one, most - 1, workers);
    let other = || ahead(above, other, most - 1, workers);
    let (one, other) = if many { workers.join(one, other) } else { (one(), other()) };
    Piece { whole, halves: Some(Box::new([one, other])) }
}

/// A child of a large node.
struct Task<'a> {
    piece: Option<Piece>,
    items: &'a mut [Item],
    bounds: Aabb,
    part: Part,
}

/// Builds a part whose children may be built by other threads.
fn large(items: &mut [Item], piece: Piece, workers: &Workers) -> Part {
    if items.len() <= SMALL {
        return small(items, piece);
    }
    let pieces = split_in_eight(items, piece, workers);
    let mut tasks: Vec<Task<'_>> = Vec::with_capacity(WIDTH);
    let mut rest = items;
    for piece in pieces {
        let Range { start: first, end } = piece.whole.range;
        let bounds = piece.whole.aabb();
        let (items, later) = rest.split_at_mut(end - first);
        tasks.push(Task { piece: Some(piece), items, bounds, part: Part::EMPTY });
        rest = later;
    }
    workers.for_each_from_ends(&mut tasks, |_, task| {
        if let Some(piece) = task.piece.take() {
            task.part = large(task.items, piece, workers);
        }
    });
    let mut whole = Part::EMPTY;
    let total: usize = tasks.iter().map(|task| task.part.nodes.len()).sum();
    whole.nodes.reserve_exact(total + 1);
    whole.add_node();
    for (lane, Task { part, bounds, .. }) in tasks.iter().enumerate() {
        let begin = whole.nodes.len();
        whole.nodes[0].boxes.set(lane, bounds);
        whole.nodes[0].links[lane] = part.link.moved(begin);
        whole.nodes.extend_from_slice(&part.nodes);
        for node in &mut whole.nodes[begin..] {
            node.links = node.links.map(|link| link.moved(begin));
        }
    }
    whole
}

/// Builds a part on this thread.
fn small(items: &mut [Item], piece: Piece) -> Part {
    let mut part = Part::EMPTY;
    part.nodes.reserve(items.len() / 50 + 2);
    part.link = link_of(items, piece, &mut part);
    part
}

/// The link to a leaf of items or a node over them, which is appended to the part with all that
/// is below it.
fn link_of(items: &mut [Item], piece: Piece, part: &mut Part) -> Link {
    let first = piece.whole.range.start;
    if items.len() <= WIDTH {
        return Link::to_leaf(first / WIDTH);
    }
    let place = part.add_node();
    for (lane, piece) in split_in_eight(items, piece, &Workers::one()).into_iter().enumerate() {
        let Range { start, end } = piece.whole.range;
        let bounds = piece.whole.aabb();
        let link = link_of(&mut items[start - first..end - first], piece, part);
        part.nodes[place].boxes.set(lane, &bounds);
        part.nodes[place].links[lane] = link;
    }
    Link::to_node(place)
}

/// A range, and the two that it falls into if that is known.
struct Piece {
    whole: Spread,
    halves: Option<Box<[Piece; 2]>>,
}

impl Piece {
    fn new(whole: Spread) -> Piece {
        Piece { whole, halves: None }
    }
}

/// Reorders items into up to eight ranges, more than eight items into at least two. Splits the
/// range of largest surface among those that are too large for a node above leaves; then replaces
/// such nodes by their leaves while there is room.
fn split_in_eight(items: &mut [Item], piece: Piece, workers: &Workers) -> Vec<Piece> {
    let first = piece.whole.range.start;
    let mut pieces = Vec::with_capacity(WIDTH);
    pieces.push(piece);
    while pieces.len() < WIDTH {
        let Some(widest) = widest(&pieces, FULL + 1..usize::MAX) else { break };
        divide(items, first, &mut pieces, widest, workers);
    }
    while let Some(wanted) = widest(&pieces, WIDTH + 1..(WIDTH + 1 - pieces.len()) * WIDTH + 1) {
        let Range { start, end } = pieces[wanted].whole.range;
        let of_it = |piece: &Piece| {
            let range = &piece.whole.range;
            range.len() > WIDTH && (start..end).contains(&range.start)
        };
        while let Some(large) = pieces.iter().position(of_it) {
            divide(items, first, &mut pieces, large, workers);
        }
    }
    pieces
}

/// Puts the halves of a piece in its place. `first` is the place of the first item.
fn divide(
    items: &mut [Item],
    first: usize,
    pieces: &mut Vec<Piece>,
    place: usize,
    workers: &Workers,
) {
    let piece = &mut pieces[place];
    let [one, other] = if let Some(halves) = piece.halves.take() {
        *halves
    } else {
        let Range { start, end } = piece.whole.range;
        halves(&mut items[start - first..end - first], &piece.whole, workers).map(Piece::new)
    };
    pieces[place] = one;
    pieces.insert(place + 1, other);
}

/// The piece of largest surface with a number of items in a range; the first among equals.
fn widest(pieces: &[Piece], sizes: Range<usize>) -> Option<usize> {
    let weight = |index: usize| {
        let whole = &pieces[index].whole;
        (whole.surface(), whole.range.len())
    };
    let open = |index: &usize| sizes.contains(&pieces[*index].whole.range.len());
    (0..pieces.len()).filter(open).max_by(|&a, &b| {
        let ((x, n), (y, m)) = (weight(a), weight(b));
        x.total_cmp(&y).then(n.cmp(&m)).then(b.cmp(&a))
    })
}

/// Splits the items of a range.
fn halves(items: &mut [Item], whole: &Spread, workers: &Workers) -> [Spread; 2] {
    let middle = split(items, whole, workers);
    let (start, many) = (whole.range.start, items.len() >= SHARED);
    let (one, other) = items.split_at_mut(middle);
    if many {
        let (one, other) = workers.join(
            || Spread::new(one, start, workers),
            || Spread::new(other, start + middle, workers),
        );
        return [one, other];
    }
    [Spread::new(one, start, workers), Spread::new(other, start + middle, workers)]
}
