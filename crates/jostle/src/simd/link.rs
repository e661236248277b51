//! [`LinkedNode`]: a node of a mesh's tree, eight boxes and what is below each.
//!
//! It is here because searches sort links along with the bounds of their lanes, in registers. Boxes
//! and links stand side by side, so that one check of a place and one address lead to both.

use super::node8::{Node8, WIDTH};

/// See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct LinkedNode {
    pub boxes: Node8,
    /// What is below each lane. Empty lanes lead nowhere: their boxes are NaN.
    pub links: [Link; WIDTH],
}

impl LinkedNode {
    /// Eight lanes without a box.
    pub(crate) const EMPTY: LinkedNode =
        LinkedNode { boxes: Node8::EMPTY, links: [Link::ROOT; WIDTH] };
}

/// Bit of a link that says it is to a leaf.
const LEAF: u32 = 1 << 31;

/// What is below a lane of a node, by its place; in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Link(u32);

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// A node, by its place.
    Node(u32),
    /// A leaf, by its place.
    Leaf(u32),
}

impl Link {
    /// The node that all others are below.
    pub(crate) const ROOT: Link = Link(0);

    /// Leads nowhere; no leaf has this place.
    pub(crate) const NONE: Link = Link(u32::MAX);

    pub(crate) fn to_node(place: usize) -> Link {
        Link(place as u32)
    }

    pub(crate) fn to_leaf(place: usize) -> Link {
        Link(place as u32 | LEAF)
    }

    /// The link after a number of nodes was put before all others.
    pub(crate) fn moved(self, by: usize) -> Link {
        if self.0 & LEAF == 0 { Link(self.0 + by as u32) } else { self }
    }

    /// The place of a leaf, if this leads to one.
    #[inline(always)]
    pub(crate) fn leaf(self) -> Option<usize> {
        (self.0 & LEAF != 0).then_some((self.0 & !LEAF) as usize)
    }

    /// The place of a node; only if this does not lead to a leaf.
    #[inline(always)]
    pub(crate) fn node(self) -> usize {
        self.0 as usize
    }

    #[inline(always)]
    pub(crate) fn child(self) -> Child {
        if self.0 & LEAF == 0 { Child::Node(self.0) } else { Child::Leaf(self.0 & !LEAF) }
    }
}
