//! [`Spill`]: a stack whose first items need no allocation.

/// A stack of which `N` items live in place and what is beyond in a vector.
#[derive(Debug)]
pub(crate) struct Spill<T, const N: usize> {
    first: [T; N],
    count: usize,
    rest: Vec<T>,
}

impl<T: Copy, const N: usize> Spill<T, N> {
    /// A stack with one item.
    #[inline(always)]
    pub(crate) fn with(item: T) -> Self {
        Spill { first: [item; N], count: 1, rest: Vec::new() }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, item: T) {
        match self.first.get_mut(self.count) {
            Some(place) => {
                *place = item;
                self.count += 1;
            }
            None => self.rest.push(item),
        }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        // Nothing spills while there is room in place.
        if self.count == N && !self.rest.is_empty() {
            return self.rest.pop();
        }
        self.count = self.count.checked_sub(1)?;
        Some(self.first[self.count % N])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_in_reverse_whether_they_spilled_or_not() {
        let mut stack: Spill<u32, 4> = Spill::with(0);
        let mut model = vec![0];
        let mut state = 1u32;
        for _ in 0..2000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if state >> 30 != 0 && model.len() < 12 {
                stack.push(state);
                model.push(state);
            } else if state >> 28 & 1 == 0 {
                assert_eq!(stack.pop(), model.pop());
            }
        }
        while let Some(item) = model.pop() {
            assert_eq!(stack.pop(), Some(item));
        }
        assert_eq!(stack.pop(), None);
        stack.push(7);
        assert_eq!((stack.pop(), stack.pop()), (Some(7), None));
    }
}
