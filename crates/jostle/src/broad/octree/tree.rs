//! [`LooseTree`]: the nodes, and the lists of boxes in them.

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::pair::LimitReached;

/// The deepest nodes. Away from the origin [`Cube::can_be_cut`] stops long before, at the precision
/// of f32; towards the origin coordinates become finer and finer.
const DEEPEST: u32 = 250;

/// A node with more boxes than this is split, if some of them fit into its children.
const CROWD: u32 = 8;

const NONE: u32 = u32::MAX;

/// A cell. In f64, so that cells as small as a step of f32 are cut without rounding to speak of,
/// far from the origin as well as among denormals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cube {
    pub centre: [f64; 3],
    /// Half the side of the cell itself; its loose bounds reach out twice as far.
    pub half: f64,
    /// Axes along which it is cut.
    pub axes: [bool; 3],
}

impl Cube {
    /// The loose bounds of the lower and the upper children along an axis. Insertion and search
    /// both compare with exactly these numbers.
    #[inline(always)]
    fn loose(&self, axis: usize) -> [(f64, f64); 2] {
        if !self.axes[axis] {
            return [(f64::NEG_INFINITY, f64::INFINITY); 2];
        }
        let (centre, half) = (self.centre[axis], self.half);
        [(centre - 1.5 * half, centre + 0.5 * half), (centre - 0.5 * half, centre + 1.5 * half)]
    }

    #[inline(always)]
    fn child(&self, octant: usize) -> Cube {
        let half = 0.5 * self.half;
        let centre = std::array::from_fn(|k| {
            let side = if octant >> k & 1 == 1 { half } else { -half };
            if self.axes[k] { self.centre[k] + side } else { self.centre[k] }
        });
        Cube { centre, half, axes: self.axes }
    }

    /// The child whose loose bounds hold a box: that of its centre, if the box is small enough.
    #[inline]
    fn octant_for(&self, aabb: &Aabb) -> Option<usize> {
        let mut octant = 0;
        for k in 0..3 {
            let (min, max) = (f64::from(aabb.min[k]), f64::from(aabb.max[k]));
            let upper = usize::from(self.axes[k] && 0.5 * (min + max) >= self.centre[k]);
            let (low, high) = self.loose(k)[upper];
            if min < low || max > high {
                return None;
            }
            octant |= upper << k;
        }
        self.can_be_cut().then_some(octant)
    }

    /// Returns false if the cell is as small as the steps between the bounds of boxes there, or if
    /// there is no axis to cut. Rounding is many times smaller than that, and the loose bounds of
    /// a child's children are a quarter of the cell inside the child's own.
    fn can_be_cut(&self) -> bool {
        let used = |k: usize| if self.axes[k] { self.centre[k].abs() } else { 0.0 };
        let largest = used(0).max(used(1)).max(used(2));
        self.axes != [false; 3]
            && self.half > 0.25 * f64::from(f32::from_bits(1))
            && self.half > 0.25 * f64::from(f32::EPSILON) * largest
    }

    /// The children whose loose bounds overlap a box, one bit each.
    #[inline(always)]
    fn touched(&self, aabb: &Aabb) -> u32 {
        const UPPER: [u32; 3] = [0b1010_1010, 0b1100_1100, 0b1111_0000];
        let mut touched = 0xFF;
        for k in 0..3 {
            let [lower, upper] = self.loose(k);
            let (min, max) = (f64::from(aabb.min[k]), f64::from(aabb.max[k]));
            let meets =
                |(low, high): (f64, f64)| u32::from((min <= high) & (max >= low)).wrapping_neg();
            touched &= (meets(lower) & !UPPER[k]) | (meets(upper) & UPPER[k]);
        }
        touched
    }
}

#[derive(Clone, Debug)]
struct Node {
    cube: Cube,
    children: [u32; 8],
    /// The first box of its list.
    first: u32,
    /// Boxes in its list.
    own: u32,
    /// Boxes in its list and below.
    total: u32,
    parent: u32,
    depth: u8,
    octant: u8,
    /// Boxes that fit into a child go there.
    split: bool,
}

impl Node {
    fn new(cube: Cube, parent: u32, octant: usize, depth: u8) -> Node {
        Node {
            cube,
            children: [NONE; 8],
            first: NONE,
            own: 0,
            total: 0,
            parent,
            depth,
            octant: octant as u8,
            split: false,
        }
    }
}

/// A box's place: its node and its neighbours in the node's list.
#[derive(Clone, Copy, Debug)]
struct Link {
    node: u32,
    next: u32,
    prev: u32,
}

const NO_LINK: Link = Link { node: NONE, next: NONE, prev: NONE };

