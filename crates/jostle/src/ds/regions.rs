//! Parallel work on neighbouring regions of slices, without locks, `unsafe` or allocation.
//!
//! [`Workers::for_each`](crate::Workers::for_each) needs a list of tasks; a list of
//! mutable sub-slices would have to be allocated at every call. Here the slices are cut in
//! halves and the halves handed to [`Workers::join`](crate::Workers::join) until one
//! region is left, so the list never exists. Several slices can be cut together.

use std::ops::Range;

use crate::par::Workers;

/// A slice and where its regions begin: region `k` is `start(k)..start(k + 1)`.
pub(crate) struct Regions<'a, T, S> {
    items: &'a mut [T],
    start: S,
}

impl<'a, T, S: Fn(usize) -> usize + Copy> Regions<'a, T, S> {
    /// Regions of `items`; `start` must not decrease and must stay within the slice.
    pub(crate) fn new(items: &'a mut [T], start: S) -> Regions<'a, T, S> {
        Regions { items, start }
    }
}

/// Something that falls into numbered regions and can be cut between two of them.
pub(crate) trait Cut: Send + Sized {
    /// What a task gets.
    type Part;

    /// The regions from `first` up to `middle`, and the rest.
    fn cut(self, first: usize, middle: usize) -> (Self, Self);

    /// The only region left, number `index`.
    fn part(self, index: usize) -> Self::Part;
}

impl<'a, T: Send, S: Fn(usize) -> usize + Copy + Send> Cut for Regions<'a, T, S> {
    type Part = &'a mut [T];

    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let Regions { items, start } = self;
        let (left, right) = items.split_at_mut(start(middle) - start(first));
        (Regions { items: left, start }, Regions { items: right, start })
    }

    fn part(self, index: usize) -> &'a mut [T] {
        let length = (self.start)(index + 1) - (self.start)(index);
        &mut self.items[..length]
    }
}

impl<A: Cut, B: Cut> Cut for (A, B) {
    type Part = (A::Part, B::Part);

    fn cut(self, first: usize, middle: usize) -> (Self, Self) {
        let (a, b) = (self.0.cut(first, middle), self.1.cut(first, middle));
        ((a.0, b.0), (a.1, b.1))
    }

    fn part(self, index: usize) -> Self::Part {
        (self.0.part(index), self.1.part(index))
    }
}

/// Calls `task` with each region in `range` and its number.
pub(crate) fn for_each_region<C: Cut>(
    workers: &Workers,
    range: Range<usize>,
    regions: C,
    task: &(impl Fn(usize, C::Part) + Sync),
) {
    match range.len() {
        0 => {}
        1 => task(range.start, regions.part(range.start)),
        count => {
            let middle = range.start + count / 2;
            let (left, right) = regions.cut(range.start, middle);
            workers.join(
                || for_each_region(workers, range.start..middle, left, task),
                || for_each_region(workers, middle..range.end, right, task),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_is_visited_once_with_its_own_items() {
        for count in [1, 2, 3] {
            let workers = Workers::new(count).unwrap();
            let starts = [0usize, 3, 3, 10, 11, 20];
            let mut items = vec![0usize; 20];
            let mut totals = vec![0usize; 5];
            let data = (Regions::new(&mut items, |k| starts[k]), Regions::new(&mut totals, |k| k));
            for_each_region(&workers, 0..5, data, &|index, (items, total)| {
                items.iter_mut().for_each(|item| *item += index + 1);
                total[0] += items.len();
            });
            let expected: Vec<usize> =
                (0..5).flat_map(|k| vec![k + 1; starts[k + 1] - starts[k]]).collect();
            assert_eq!(items, expected);
            assert_eq!(totals, [3, 0, 7, 1, 9]);
        }
    }
}
