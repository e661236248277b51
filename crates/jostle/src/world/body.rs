//! [`Body`]: what is put into a world.

use super::error::WorldError;
use crate::filter::Filter;
use crate::shape::{Pose, Shape};

/// What is put into a [`World`](super::World).
///
/// ```
/// use jostle::shape::{Pose, Shape};
/// use jostle::{Body, Filter};
///
/// let wall = Body::new(Shape::cuboid([0.5, 9.0, 9.0].into())?, Pose::at([5.0, 0.0, 0.0])?)
///     .with_filter(Filter::STILL)
///     .with_user_data(42);
/// assert_eq!(wall.user_data, 42);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Body {
    /// Its shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// With what it may pair.
    #[cfg_attr(feature = "serde", serde(default))]
    pub filter: Filter,
    /// The caller's: the world hands it back and does not look at it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub user_data: u64,
    /// A sensor is told when it overlaps something, without contacts.
    #[cfg_attr(feature = "serde", serde(default))]
    pub sensor: bool,
    /// It touches what it meets on its way, in a world that is not continuous too.
    #[cfg_attr(feature = "serde", serde(default))]
    pub continuous: bool,
}

impl Body {
    /// A body that pairs with everything.
    #[must_use]
    pub fn new(shape: Shape, pose: Pose) -> Body {
        Body { shape, pose, filter: Filter::ALL, user_data: 0, sensor: false, continuous: false }
    }

    /// This body with another filter.
    #[must_use]
    pub fn with_filter(self, filter: Filter) -> Body {
        Body { filter, ..self }
    }

    /// This body at another place.
    #[must_use]
    pub fn with_pose(self, pose: Pose) -> Body {
        Body { pose, ..self }
    }

    /// This body with 64 bits of the caller's.
    #[must_use]
    pub fn with_user_data(self, user_data: u64) -> Body {
        Body { user_data, ..self }
    }

    /// This body as a sensor, or as a solid: pairs with a sensor are listed in
    /// [`Step::overlaps`](super::Step::overlaps) and have events, but no contacts.
    #[must_use]
    pub fn with_sensor(self, sensor: bool) -> Body {
        Body { sensor, ..self }
    }

    /// This body with [continuous mode](super::World::set_body_continuous) of its own.
    #[must_use]
    pub fn with_continuous(self, continuous: bool) -> Body {
        Body { continuous, ..self }
    }

    pub(super) fn check(&self, index: usize) -> Result<(), WorldError> {
        self.shape.check().map_err(|fault| WorldError::Shape { index, fault })
    }
}
