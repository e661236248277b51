//! [`Rounded`]: a convex shape grown by a margin on all sides, with round edges and corners.
//!
//! The narrow phase sees every shape as a core and a radius, so a rounded box costs what a box
//! costs, and where rounded shapes overlap by less than their margins no depth has to be searched.

use super::error::{ShapeError, check_size};
use super::{Pose, Shape};
use glam::DVec3;
use std::sync::Arc;

/// A convex shape and how far it is grown. [`Shape::rounded`] makes one and wraps it.
#[derive(Clone, Debug)]
pub struct Rounded {
    shape: Shape,
    margin: f64,
}

impl Rounded {
    /// The shape that is grown: neither a ball, a capsule, a half-space nor a compound, which are
    /// grown by themselves.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How far it is grown.
    pub fn margin(&self) -> f64 {
        self.margin
    }
}

impl Shape {
    /// All points within a margin of a shape. Balls, capsules and half-spaces come out as larger
    /// ones, a compound as one of rounded pieces, a rounded shape as one of the sum of both
    /// margins.
    ///
    /// ```
    /// use jostle::narrow::{Placed, distance};
    /// use jostle::shape::{Pose, Shape};
    ///
    /// let soap = Shape::rounded(&Shape::cuboid([0.9, 0.4, 0.2].into())?, 0.1)?;
    /// let a = Placed::new(&soap, Pose::IDENTITY);
    /// let b = Placed::new(&soap, Pose::at([3.0, 0.0, 0.0])?);
    /// assert!((distance(&a, &b) - 1.0).abs() < 1e-12);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn rounded(shape: &Shape, margin: f64) -> Result<Shape, ShapeError> {
        check_size("margin", margin)?;
        shape.check()?;
        match *shape {
            Shape::Sphere { radius } => Shape::sphere(radius + margin),
            Shape::Capsule { radius, half_height } => Shape::capsule(radius + margin, half_height),
            Shape::HalfSpace { normal, offset } => {
                Shape::HalfSpace { normal, offset: offset + margin }.checked()
            }
            Shape::Compound(ref compound) => {
                let grow = |(index, piece): (usize, &super::Piece)| {
                    let grown = Shape::rounded(&piece.shape, margin)
                        .map_err(|fault| ShapeError::Piece { index, fault: Box::new(fault) });
                    Ok((grown?, piece.pose))
                };
                let pieces: Result<Vec<(Shape, Pose)>, ShapeError> =
                    compound.pieces().iter().enumerate().map(grow).collect();
                Shape::compound(pieces?)
            }
            Shape::Mesh(_) | Shape::HeightField(_) => Err(ShapeError::NotConvex),
            Shape::Rounded(ref inner) => {
                check_size("margin", inner.margin + margin)?;
                let shape = inner.shape.clone();
                Ok(Shape::Rounded(Arc::new(Rounded { shape, margin: inner.margin + margin })))
            }
            _ => Ok(Shape::Rounded(Arc::new(Rounded { shape: shape.clone(), margin }))),
        }
    }
}

/// A convex shape that the library does not know, told by its support function.
///
/// The function must be that of one bounded convex set: for every direction the furthest point of
/// the set, the same one each time. It is called from several threads and must not depend on
/// anything that changes. What it answers is not checked beyond its being finite: the narrow phase
/// of a function that lies ends, and its answers mean nothing.
///
/// ```
/// use jostle::glam::DVec3;
/// use jostle::narrow::{Placed, distance};
/// use jostle::shape::{Pose, Shape, SupportMap};
///
/// /// Two discs of one radius, joined: the hull of a rolled-up carpet seen from its end.
/// #[derive(Debug)]
/// struct Bean {
///     radius: f64,
///     apart: f64,
/// }
///
/// impl SupportMap for Bean {
///     fn support(&self, direction: DVec3) -> DVec3 {
///         let end = DVec3::new(self.apart.copysign(direction.x), 0.0, 0.0);
///         let flat = DVec3::new(direction.x, direction.y, 0.0);
///         end + flat.normalize_or_zero() * self.radius
///     }
/// }
///
/// let bean = Shape::custom(Bean { radius: 0.5, apart: 1.0 })?;
/// let ball = Shape::sphere(1.0)?;
/// let a = Placed::new(&bean, Pose::IDENTITY);
/// let b = Placed::new(&ball, Pose::at([4.0, 0.0, 0.0])?);
/// assert!((distance(&a, &b) - 1.5).abs() < 1e-9);
/// # Ok::<(), jostle::Error>(())
/// ```
pub trait SupportMap: std::fmt::Debug + Send + Sync {
    /// The point of the set furthest in a direction, which is not zero and of any length.
    fn support(&self, direction: DVec3) -> DVec3;
}

/// A shape with a support function of the user's. [`Shape::custom`] makes one and wraps it.
///
/// A snapshot cannot hold it: writing one fails with an error that says so.
#[derive(Clone, Debug)]
pub struct Custom {
    map: Arc<dyn SupportMap>,
    low: DVec3,
    high: DVec3,
    center: DVec3,
    radius: f64,
    identity: u64,
}

impl Custom {
    fn new(map: Arc<dyn SupportMap>) -> Result<Custom, ShapeError> {
        let mut corners = [[DVec3::ZERO; 2]; 3];
        for (index, ends) in corners.iter_mut().enumerate() {
            let axis = DVec3::AXES[index];
            *ends = [map.support(-axis), map.support(axis)];
            for (side, end) in ends.iter().enumerate() {
                super::check_point("support", 2 * index + side, *end)?;
            }
        }
        let end = |side: usize| DVec3::from_array([0, 1, 2].map(|k| corners[k][side][k]));
        let (low, high) = (end(0), end(1));
        if let Some(axis) = (0..3).find(|&axis| low[axis] > high[axis]) {
            let field = ["support along x", "support along y", "support along z"][axis];
            return Err(ShapeError::Size { field, value: high[axis] - low[axis] });
        }
        // A mean of points of the set is in it.
        let center: DVec3 = corners.iter().flatten().map(|&point| point / 6.0).sum();
        let radius = super::round_radius((high - center).max(center - low).length());
        Ok(Custom { map, low, high, center, radius, identity: super::next_identity() })
    }

    /// A point of the shape.
    pub fn center(&self) -> DVec3 {
        self.center
    }

    /// A radius about the centre that holds the box around the shape.
    pub fn bounding_radius(&self) -> f64 {
        self.radius
    }

    /// The box around the shape, along its own axes.
    pub(super) fn local_bounds(&self) -> (DVec3, DVec3) {
        (self.low, self.high)
    }

    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// The furthest point; the centre if the function has none.
    pub(super) fn support(&self, direction: DVec3) -> DVec3 {
        let direction = if direction == DVec3::ZERO { DVec3::Y } else { direction };
        let point = self.map.support(direction);
        if point.is_finite() { point } else { self.center }
    }
}

impl Shape {
    /// A convex shape with a support function of the caller's. A function whose points along the
    /// axes are not numbers or beyond [`LIMIT`](super::LIMIT), or that is turned inside out, is
    /// refused.
    pub fn custom(map: impl SupportMap + 'static) -> Result<Shape, ShapeError> {
        Ok(Shape::Custom(Arc::new(Custom::new(Arc::new(map))?)))
    }
}
