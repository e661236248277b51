//! [`Body`]: what is put into a world.

use super::bounds::bounds;
use super::error::WorldError;
use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::shape::{Pose, Shape};

/// What is put into a [`World`](super::World).
#[derive(Clone, Debug)]
pub struct Body {
    /// Its shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// With what it may pair.
    pub filter: Filter,
}

impl Body {
    /// A body that pairs with everything.
    pub fn new(shape: Shape, pose: Pose) -> Body {
        Body { shape, pose, filter: Filter::ALL }
    }

    pub(super) fn check(&self, index: usize) -> Result<(), WorldError> {
        self.shape.check().map_err(|fault| WorldError::Shape { index, fault })
    }

    pub(super) fn bounds(&self) -> Aabb {
        bounds(&self.shape, &self.pose)
    }
}
