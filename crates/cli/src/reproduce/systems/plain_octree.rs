//! [`PlainOctree`]: an octree that is not loose, as Tracy, Buss and Woods compare with.
//!
//! Space is halved along each axis; every leaf has an array of the boxes that reach into it, so a
//! box on a border is in several. A leaf that grows crowded is split, down to cells of about twice
//! the mean box: the paper chose its level for speed. A box that moves leaves the leaves of its old
//! bounds and enters those of its new ones; every step then passes over the arrays of all leaves
//! and tests each pair in the leaf that holds the greater of the two lower corners, so each pair is
//! found once. The paper says no more of its octree than that it has such arrays and spends its
//! time in them.
//!
//! Cells at the border of the world reach on without end, so no box lies outside.

use jostle::{Aabb, Boxes, BroadPhase, Error, Filter, Follower, PairBuffer, Report, Stats};

/// A leaf with more boxes is split.
const CROWDED: usize = 12;
/// The deepest level, whatever the sizes.
const DEEPEST: u32 = 9;

/// A cell. Leaves have no children.
#[derive(Clone, Debug)]
struct Node {
    center: [f32; 3],
    /// Half the side of a child.
    quarter: f32,
    depth: u32,
    /// The first of eight children in a row; 0 for a leaf.
    children: usize,
    boxes: Vec<u32>,
}

impl Node {
    fn leaf(center: [f32; 3], quarter: f32, depth: u32) -> Node {
        Node { center, quarter, depth, children: 0, boxes: Vec::new() }
    }

    /// The children that a box reaches into, one bit each.
    #[inline]
    fn reached(&self, aabb: &Aabb) -> u32 {
        const LOW: [u32; 3] = [0b0101_0101, 0b0011_0011, 0b0000_1111];
        (0..3).fold(0xff, |bits, k| {
            let low = if aabb.min[k] < self.center[k] { LOW[k] } else { 0 };
            let high = if aabb.max[k] >= self.center[k] { !LOW[k] & 0xff } else { 0 };
            bits & (low | high)
        })
    }

    /// The child that holds a corner.
    #[inline]
    fn side(&self, corner: [f32; 3]) -> usize {
        (0..3).map(|k| usize::from(corner[k] >= self.center[k]) << k).sum()
    }
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct PlainOctree {
    nodes: Vec<Node>,
    /// The bounds by which each box is stored.
    stored: Vec<Aabb>,
    deepest: u32,
    follower: Follower,
    built: usize,
    tests: u64,
}

impl PlainOctree {
    fn rebuild(&mut self, boxes: &Boxes) {
        let (center, side, deepest) = frame(boxes);
        self.deepest = deepest;
        self.nodes.clear();
        self.nodes.push(Node::leaf(center, side / 4.0, 0));
        self.stored = boxes.aabbs().to_vec();
        for slot in boxes.live_slots() {
            self.insert(slot.get(), &boxes.aabbs()[slot.index()]);
        }
        self.built = boxes.len();
    }

    fn insert(&mut self, slot: u32, aabb: &Aabb) {
        self.stored[slot as usize] = *aabb;
        self.enter(0, slot);
    }

    fn enter(&mut self, at: usize, slot: u32) {
        let children = self.nodes[at].children;
        if children == 0 {
            self.nodes[at].boxes.push(slot);
            if self.nodes[at].boxes.len() > CROWDED && self.nodes[at].depth < self.deepest {
                self.split(at);
            }
            return;
        }
        let reached = self.nodes[at].reached(&self.stored[slot as usize]);
        for child in (0..8).filter(|child| reached >> child & 1 == 1) {
            self.enter(children + child, slot);
        }
    }

    fn split(&mut self, at: usize) {
        let (center, quarter, depth) =
            (self.nodes[at].center, self.nodes[at].quarter, self.nodes[at].depth);
        let first = self.nodes.len();
        for child in 0..8usize {
            let place = |k: usize| center[k] + if child >> k & 1 == 1 { quarter } else { -quarter };
            self.nodes.push(Node::leaf([0, 1, 2].map(place), quarter / 2.0, depth + 1));
        }
        self.nodes[at].children = first;
        for slot in std::mem::take(&mut self.nodes[at].boxes) {
            self.enter(at, slot);
        }
    }

