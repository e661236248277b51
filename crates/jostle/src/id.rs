//! [`Slot`] and [`BoxId`]: how boxes are named inside a step and by users.

use std::fmt;

/// The place of a box in [`Boxes`](crate::Boxes): what pairs, lists of changes and algorithms
/// name boxes by. A slot is used again only after the events of the removed box have been
/// delivered; [`BoxId`] tells the old box from the new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
#[repr(transparent)]
pub struct Slot(u32);

impl Slot {
    /// The slot with a number.
    #[inline(always)]
    pub const fn new(number: u32) -> Slot {
        Slot(number)
    }

    /// The slot as an array index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The slot's number.
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<u32> for Slot {
    fn from(number: u32) -> Slot {
        Slot(number)
    }
}

/// Names one box for as long as the program runs: its [`Slot`], and which of the boxes that held
/// the slot one after another it is. Given out by [`Boxes::insert`](crate::Boxes::insert); an id
/// used after its box was removed is refused instead of naming the next box in the slot.
///
/// Generations count modulo 2^32: an id would have to be kept while its slot is reused four
/// billion times to be mistaken for another.
///
/// ```
/// use jostle::{Aabb, BoxError, Boxes, Filter};
///
/// let mut boxes = Boxes::new();
/// let old = boxes.insert(Aabb::default(), Filter::ALL)?;
/// boxes.remove(old)?;
/// boxes.commit();
/// let new = boxes.insert(Aabb::default(), Filter::ALL)?;
/// assert_eq!(old.slot(), new.slot());
/// assert_eq!(boxes.set(old, Aabb::EVERYTHING), Err(BoxError::Stale(old)));
/// # Ok::<(), BoxError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BoxId {
    slot: Slot,
    generation: u32,
}

impl BoxId {
    /// The id of the box that is or was in a slot in a generation. Ids normally come from
    /// [`Boxes`](crate::Boxes); this is for callers that store them in a form of their own.
    #[inline]
    pub const fn new(slot: Slot, generation: u32) -> BoxId {
        BoxId { slot, generation }
    }

    /// The slot of the box, by which pairs name it.
    #[inline(always)]
    pub const fn slot(self) -> Slot {
        self.slot
    }

    /// How many boxes held the slot before this one.
    #[inline]
    pub const fn generation(self) -> u32 {
        self.generation
    }

    /// The slot as an array index.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.slot.index()
    }
}

impl From<BoxId> for Slot {
    #[inline(always)]
    fn from(id: BoxId) -> Slot {
        id.slot
    }
}

/// The slot, and after `#` the generation unless it is the first.
impl fmt::Display for BoxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.generation {
            0 => self.slot.fmt(f),
            later => write!(f, "{}#{later}", self.slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_takes_eight_bytes_and_shows_its_generation_if_it_is_not_the_first() {
        assert_eq!(size_of::<BoxId>(), 8);
        let id = |generation| BoxId::new(Slot::new(7), generation);
        assert_eq!(format!("{} {}", id(0), id(2)), "7 7#2");
        assert!(id(0) < id(1) && id(9) < BoxId::new(Slot::new(8), 0));
    }
}
