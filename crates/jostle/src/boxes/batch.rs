//! Batches of new boxes: checked by all workers, and appended array by array.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Boxes, INSERTED, set_all};
use crate::aabb::Aabb;
use crate::error::InvalidBox;
use crate::filter::Filter;
use crate::id::Slot;

impl Boxes {
    /// Adds boxes behind all slots.
    pub(super) fn append(&mut self, aabbs: &[Aabb], filter: Filter) {
        let (first, count) = (self.slots(), aabbs.len());
        let slots = first + count;
        self.aabbs.extend_from_slice(aabbs);
        self.filters.resize(slots, filter);
        self.state.resize(slots, INSERTED);
        self.generations.resize(slots, 0);
        let listed = self.changes.inserted.len();
        self.changes.inserted.extend((first..slots).map(|slot| Slot::new(slot as u32)));
        self.place.note(&self.changes.inserted, listed);
        self.live += count;
        self.filtered += count * usize::from(filter != Filter::ALL);
        self.still += count * usize::from(filter.still);
    }

    /// The first invalid box of a batch, looked for by all workers.
    pub(super) fn check_batch(&self, aabbs: &[Aabb]) -> Result<(), InvalidBox> {
        if self.workers.count() == 1 || aabbs.len() <= set_all::FEW {
            return check_all(aabbs);
        }
        let invalid = AtomicUsize::new(usize::MAX);
        self.workers.run(aabbs.len().div_ceil(set_all::RUN), |number| {
            let first = number * set_all::RUN;
            let run = &aabbs[first..aabbs.len().min(first + set_all::RUN)];
            if check_all(run).is_err() {
                invalid.fetch_min(first, Ordering::Relaxed);
            }
        });
        // Found again from the beginning of its run, for the message.
        match invalid.into_inner() {
            usize::MAX => Ok(()),
            first => check_from(aabbs, first),
        }
    }
}

/// The first invalid box of a batch.
fn check_all(aabbs: &[Aabb]) -> Result<(), InvalidBox> {
    let check =
        |(index, aabb): (usize, &Aabb)| aabb.check().map_err(|fault| InvalidBox { index, fault });
    aabbs.iter().enumerate().try_for_each(check)
}

/// The first invalid box of a batch from a place on.
pub(super) fn check_from(aabbs: &[Aabb], first: usize) -> Result<(), InvalidBox> {
    check_all(&aabbs[first..]).map_err(|mut invalid| {
        invalid.index += first;
        invalid
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::par::Workers;

    const COUNT: usize = set_all::FEW + 3 * set_all::RUN + 5;

    /// Into gaps and behind them, as one by one; the first of two bad boxes is named, by every
    /// number of workers.
    #[test]
    fn a_batch_is_what_its_boxes_are_one_by_one() {
        let unit = |k: usize| Aabb::new([k as f32; 3], [k as f32 + 1.0; 3]);
        let units: Vec<Aabb> = (0..COUNT).map(unit).collect();
        let mut bad = units.clone();
        bad[set_all::RUN + 7] = Aabb::new([1.0; 3], [0.0; 3]);
        bad[2 * set_all::RUN + 7] = Aabb::new([1.0; 3], [0.0; 3]);
        for count in [1, 2, 3, 8] {
            let (mut batch, mut single) = (Boxes::new(), Boxes::new());
            batch.set_workers(&Workers::new(count).unwrap());
            for boxes in [&mut batch, &mut single] {
                let ids = boxes.insert_all(&units[..50], Filter::ALL).unwrap();
                boxes.set_user_data(ids[3], 7).unwrap();
                boxes.commit();
                boxes.remove_all(&[ids[3], ids[30], ids[31]]).unwrap();
                boxes.commit();
            }
            let error = batch.insert_all(&bad, Filter::STILL).unwrap_err().to_string();
            assert!(error.starts_with(&format!("box {}: ", set_all::RUN + 7)), "{error}");
            let ids = batch.insert_all(&units, Filter::STILL).unwrap();
            let one = |aabb: &Aabb| single.insert(*aabb, Filter::STILL).unwrap();
            assert!(ids == units.iter().map(one).collect::<Vec<_>>());
            assert!(batch.aabbs() == single.aabbs() && batch.filters() == single.filters());
            assert!(batch.changes().inserted() == single.changes().inserted());
            assert_eq!((batch.len(), batch.still_count()), (single.len(), single.still_count()));
            assert_eq!(batch.user_data(ids[0]), 0);
            batch.remove_all(&ids[COUNT / 2..]).unwrap();
            assert_eq!(batch.changes().inserted().len(), COUNT / 2);
            let error = batch.set_many(&ids[..COUNT / 2], &bad[..COUNT / 2]).unwrap_err();
            assert!(error.to_string().starts_with(&format!("box {}: ", set_all::RUN + 7)));
        }
    }
}
