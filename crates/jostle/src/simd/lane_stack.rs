//! [`LaneStack`]: what a search of a tree of wide nodes has still to visit.

use std::mem::MaybeUninit;

use super::node8::WIDTH;

/// Items that live in place: a tree of a million triangles rarely needs more than 40.
const IN_PLACE: usize = 64;

/// Where a [`LaneStack`] keeps its items. Nothing is cleared first, which would be a call for
/// every ray; and it is apart from the stack, so that the stack itself can live in registers.
pub(crate) struct LaneRoom {
    keys: MaybeUninit<[f32; IN_PLACE]>,
    places: MaybeUninit<[u32; IN_PLACE]>,
}

impl LaneRoom {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        LaneRoom { keys: MaybeUninit::uninit(), places: MaybeUninit::uninit() }
    }
}

/// A stack of keys, each with the place of a node. Eight are written at once, whatever their
/// number, and what is beyond the room in place goes to a vector: no search allocates unless a
/// tree is very deep.
pub(crate) struct LaneStack<'a> {
    room: &'a mut LaneRoom,
    /// Items in place, all of them written; never more than there is room for.
    count: usize,
    rest: Vec<(f32, u32)>,
}

impl<'a> LaneStack<'a> {
    #[inline(always)]
    pub(crate) fn new(room: &'a mut LaneRoom) -> Self {
        LaneStack { room, count: 0, rest: Vec::new() }
    }

    /// Pushes the first `count` keys with the place of a node.
    #[inline(always)]
    pub(crate) fn push(&mut self, keys: &[f32; WIDTH], count: usize, place: u32) {
        let (to, places) = self.end();
        // SAFETY: there is room for eight items after those that count.
        unsafe {
            to.cast::<[f32; WIDTH]>().write_unaligned(*keys);
            places.cast::<[u32; WIDTH]>().write_unaligned([place; WIDTH]);
        }
        self.count += count.min(WIDTH);
    }

    /// Pushes one key with the place of a node.
    #[inline(always)]
    pub(crate) fn push_one(&mut self, key: f32, place: u32) {
        let (to, places) = self.end();
        // SAFETY: there is room for eight items after those that count.
        unsafe {
            to.write(key);
            places.write(place);
        }
        self.count += 1;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(f32, u32)> {
        if self.count == 0 {
            return self.rest.pop();
        }
        self.count -= 1;
        // SAFETY: all items that count were written, and this was the last of them.
        unsafe {
            let (keys, places) = (self.room.keys.as_ptr(), self.room.places.as_ptr());
            let key = keys.cast::<f32>().add(self.count).read();
            Some((key, places.cast::<u32>().add(self.count).read()))
        }
    }

    /// Where the next eight items go.
    #[inline(always)]
    fn end(&mut self) -> (*mut f32, *mut u32) {
        if self.count > IN_PLACE - WIDTH {
            // SAFETY: all items that count were written.
            unsafe { spill(self.room, self.count, &mut self.rest) };
            self.count = 0;
        }
        let (keys, places) = (self.room.keys.as_mut_ptr(), self.room.places.as_mut_ptr());
        // SAFETY: there is room for eight more.
        unsafe { (keys.cast::<f32>().add(self.count), places.cast::<u32>().add(self.count)) }
    }
}

/// Moves all items out of the way.
///
/// # Safety
/// That many items were written.
#[cold]
#[inline(never)]
unsafe fn spill(room: &LaneRoom, count: usize, rest: &mut Vec<(f32, u32)>) {
    let (keys, places) = (room.keys.as_ptr().cast::<f32>(), room.places.as_ptr().cast::<u32>());
    // SAFETY: the caller vouches for the items.
    rest.extend((0..count).map(|k| unsafe { (keys.add(k).read(), places.add(k).read()) }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_reverse_whether_they_spilled_or_not() {
        let mut room = LaneRoom::new();
        let (mut stack, mut model) = (LaneStack::new(&mut room), Vec::new());
        let (mut state, mut deepest) = (1u32, 0);
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Grows for a while, then shrinks.
            if state >> 30 == 0 || round / 200 % 3 == 0 {
                let keys = std::array::from_fn(|k| (state >> 8) as f32 + k as f32);
                let count = (state >> 20) as usize % 9;
                if count == 1 {
                    stack.push_one(keys[0], round);
                } else {
                    stack.push(&keys, count, round);
                }
                model.extend(keys[..count].iter().map(|&key| (key, round)));
            } else {
                for _ in 0..4 {
                    assert_eq!(stack.pop(), model.pop());
                }
            }
            deepest = deepest.max(model.len());
        }
        assert!(deepest > 4 * IN_PLACE, "{deepest}");
        while let Some(item) = model.pop() {
            assert_eq!(stack.pop(), Some(item));
        }
        assert_eq!(stack.pop(), None);
    }
}
