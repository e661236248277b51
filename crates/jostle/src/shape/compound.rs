//! [`Compound`]: several convex pieces that move as one.

use super::error::ShapeError;
use super::piece_tree::PieceTree;
use super::{Pose, PoseMatrix, Shape, next_identity, round_radius};
use glam::DVec3;

/// One piece of a [`Compound`].
#[derive(Clone, Debug)]
pub struct Piece {
    /// The piece, in its own space.
    pub shape: Shape,
    /// Where the piece is in the compound's space.
    pub pose: Pose,
    matrix: PoseMatrix,
}

impl Piece {
    /// The pose with its rotation as a matrix.
    #[inline]
    pub fn matrix(&self) -> &PoseMatrix {
        &self.matrix
    }
}

/// At least one convex, bounded piece. [`Shape::compound`] makes one and wraps it.
#[derive(Clone, Debug)]
pub struct Compound {
    pieces: Vec<Piece>,
    center: DVec3,
    radius: f64,
    tree: Option<PieceTree>,
    identity: u64,
}

impl Compound {
    /// A compound of pieces; none of them may be a compound or a half-space.
    pub fn new(pieces: Vec<(Shape, Pose)>) -> Result<Compound, ShapeError> {
        if pieces.is_empty() {
            return Err(ShapeError::EmptyCompound);
        }
        for (index, (shape, _)) in pieces.iter().enumerate() {
            check_piece(index, shape)?;
        }
        let share = 1.0 / pieces.len() as f64;
        let pieces: Vec<Piece> = pieces
            .into_iter()
            .map(|(shape, pose)| Piece { shape, pose, matrix: pose.matrix() })
            .collect();
        let middle = |piece: &Piece| piece.matrix.apply(piece.shape.center());
        let center = pieces.iter().map(|piece| middle(piece) * share).sum::<DVec3>();
        let reach = |piece: &Piece| piece.shape.bounding_radius() + middle(piece).distance(center);
        let radius = round_radius(pieces.iter().map(reach).fold(0.0, f64::max));
        let tree = PieceTree::new(&pieces);
        Ok(Compound { pieces, center, radius, tree, identity: next_identity() })
    }

    /// The pieces, in the order they were given.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// A point of the compound's convex hull.
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// A radius about the centre that holds every piece.
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// The box around all pieces, if there are enough of them for a tree.
    pub(crate) fn tree_bounds(&self) -> Option<(DVec3, DVec3)> {
        self.tree.as_ref().map(PieceTree::bounds)
    }

    /// Calls `visit` with the numbers of pieces, which returns the limit from then on: of many
    /// pieces with those whose boxes have a `bound` within it, nearer ones first; of few with all,
    /// in their order.
    pub(crate) fn near(
        &self,
        bound: &dyn Fn(DVec3, DVec3) -> f64,
        limit: f64,
        visit: &mut dyn FnMut(u32) -> f64,
    ) {
        match &self.tree {
            Some(tree) => tree.near(bound, limit, visit),
            None => (0..self.pieces.len() as u32).for_each(|piece| {
                visit(piece);
            }),
        }
    }

    /// The same pieces without a tree over them: slow, and with the same answers.
    #[cfg(test)]
    pub(crate) fn without_tree(&self) -> Compound {
        Compound { tree: None, ..self.clone() }
    }

    /// What tells it from all others.
    pub(super) fn identity(&self) -> u64 {
        self.identity
    }

    /// The furthest point of all pieces; of the first such piece if several reach as far.
    pub(super) fn support(&self, direction: DVec3) -> DVec3 {
        let mut best = (f64::NEG_INFINITY, self.center);
        for piece in &self.pieces {
            let local = piece.matrix.inverse_apply_vector(direction);
            let point = piece.matrix.apply(piece.shape.support(local));
            let reach = point.dot(direction);
            if reach > best.0 {
                best = (reach, point);
            }
        }
        best.1
    }
}

fn check_piece(index: usize, shape: &Shape) -> Result<(), ShapeError> {
    match shape {
        Shape::Compound(_) => Err(ShapeError::NestedCompound { index }),
        Shape::Mesh(_) | Shape::HeightField(_) => {
            Err(ShapeError::Piece { index, fault: Box::new(ShapeError::NotConvex) })
        }
        Shape::HalfSpace { .. } => Err(ShapeError::UnboundedPiece { index }),
        _ => shape.check().map_err(|fault| ShapeError::Piece { index, fault: Box::new(fault) }),
    }
}
