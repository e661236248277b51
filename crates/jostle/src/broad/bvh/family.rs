//! [`Family`]: the eight blocks of a node of level 1, which search a tree together.
//!
//! Blocks one by one would all look at the same nodes. Together they look at the bounds of a node
//! once, with eight tests in one, and only those that meet it go on to the blocks below.

use crate::filter::Filter;
use crate::simd::Simd;
use crate::simd::node8::{Node8, NodeTests, WIDTH};
use crate::simd::places::Places;

use super::self_pairs::each;
use super::tree::View;

/// No node has this number.
pub(super) const NO_NODE: usize = usize::MAX;

/// How many reached nodes are searched at a time. Most families reach a few dozen; in a pile of
/// boxes in one place, which all meet, this bounds the memory of the lists.
pub(super) const NODES_AT_ONCE: usize = 512;

/// See the [module](self).
#[derive(Clone, Copy)]
pub(super) struct Family<'a> {
    /// The bounds of the blocks.
    pub blocks: Node8,
    /// Those that search, as a mask.
    pub searching: u32,
    /// Their joined filters, if there are filters.
    pub filters: Option<&'a [Filter]>,
    /// If they search their own tree for what comes later, the node they are of; else [`NO_NODE`].
    pub own: usize,
}

/// Two blocks whose bounds meet, in one number: the node of the second, the lane of the first in
/// its family, and the lane of the second in its node. The numbers of a family ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Met {
    /// The lane of the block that searches.
    pub own: usize,
    pub node: usize,
    pub lane: usize,
}

impl Met {
    #[inline(always)]
    pub(super) fn of(key: u32) -> Met {
        let key = key as usize;
        Met { own: key / WIDTH % WIDTH, node: key / (WIDTH * WIDTH), lane: key % WIDTH }
    }

    /// The block that was found.
    #[inline(always)]
    pub(super) fn block(&self) -> usize {
        self.node * WIDTH + self.lane
    }
}

/// One box of a family and a block that it is to be tested against, in one number: where the block
/// is behind the first one of the nodes that are searched at a time, the lane of the box's block in
/// its family, and the lane of the box. So a test needs its own entry of a list and no other. With
/// the place of a [`Met`] in its list instead, and hits written to bytes of words by that place, a
/// test took half as long again: 3.5 ns where it takes 2.2, by a program that repeats this loop
/// alone with boxes in the nearest cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub block: usize,
    pub own: usize,
    pub lane: usize,
}

impl Place {
    /// The number of the box in lane 0; that of another is as much larger as its lane.
    #[inline(always)]
    pub(super) fn base(met: &Met, first_node: u32) -> u32 {
        let block = met.block() - first_node as usize * WIDTH;
        ((block * WIDTH + met.own) * WIDTH) as u32
    }

    #[inline(always)]
    pub(super) fn of(place: u32) -> Place {
        let place = place as usize;
        Place { block: place / (WIDTH * WIDTH), own: place / WIDTH % WIDTH, lane: place % WIDTH }
    }
}

/// How far apart nodes may be that are searched at a time, so that a [`Place`] is one word. Unit
/// tests come across it with small trees.
const MOST_APART: u32 = if cfg!(test) { 1 << 6 } else { 1 << 23 };

/// The parts of an ascending list of reached nodes that are searched at a time.
#[inline(always)]
pub(super) fn parts(nodes: &[u32]) -> impl Iterator<Item = &[u32]> {
    parts_of(nodes, NODES_AT_ONCE, MOST_APART)
}

/// Parts of at most `length` nodes whose last is less than `apart` from the first.
#[inline(always)]
fn parts_of(nodes: &[u32], length: usize, apart: u32) -> impl Iterator<Item = &[u32]> {
    let mut rest = nodes;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let near = &rest[..rest.len().min(length)];
        let count = match near.last() {
            Some(last) if last - first >= apart => {
                near.partition_point(|node| node - first < apart)
            }
            _ => near.len(),
        };
        let (part, after) = rest.split_at(count);
        rest = after;
        Some(part)
    })
}

impl Family<'_> {
    /// Appends to `listed` the blocks below the reached nodes of a tree that each block meets, as
    /// [`Met`] reads them. Each entry of `opened` is a node times eight plus the lane of a block
    /// that meets it.
    #[inline(always)]
    pub(super) fn list<S: Simd>(
        &self,
        simd: S,
        tree: &View<'_>,
        reached: &[u32],
        opened: &mut Vec<u32>,
        listed: &mut Vec<u32>,
    ) {
        if tree.depth() == 1 {
            // One block, without bounds.
            opened.clear();
            each(self.searching, |own| listed.push((own * WIDTH) as u32));
            return;
        }
        let mut near = Places::within(opened, reached.len());
        for &node in reached {
            let mask = simd.overlapping(&self.blocks, &tree.family_bounds(node as usize));
            near.push(simd, mask & self.searching, node * WIDTH as u32);
        }
        drop(near);
        let nodes = tree.nodes();
        let mut met = Places::after(listed, opened.len());
        for &open in opened.iter() {
            let (node, own) = (open as usize / WIDTH, open as usize % WIDTH);
            let mut mask = simd.meeting(&nodes[node], &self.blocks, own);
            if let Some(filters) = self.filters {
                mask &= tree.admitted(1, node, &filters[own], mask);
            }
            let later = if node == self.own { 0xfe << own } else { 0xff };
            met.push(simd, mask & later, open * WIDTH as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_are_short_near_and_as_large_as_they_may_be(
            nodes in prop::collection::btree_set(0u32..300, 0..80),
            length in 1usize..20,
            apart in 1u32..60,
        ) {
            let nodes: Vec<u32> = nodes.into_iter().collect();
            let parts: Vec<&[u32]> = parts_of(&nodes, length, apart).collect();
            prop_assert_eq!(&parts.concat(), &nodes);
            for part in &parts {
                prop_assert!((1..=length).contains(&part.len()));
                prop_assert!(part[part.len() - 1] - part[0] < apart);
            }
            for two in parts.windows(2) {
                prop_assert!(two[0].len() == length || two[1][0] - two[0][0] >= apart);
            }
        }

        #[test]
        fn a_place_names_its_block_and_its_box(
            first in 0u32..1 << 20,
            node in 0u32..1 << 23,
            own in 0usize..8,
            lanes in [0usize..8, 0..8],
        ) {
            let met = Met { own, node: (first + node) as usize, lane: lanes[0] };
            let place = Place::of(Place::base(&met, first) + lanes[1] as u32);
            prop_assert_eq!(first as usize * WIDTH + place.block, met.block());
            prop_assert_eq!((place.own, place.lane), (own, lanes[1]));
        }
    }
}
