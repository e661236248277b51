//! [`LaneStack`]: what a search of a tree of wide nodes has still to visit.

/// Lanes that a node pushes at once.
const WIDTH: usize = 8;

/// Items that live in place: a tree of a million triangles rarely needs more than 40.
const IN_PLACE: usize = 64;

/// A stack of keys, each with the place of a node. Eight are written at once, whatever their
/// number, and what is beyond the room in place goes to a vector: no search allocates unless a
/// tree is very deep.
#[derive(Debug)]
pub(crate) struct LaneStack {
    keys: [f32; IN_PLACE],
    places: [u32; IN_PLACE],
    count: usize,
    rest: Vec<(f32, u32)>,
}

impl LaneStack {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        LaneStack { keys: [0.0; IN_PLACE], places: [0; IN_PLACE], count: 0, rest: Vec::new() }
    }

    /// Pushes the first `count` keys with the place of a node.
    #[inline(always)]
    pub(crate) fn push(&mut self, keys: &[f32; WIDTH], count: usize, place: u32) {
        if self.count > IN_PLACE - WIDTH {
            self.spill();
        }
        // As arrays: copying slices is a call for kernels of another instruction set.
        let end = self.count;
        if let Some(room) = self.keys[end..].first_chunk_mut() {
            *room = *keys;
        }
        if let Some(room) = self.places[end..].first_chunk_mut() {
            *room = [place; WIDTH];
        }
        self.count = end + count;
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(f32, u32)> {
        if self.count == 0 {
            return self.rest.pop();
        }
        self.count -= 1;
        let last = self.count % IN_PLACE;
        Some((self.keys[last], self.places[last]))
    }

    /// Moves everything out of the way.
    #[cold]
    #[inline(never)]
    fn spill(&mut self) {
        let keys = self.keys.iter().copied();
        self.rest.extend(keys.zip(self.places.iter().copied()).take(self.count));
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_reverse_whether_they_spilled_or_not() {
        let (mut stack, mut model) = (LaneStack::new(), Vec::new());
        let (mut state, mut deepest) = (1u32, 0);
        for round in 0..20_000u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Grows for a while, then shrinks.
            if state >> 30 == 0 || round / 200 % 3 == 0 {
                let keys = std::array::from_fn(|k| (state >> 8) as f32 + k as f32);
                let count = (state >> 20) as usize % 9;
                stack.push(&keys, count, round);
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
