//! [`LaneStack`]: what a search of a tree of wide nodes has still to visit.

use std::mem::MaybeUninit;

use super::lane_order::LaneOrder;
use super::link::Link;
use super::node8::WIDTH;

/// Items that live in place: a tree of a million triangles rarely needs more than 40.
const IN_PLACE: usize = 64;

/// Where a [`LaneStack`] keeps its items. Nothing is cleared first, which would be a call for
/// every ray; and it is apart from the stack, so that the stack itself can live in registers.
///
/// It is aligned so that compilers align the whole stack frame of a search, and no register that
/// is kept there lies across two cache lines.
#[repr(align(64))]
pub(crate) struct LaneRoom {
    keys: MaybeUninit<[f32; IN_PLACE]>,
    links: MaybeUninit<[Link; IN_PLACE]>,
}

impl LaneRoom {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        LaneRoom { keys: MaybeUninit::uninit(), links: MaybeUninit::uninit() }
    }
}

/// A stack of keys, each with a link. Eight are written at once, whatever their
/// number, and what is beyond the room in place goes to a vector: no search allocates unless a
/// tree is very deep.
pub(crate) struct LaneStack<'a> {
    room: &'a mut LaneRoom,
    /// Items in place, all of them written; never more than there is room for.
    count: usize,
    rest: Vec<(f32, Link)>,
}

impl<'a> LaneStack<'a> {
    #[inline(always)]
    pub(crate) fn new(room: &'a mut LaneRoom) -> Self {
        LaneStack { room, count: 0, rest: Vec::new() }
    }

    /// Pushes lanes: the nearest is the first to come back.
    #[inline(always)]
    pub(crate) fn push(&mut self, order: &LaneOrder) {
        let (keys, links) = self.end();
        // SAFETY: there is room for eight items after those that count.
        unsafe {
            keys.cast::<[f32; WIDTH]>().write_unaligned(order.keys);
            links.cast::<[Link; WIDTH]>().write_unaligned(order.links);
        }
        self.count += order.count.min(WIDTH);
    }

    /// Pushes all lanes but the nearest.
    #[inline(always)]
    pub(crate) fn push_but_nearest(&mut self, order: &LaneOrder) {
        self.push(&LaneOrder { count: order.count.saturating_sub(1), ..*order });
    }

    /// Pushes one key with a link.
    #[inline(always)]
    pub(crate) fn push_one(&mut self, key: f32, link: Link) {
        let (keys, links) = self.end();
        // SAFETY: there is room for eight items after those that count.
        unsafe {
            keys.write(key);
            links.write(link);
        }
        self.count += 1;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(f32, Link)> {
        if self.count == 0 {
            return self.rest.pop();
        }
        self.count -= 1;
        // SAFETY: all items that count were written, and this was the last of them.
        unsafe {
            let (keys, links) = (self.room.keys.as_ptr(), self.room.links.as_ptr());
            let key = keys.cast::<f32>().add(self.count).read();
            Some((key, links.cast::<Link>().add(self.count).read()))
        }
    }

    /// Where the next eight items go.
    #[inline(always)]
    fn end(&mut self) -> (*mut f32, *mut Link) {
        if self.count > IN_PLACE - WIDTH {
            // SAFETY: all items that count were written.
            unsafe { spill(self.room, self.count, &mut self.rest) };
            self.count = 0;
        }
        let (keys, links) = (self.room.keys.as_mut_ptr(), self.room.links.as_mut_ptr());
        // SAFETY: there is room for eight more.
        unsafe { (keys.cast::<f32>().add(self.count), links.cast::<Link>().add(self.count)) }
    }
}

/// Moves all items out of the way.
///
/// # Safety
/// That many items were written.
#[cold]
#[inline(never)]
unsafe fn spill(room: &LaneRoom, count: usize, rest: &mut Vec<(f32, Link)>) {
    let (keys, links) = (room.keys.as_ptr().cast::<f32>(), room.links.as_ptr().cast::<Link>());
    // SAFETY: the caller vouches for the items.
    rest.extend((0..count).map(|k| unsafe { (keys.add(k).read(), links.add(k).read()) }));
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
                let links = std::array::from_fn(|k| Link::to_node((8 * round) as usize + k));
                let count = (state >> 20) as usize % 9;
                if count == 1 {
                    stack.push_one(keys[0], links[0]);
                } else {
                    stack.push(&LaneOrder { keys, links, count });
                }
                model.extend(keys.into_iter().zip(links).take(count));
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