    fn remove(&mut self, at: usize, slot: u32) {
        let children = self.nodes[at].children;
        if children == 0 {
            let list = &mut self.nodes[at].boxes;
            if let Some(place) = list.iter().position(|&other| other == slot) {
                list.swap_remove(place);
            }
            return;
        }
        let reached = self.nodes[at].reached(&self.stored[slot as usize]);
        for child in (0..8).filter(|child| reached >> child & 1 == 1) {
            self.remove(children + child, slot);
        }
    }

    fn follow(&mut self, boxes: &Boxes) {
        let (changes, aabbs) = (boxes.changes(), boxes.aabbs());
        self.stored.resize(aabbs.len(), Aabb::default());
        for slot in changes.removed() {
            self.remove(0, slot.get());
        }
        for slot in changes.moved() {
            self.remove(0, slot.get());
            self.insert(slot.get(), &aabbs[slot.index()]);
        }
        for slot in changes.inserted() {
            self.insert(slot.get(), &aabbs[slot.index()]);
        }
    }

    /// The leaf that holds a corner.
    fn home(&self, corner: [f32; 3]) -> usize {
        let mut at = 0;
        while self.nodes[at].children != 0 {
            at = self.nodes[at].children + self.nodes[at].side(corner);
        }
        at
    }

    fn search(&mut self, filters: &[Filter], found: &mut PairBuffer) -> Result<(), Error> {
        self.tests = 0;
        for (at, node) in self.nodes.iter().enumerate() {
            for (place, &one) in node.boxes.iter().enumerate() {
                let aabb = &self.stored[one as usize];
                for &other in &node.boxes[place + 1..] {
                    let second = &self.stored[other as usize];
                    self.tests += 1;
                    if !aabb.overlaps(second) {
                        continue;
                    }
                    let corner = [0, 1, 2].map(|k| aabb.min[k].max(second.min[k]));
                    let allowed = filters[one as usize].allows(&filters[other as usize]);
                    if allowed && self.home(corner) == at {
                        found.lane().push(one, other)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Middle and side of the world, and the level at which cells are about twice the mean box; level 0
/// for a world without a finite extent.
fn frame(boxes: &Boxes) -> ([f32; 3], f32, u32) {
    let live = || boxes.live_slots().map(|slot| &boxes.aabbs()[slot.index()]);
    let (mut low, mut high, mut size) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3], 0.0);
    for aabb in live() {
        for k in 0..3 {
            low[k] = low[k].min(aabb.min[k]);
            high[k] = high[k].max(aabb.max[k]);
        }
        size += (0..3).map(|k| aabb.extent(k)).fold(0.0, f32::max) / boxes.len() as f32;
    }
    let side = (0..3).map(|k| high[k] - low[k]).fold(0.0, f32::max);
    let center = [0, 1, 2].map(|k| low[k] / 2.0 + high[k] / 2.0);
    if !side.is_finite() || side <= 0.0 || center.iter().any(|c| !c.is_finite()) {
        return ([0.0; 3], 1.0, 0);
    }
    let levels = (side / (2.0 * size.max(side / 1024.0))).log2().floor().max(0.0);
    (center, side, (levels as u32).min(DEEPEST))
}

impl BroadPhase for PlainOctree {
    fn name(&self) -> &str {
        "plain octree"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let follows = self.follower.begin(boxes) && boxes.len() <= 2 * self.built.max(64);
        match follows {
            true => self.follow(boxes),
            false => self.rebuild(boxes),
        }
        self.search(boxes.filters(), found)?;
        self.follower.done(boxes);
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        let lists: usize = self.nodes.iter().map(|node| 4 * node.boxes.capacity()).sum();
        let bytes = lists + self.nodes.capacity() * size_of::<Node>();
        Stats { tests: self.tests, bytes, ..Stats::default() }
    }
}