#[derive(Clone, Debug, Default)]
pub(super) struct LooseTree {
    /// The first nodes are the roots, one for each group.
    nodes: Vec<Node>,
    free: Vec<u32>,
    links: Vec<Link>,
    roots: usize,
    /// The most nodes that may be in use.
    most: usize,
}

impl LooseTree {
    /// Cell, depth and number of boxes, below it too, of every node that holds some.
    pub(super) fn cells(&self) -> impl Iterator<Item = (Cube, u8, u32)> {
        let held = self.nodes.iter().filter(|node| node.total > 0);
        held.map(|node| (node.cube, node.depth, node.total))
    }

    pub(super) fn clear(&mut self, cube: Cube, roots: usize, boxes: &Boxes) {
        self.nodes.clear();
        self.free.clear();
        self.nodes.extend((0..roots).map(|_| Node::new(cube, NONE, 0, 0)));
        self.roots = roots;
        self.most = boxes.len() / 2 + 64;
        self.free.reserve(self.most);
        self.links.clear();
        self.links.reserve_exact(boxes.slots());
        self.grow(boxes);
    }

    pub(super) fn grow(&mut self, boxes: &Boxes) {
        self.links.resize(self.links.len().max(boxes.slots()), NO_LINK);
    }

    /// Returns true if the bound on the nodes suits the number of boxes.
    pub(super) fn fits(&self, boxes: usize) -> bool {
        (boxes / 2..2 * boxes + 256).contains(&self.most)
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.free.capacity() * 4
            + self.links.capacity() * size_of::<Link>()
    }

    pub(super) fn nodes(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    /// Boxes that no cell below a root holds.
    pub(super) fn unbounded(&self) -> usize {
        self.nodes[..self.roots].iter().map(|root| root.own as usize).sum()
    }

    pub(super) fn holds(&self, slot: usize) -> bool {
        self.links.get(slot).is_some_and(|link| link.node != NONE)
    }

    pub(super) fn insert(&mut self, slot: u32, root: usize, aabbs: &[Aabb]) {
        let mut at = root as u32;
        let aabb = &aabbs[slot as usize];
        loop {
            self.nodes[at as usize].total += 1;
            match self.child_for(at, aabb) {
                Some(child) => at = child,
                None => break,
            }
        }
        self.link(slot, at);
        let node = &self.nodes[at as usize];
        // A crowd that could not be split is tried again when it has doubled.
        let crowded = node.own > CROWD && (node.own.is_power_of_two() || node.own == CROWD + 1);
        if crowded && !node.split {
            self.split(at, aabbs);
        }
    }

    /// The child of a split node that holds a box, created if need be.
    fn child_for(&mut self, at: u32, aabb: &Aabb) -> Option<u32> {
        let node = &self.nodes[at as usize];
        if !node.split || u32::from(node.depth) >= DEEPEST {
            return None;
        }
        let octant = node.cube.octant_for(aabb)?;
        let child = node.children[octant];
        if child != NONE { Some(child) } else { self.make_child(at, octant) }
    }

    fn make_child(&mut self, at: u32, octant: usize) -> Option<u32> {
        if self.nodes() >= self.most {
            return None;
        }
        let parent = &self.nodes[at as usize];
        let child = Node::new(parent.cube.child(octant), at, octant, parent.depth + 1);
        let place = match self.free.pop() {
            Some(place) => {
                self.nodes[place as usize] = child;
                place
            }
            None => {
                self.nodes.push(child);
                self.nodes.len() as u32 - 1
            }
        };
        self.nodes[at as usize].children[octant] = place;
        Some(place)
    }

    /// Moves the boxes of a node that fit into children down, and so on below.
    fn split(&mut self, at: u32, aabbs: &[Aabb]) {
        // Copies of one box would go down together, a chain of nodes for nothing.
        if self.are_copies(at, aabbs) {
            return;
        }
        self.nodes[at as usize].split = true;
        let mut slot = self.nodes[at as usize].first;
        let mut any = false;
        while slot != NONE {
            let next = self.links[slot as usize].next;
            if let Some(child) = self.child_for(at, &aabbs[slot as usize]) {
                self.unlink(slot);
                self.link(slot, child);
                self.nodes[child as usize].total += 1;
                any = true;
            }
            slot = next;
        }
        self.nodes[at as usize].split = any;
        for child in self.nodes[at as usize].children {
            if child != NONE && self.nodes[child as usize].own > CROWD {
                self.split(child, aabbs);
            }
        }
    }

    fn are_copies(&self, at: u32, aabbs: &[Aabb]) -> bool {
        let first = self.nodes[at as usize].first;
        let mut list = self.list(first);
        list.all(|slot| aabbs[slot as usize].same(&aabbs[first as usize]))
    }

    /// The boxes of a list, from one of them on.
    fn list(&self, first: u32) -> impl Iterator<Item = u32> {
        let real = |slot: u32| Some(slot).filter(|&slot| slot != NONE);
        std::iter::successors(real(first), move |&slot| real(self.links[slot as usize].next))
    }

    fn link(&mut self, slot: u32, at: u32) {
        let node = &mut self.nodes[at as usize];
        node.own += 1;
        let next = std::mem::replace(&mut node.first, slot);
        if next != NONE {
            self.links[next as usize].prev = slot;
        }
        self.links[slot as usize] = Link { node: at, next, prev: NONE };
    }

    fn unlink(&mut self, slot: u32) {
        let Link { node, next, prev } = self.links[slot as usize];
        if next != NONE {
            self.links[next as usize].prev = prev;
        }
        if prev != NONE {
            self.links[prev as usize].next = next;
        } else {
            self.nodes[node as usize].first = next;
        }
        self.nodes[node as usize].own -= 1;
        self.links[slot as usize] = NO_LINK;
    }

    pub(super) fn remove(&mut self, slot: u32) {
        let mut at = self.links[slot as usize].node;
        self.unlink(slot);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            node.total -= 1;
            let (parent, octant, empty) = (node.parent, node.octant, node.total == 0);
            if empty && parent != NONE {
                self.nodes[parent as usize].children[usize::from(octant)] = NONE;
                self.free.push(at);
            } else if empty {
                node.split = false;
            }
            at = parent;
        }
    }

