//! [`Placed`]: a shape and where it is.

use crate::shape::{Pose, Shape};

/// A shape in its place: what every question is about.
///
/// ```
/// use jostle::narrow::{Placed, distance};
/// use jostle::shape::{Pose, Shape};
///
/// let ball = Shape::sphere(1.0)?;
/// let here = Placed::new(&ball, Pose::IDENTITY);
/// let there = Placed::new(&ball, Pose::at([5.0, 0.0, 0.0])?); // the same shape, elsewhere
/// assert_eq!(distance(&here, &there), 3.0);
/// # Ok::<(), jostle::Error>(())
/// ```
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
