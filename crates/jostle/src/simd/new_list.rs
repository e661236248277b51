//! [`new_list`]: a list that threads fill.
//!
//! A vector of copies that threads then overwrite is written twice, the first time by one thread,
//! and it is that thread to which the system hands the memory, page by page. So memory is left as
//! it is until whoever makes an item writes it.

use crate::par::Workers;

/// `count` items, each made from its place. One task makes `per_task` of them.
pub(crate) fn new_list<T: Send>(
    count: usize,
    per_task: usize,
    workers: &Workers,
    make: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    let mut list = Vec::with_capacity(count);
    let room = &mut list.spare_capacity_mut()[..count];
    workers.for_each_chunk_from_ends(room, per_task, |task, slots| {
        for (place, slot) in slots.iter_mut().enumerate() {
            slot.write(make(task * per_task + place));
        }
    });
    // SAFETY: there is room for that many, and every slot is in one of the chunks, of which all
    // have been written. If making one panics, this is not reached and those made are never
    // dropped.
    unsafe { list.set_len(count) };
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn lists_hold_every_item_whatever_the_threads() {
        for threads in [1, 2, 3, 8] {
            let workers = Workers::new(threads).unwrap();
            for count in [0, 1, 6, 7, 8, 1000] {
                let list = new_list(count, 7, &workers, |place| Box::new(3 * place));
                assert_eq!(list.capacity(), count);
                assert!(list.into_iter().map(|item| *item).eq((0..count).map(|place| 3 * place)));
            }
            let broken = catch_unwind(AssertUnwindSafe(|| {
                new_list(100, 7, &workers, |place| {
                    assert!(place != 50, "one cannot be made");
                    place
                })
            }));
            assert!(broken.is_err());
        }
    }
}