    /// Returns true if a box that moved may stay in its node: the loose bounds hold it, and it
    /// belongs no deeper. In a root it may always stay, unless a child can take it.
    pub(super) fn still_holds(&self, slot: u32, aabb: &Aabb) -> bool {
        let node = &self.nodes[self.links[slot as usize].node as usize];
        let within = node.parent == NONE || {
            let cube = &self.nodes[node.parent as usize].cube;
            (0..3).all(|k| {
                let (low, high) = cube.loose(k)[usize::from(node.octant >> k & 1)];
                low <= f64::from(aabb.min[k]) && f64::from(aabb.max[k]) <= high
            })
        };
        within && !(node.split && node.cube.octant_for(aabb).is_some())
    }

    /// Shows the boxes at a node and below that overlap a box and have larger slots. Recurses at
    /// most [`DEEPEST`] times.
    pub(super) fn search<F>(
        &self,
        at: u32,
        (slot, aabb): (u32, &Aabb),
        aabbs: &[Aabb],
        tests: &mut u64,
        show: &mut F,
    ) -> Result<(), LimitReached>
    where
        F: FnMut(u32) -> Result<(), LimitReached>,
    {
        let node = &self.nodes[at as usize];
        *tests += u64::from(node.own);
        let mut other = node.first;
        while other != NONE {
            if other > slot && aabbs[other as usize].overlaps(aabb) {
                show(other)?;
            }
            other = self.links[other as usize].next;
        }
        if node.total == node.own {
            return Ok(());
        }
        let mut touched = node.cube.touched(aabb);
        while touched != 0 {
            let child = node.children[touched.trailing_zeros() as usize];
            touched &= touched - 1;
            if child != NONE {
                self.search(child, (slot, aabb), aabbs, tests, show)?;
            }
        }
        Ok(())
    }

    /// Panics if a box is not in the node it belongs to.
    pub(super) fn validate(&self, boxes: &Boxes) {
        for id in boxes.live_slots() {
            assert!(self.holds(id.index()), "box {id} is in no node");
            let aabb = &boxes.aabbs()[id.index()];
            let link = &self.links[id.index()];
            let node = &self.nodes[link.node as usize];
            let mut list = self.list(node.first);
            assert!(list.any(|slot| slot == id.get()), "box {id} is not in its node's list");
            self.validate_path(link.node, aabb);
        }
        let roots = &self.nodes[..self.roots];
        let held: usize = roots.iter().map(|root| root.total as usize).sum();
        assert_eq!(held, boxes.len(), "boxes held against boxes there");
    }

    /// Every node from that of the box upwards must hold it, or the search would stop above it.
    fn validate_path(&self, mut at: u32, aabb: &Aabb) {
        while self.nodes[at as usize].parent != NONE {
            let node = &self.nodes[at as usize];
            let cube = &self.nodes[node.parent as usize].cube;
            for k in 0..3 {
                let (low, high) = cube.loose(k)[usize::from(node.octant >> k & 1)];
                let (min, max) = (f64::from(aabb.min[k]), f64::from(aabb.max[k]));
                assert!(low <= min && max <= high, "{aabb:?} sticks out");
            }
            at = node.parent;
        }
    }
}
