//! [`BodyId`] and [`BodyPair`]: how bodies are named.

use std::fmt;

use crate::id::{BoxId, Slot};

/// Names a body of a [`World`](super::World). Given out by [`World::insert`](super::World::insert);
/// an id used after its body was removed is refused, even if its slot holds another body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct BodyId(BoxId);

impl BodyId {
    /// The id of the body whose box has an id.
    #[must_use]
    pub const fn new(of_box: BoxId) -> BodyId {
        BodyId(of_box)
    }

    /// The id of the body's box in the world's [`Detector`](crate::Detector).
    #[must_use]
    pub const fn box_id(self) -> BoxId {
        self.0
    }

    /// The body's slot, by which pairs of boxes name it.
    #[must_use]
    pub const fn slot(self) -> Slot {
        self.0.slot()
    }

    /// The slot as an array index, for arrays of the caller's: indices of removed bodies are
    /// reused.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.index()
    }
}

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<BoxId> for BodyId {
    fn from(of_box: BoxId) -> BodyId {
        BodyId(of_box)
    }
}

impl From<BodyId> for BoxId {
    fn from(id: BodyId) -> BoxId {
        id.0
    }
}

impl From<BodyId> for Slot {
    fn from(id: BodyId) -> Slot {
        id.slot()
    }
}

/// Two different bodies, the one in the lower slot first. Pairs order as those of boxes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyPair {
    a: BodyId,
    b: BodyId,
}

impl BodyPair {
    /// The pair of two bodies, given in any order.
    ///
    /// # Panics
    ///
    /// If both are the same: a body does not touch itself.
    #[must_use]
    pub fn new(one: BodyId, other: BodyId) -> BodyPair {
        assert!(one.slot() != other.slot(), "body {one} cannot pair with itself");
        BodyPair { a: one.min(other), b: one.max(other) }
    }

    /// The body in the lower slot.
    #[must_use]
    pub const fn a(self) -> BodyId {
        self.a
    }

    /// The body in the higher slot.
    #[must_use]
    pub const fn b(self) -> BodyId {
        self.b
    }

    /// The partner of a body; none if the body is not one of the two.
    #[must_use]
    pub fn other(self, one: BodyId) -> Option<BodyId> {
        if one == self.a {
            return Some(self.b);
        }
        (one == self.b).then_some(self.a)
    }

    /// Returns true if the body is one of the two.
    #[must_use]
    pub fn contains(self, one: BodyId) -> bool {
        self.other(one).is_some()
    }
}

impl fmt::Display for BodyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.a, self.b)
    }
}
