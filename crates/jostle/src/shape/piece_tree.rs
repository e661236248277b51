//! [`PieceTree`]: boxes around the pieces of a compound, so that a question asks only near ones.
//!
//! A binary tree over the middles of the boxes, halved along the longest axis; one piece a leaf.
//! Few pieces have none: to look at all of them costs less.

use super::compound::Piece;
use glam::DVec3;

/// Compounds of fewer pieces are searched one by one.
pub(super) const FEW: usize = 12;

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct PieceTree {
    /// Parents before their children; the first child follows at once.
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    low: DVec3,
    high: DVec3,
    /// The piece of a leaf; the second child of an inner node.
    link: u32,
    leaf: bool,
}

impl PieceTree {
    /// A tree, if there are enough pieces for one.
    pub(super) fn new(pieces: &[Piece]) -> Option<PieceTree> {
        if pieces.len() < FEW {
            return None;
        }
        let around = |piece: &Piece| {
            let (low, high) = piece.shape.core_box(&piece.pose);
            let margin = piece.shape.margin();
            (low - margin, high + margin)
        };
        let boxes: Vec<(DVec3, DVec3)> = pieces.iter().map(around).collect();
        let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
        let mut tree = PieceTree { nodes: Vec::with_capacity(2 * pieces.len()) };
        tree.build(&boxes, &mut order);
        Some(tree)
    }

    fn build(&mut self, boxes: &[(DVec3, DVec3)], order: &mut [u32]) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &piece in order.iter() {
            low = low.min(boxes[piece as usize].0);
            high = high.max(boxes[piece as usize].1);
        }
        let at = self.nodes.len();
        self.nodes.push(Node { low, high, link: order[0], leaf: order.len() == 1 });
        if order.len() == 1 {
            return;
        }
        let axis = (high - low).max_position();
        let middle = |piece: u32| boxes[piece as usize].0[axis] + boxes[piece as usize].1[axis];
        let half = order.len() / 2;
        order.select_nth_unstable_by(half, |&one, &other| {
            middle(one).total_cmp(&middle(other)).then(one.cmp(&other))
        });
        let (first, second) = order.split_at_mut(half);
        self.build(boxes, first);
        self.nodes[at].link = self.nodes.len() as u32;
        self.build(boxes, second);
    }

    /// The box around all pieces.
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        (self.nodes[0].low, self.nodes[0].high)
    }

    /// Calls `visit` with the pieces whose boxes are no further than a limit, which it returns from
    /// then on; nearer boxes come first.
    pub(super) fn near(
        &self,
        bound: &dyn Fn(DVec3, DVec3) -> f64,
        limit: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        let least = bound(self.nodes[0].low, self.nodes[0].high);
        let mut limit = limit;
        self.descend(0, least, bound, &mut limit, visit);
    }

    fn descend(
        &self,
        at: usize,
        least: f64,
        bound: &dyn Fn(DVec3, DVec3) -> f64,
        limit: &mut f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        if least > *limit {
            return;
        }
        let node = &self.nodes[at];
        if node.leaf {
            *limit = visit(node.link);
            return;
        }
        let children = [at + 1, node.link as usize];
        let bounds = children.map(|child| bound(self.nodes[child].low, self.nodes[child].high));
        let first = usize::from(bounds[1] < bounds[0]);
        for k in [first, 1 - first] {
            self.descend(children[k], bounds[k], bound, limit, visit);
        }
    }
}
