//! [`Places`]: appends the lanes of masks to a list whose room is taken before the loop.
//!
//! A list that may grow in the loop costs more than the check: around a call that may happen, the
//! compiler keeps every register in memory. In the search of a tree that was half the instructions
//! of the loop.

use super::Simd;
use super::node8::WIDTH;
use super::vector::Eight;

/// See the [module](self). What was appended is in the list when this is dropped.
pub(crate) struct Places<'a> {
    list: &'a mut Vec<u32>,
    length: usize,
    room: usize,
}

impl<'a> Places<'a> {
    /// Takes room for the lanes of a number of masks behind what is in the list.
    #[inline(always)]
    pub(crate) fn after(list: &'a mut Vec<u32>, masks: usize) -> Places<'a> {
        list.reserve(masks * WIDTH);
        let (length, room) = (list.len(), list.capacity());
        Places { list, length, room }
    }

    /// As [`Places::after`], in a list that is emptied first.
    #[inline(always)]
    pub(crate) fn within(list: &'a mut Vec<u32>, masks: usize) -> Places<'a> {
        list.clear();
        Places::after(list, masks)
    }

    /// Appends `base` plus the number of each lane of a mask.
    ///
    /// # Panics
    /// If there is no room for eight more.
    #[inline(always)]
    pub(crate) fn push<S: Simd>(&mut self, simd: S, mask: u32, base: u32) {
        assert!(self.room - self.length >= WIDTH, "more masks than room was taken for");
        // SAFETY: the list has room for eight more behind the first `length`.
        unsafe {
            let end = self.list.as_mut_ptr().add(self.length);
            S::Eight::write_places(simd, mask, base, end);
        }
        self.length += (mask & 0xff).count_ones() as usize;
    }
}

impl Drop for Places<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: the first `length` were in the list before or were written, and there is room.
        unsafe { self.list.set_len(self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Level};
    use super::*;
    use proptest::prelude::*;

    struct Append<'a>(&'a [u32], Vec<u32>);

    impl Kernel for Append<'_> {
        type Output = Vec<u32>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<u32> {
            let Append(masks, mut list) = self;
            let mut places = Places::after(&mut list, masks.len());
            for (number, &mask) in masks.iter().enumerate() {
                places.push(simd, mask, 100 * number as u32);
            }
            drop(places);
            list
        }
    }

    proptest! {
        #[test]
        fn every_level_appends_the_lanes_of_every_mask(
            masks in prop::collection::vec(any::<u32>(), 0..40),
            before in prop::collection::vec(any::<u32>(), 0..5),
        ) {
            let mut expected = before.clone();
            for (number, mask) in masks.iter().enumerate() {
                let lanes = (0..8).filter(|lane| mask >> lane & 1 == 1);
                expected.extend(lanes.map(|lane| 100 * number as u32 + lane));
            }
            for level in Level::available() {
                let found = level.run(Append(&masks, before.clone()));
                prop_assert_eq!(&found, &expected, "{:?}", level);
            }
        }
    }

    struct TooMany;

    impl Kernel for TooMany {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let mut list = Vec::new();
            let mut places = Places::within(&mut list, 2);
            (0..1000).for_each(|_| places.push(simd, 0xff, 0));
        }
    }

    #[test]
    #[should_panic(expected = "more masks than room")]
    fn lanes_without_room_are_refused() {
        super::super::run(TooMany);
    }
}
