//! [`Placed`]: a shape and where it is.

use crate::shape::{Pose, Shape};

/// A shape in its place: what every question is about.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The shape.
    pub shape: &'a Shape,
    /// Where it is and how it is turned.
    pub pose: Pose,
}

impl<'a> Placed<'a> {
    /// A shape at a pose.
    #[inline]
    pub const fn new(shape: &'a Shape, pose: Pose) -> Placed<'a> {
        Placed { shape, pose }
    }
}
