//! [`Decomposition`]: which rank is responsible for which part of space.
//!
//! Space is halved along one axis, each half again, and so on until there is one region for each
//! rank (recursive coordinate bisection; Berger and Bokhari, *A partitioning strategy for
//! nonuniform problems on multiprocessors*, 1987). Every rank holds the whole tree: 16 bytes for
//! each rank of the job. Regions are half-open, below the cut and from the cut on, and the outer
//! ones reach to infinity, so every point, infinite ones included, lies in exactly one region.
//!
//! That gives the two rules on which everything else rests:
//!
//! - A box is **present** on every rank whose region it reaches.
//! - A pair **belongs** to the rank whose region holds the lowest corner of the intersection of
//!   its two boxes. That corner lies in both boxes, so both are present there.
//!
//! Both are functions of the bounds and the tree alone. Nobody has to remember who knows a box.

mod bisection;

pub use bisection::bisect;

use jostle::Aabb;

/// Marks a child that is a rank and not another cut.
const LEAF: u32 = 1 << 31;

/// A cut of a part of space.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cut {
    /// Points below this value lie in `below`, the others in `above`. Never positive infinity,
    /// which as an upper bound means that there is none.
    value: f32,
    axis: u32,
    below: u32,
    above: u32,
}

/// The part of space of one rank: from `lower` on and below `upper`; an upper bound of infinity
/// includes infinity itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    /// The lower corner, which belongs to the region.
    pub lower: [f32; 3],
    /// The upper corner, which does not, unless it is infinite.
    pub upper: [f32; 3],
}

impl Region {
    /// The whole space.
    pub const EVERYTHING: Region =
        Region { lower: [f32::NEG_INFINITY; 3], upper: [f32::INFINITY; 3] };

    /// Returns true if the point lies in the region.
    #[inline]
    pub fn contains(&self, point: [f32; 3]) -> bool {
        (0..3).all(|k| {
            self.lower[k] <= point[k]
                && (point[k] < self.upper[k] || self.upper[k] == f32::INFINITY)
        })
    }

    /// Returns true if every point of the box lies in the region: no other rank needs to know it.
    #[inline]
    pub fn encloses(&self, aabb: &Aabb) -> bool {
        self.contains(aabb.min) && self.contains(aabb.max)
    }

    /// Returns true if the box is present on the rank of this region.
    #[inline]
    pub fn meets(&self, aabb: &Aabb) -> bool {
        (0..3).all(|k| {
            self.lower[k] <= aabb.max[k]
                && (aabb.min[k] < self.upper[k] || self.upper[k] == f32::INFINITY)
        })
    }
}

/// The lowest corner of the intersection of two boxes that overlap.
#[inline]
pub fn lowest_common_corner(one: &Aabb, other: &Aabb) -> [f32; 3] {
    std::array::from_fn(|k| one.min[k].max(other.min[k]))
}

/// A tree of cuts with one region for each rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    cuts: Vec<Cut>,
    ranks: usize,
}

impl Decomposition {
    /// Everything belongs to the last of `ranks` ranks; the others have empty regions. What a
    /// job starts with, until boxes say where to cut.
    pub fn undivided(ranks: usize) -> Decomposition {
        let mut tree = Decomposition::with_ranks(ranks);
        // No point lies below this.
        tree.cuts.iter_mut().for_each(|cut| cut.value = f32::NEG_INFINITY);
        tree
    }

    /// The shape of the tree: each node's ranks are halved, in level order.
    fn with_ranks(ranks: usize) -> Decomposition {
        assert!(ranks > 0 && ranks < LEAF as usize, "between one and 2^31 ranks");
        let mut tree = Decomposition { cuts: Vec::with_capacity(ranks - 1), ranks };
        let mut level = vec![(0usize, ranks)];
        while !level.is_empty() {
            level.retain(|&(_, count)| count > 1);
            let first_child = tree.cuts.len() + level.len();
            let mut next = Vec::new();
            let mut splits = 0;
            for &(first, count) in &level {
                let half = count / 2;
                let mut child = |first: usize, count: usize| {
                    next.push((first, count));
                    if count == 1 {
                        return LEAF | first as u32;
                    }
                    splits += 1;
                    (first_child + splits - 1) as u32
                };
                let (below, above) = (child(first, half), child(first + half, count - half));
                tree.cuts.push(Cut { value: 0.0, axis: 0, below, above });
            }
            level = next;
        }
        tree
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.cuts.capacity() * size_of::<Cut>()
    }

    fn root(&self) -> u32 {
        if self.cuts.is_empty() { LEAF } else { 0 }
    }

    /// The rank whose region holds a point.
    #[inline]
    pub fn rank_of(&self, point: [f32; 3]) -> usize {
        let mut node = self.root();
        while node & LEAF == 0 {
            let cut = &self.cuts[node as usize];
            node = if point[cut.axis as usize] < cut.value { cut.below } else { cut.above };
        }
        (node & !LEAF) as usize
    }

    /// Writes the ranks on which a box is present, ascending. Stops and returns false after
    /// `most` of them.
    pub fn ranks_reached(&self, aabb: &Aabb, most: usize, reached: &mut Vec<u32>) -> bool {
        reached.clear();
        // Halving 2^31 ranks takes 31 levels, each leaving one node behind.
        let mut stack = [0u32; 40];
        let mut height = 1;
        stack[0] = self.root();
        while height > 0 {
            height -= 1;
            let mut node = stack[height];
            while node & LEAF == 0 {
                let cut = &self.cuts[node as usize];
                let axis = cut.axis as usize;
                let (below, above) = (aabb.min[axis] < cut.value, aabb.max[axis] >= cut.value);
                if below && above {
                    stack[height] = cut.above;
                    height += 1;
                }
                node = if below { cut.below } else { cut.above };
            }
            if reached.len() == most {
                return false;
            }
            reached.push(node & !LEAF);
        }
        true
    }

    /// The region of a rank.
    pub fn region(&self, rank: usize) -> Region {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let mut region = Region::EVERYTHING;
        let (mut first, mut count, mut node) = (0, self.ranks, self.root());
        while node & LEAF == 0 {
            let cut = &self.cuts[node as usize];
            let half = count / 2;
            let axis = cut.axis as usize;
            if rank < first + half {
                region.upper[axis] = region.upper[axis].min(cut.value);
                (count, node) = (half, cut.below);
            } else {
                region.lower[axis] = region.lower[axis].max(cut.value);
                (first, count, node) = (first + half, count - half, cut.above);
            }
        }
        region
    }
}

#[cfg(test)]
mod tests;
