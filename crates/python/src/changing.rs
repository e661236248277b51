//! Arrays that another thread writes to while a call reads them.
//!
//! Boxes are read from the caller's array with the interpreter lock released, and each number more
//! than once: first it is checked, then it is stored. If another thread writes to the array in
//! between, what is stored may be a mixture, and may even be no box. The engine holds boxes of its
//! own and never looks at the array again, so it is enough to check what was stored before anything
//! else is done with it. That costs one pass, and only arrays that are not converted need it.

use jostle::{Aabb, BoxId, Boxes};

use crate::errors::Fault;

fn changed(row: usize) -> Fault {
    Fault::Changed(format!(
        "another thread wrote to the array during the call: row {row} was no box any more when it \
         was stored; give a copy, or lock"
    ))
}

/// Without a branch per axis, because this is a pass over every box of a call.
fn is_box(aabb: &Aabb) -> bool {
    (0..3).fold(true, |right, axis| right & (aabb.min[axis] <= aabb.max[axis]))
}

/// Fails if some stored box is none.
pub(crate) fn check(stored: &[Aabb]) -> Result<(), Fault> {
    if stored.iter().fold(true, |right, aabb| right & is_box(aabb)) {
        return Ok(());
    }
    Err(changed(stored.iter().position(|aabb| !is_box(aabb)).unwrap_or(0)))
}

/// Checks boxes that were just inserted, and takes all of them back if one of them is none.
pub(crate) fn check_inserted(boxes: &mut Boxes, ids: &[BoxId]) -> Result<(), Fault> {
    let wrong = ids.iter().position(|&id| boxes.get(id).is_none_or(|aabb| !is_box(aabb)));
    let Some(row) = wrong else { return Ok(()) };
    boxes.remove_all(ids)?;
    Err(changed(row))
}

/// Checks boxes that were just given new bounds. What is no box covers everything until it is set
/// again: its old bounds are gone, and so no overlap is missed.
pub(crate) fn check_set(boxes: &mut Boxes, ids: &[BoxId]) -> Result<(), Fault> {
    let mut first = None;
    for (row, &id) in ids.iter().enumerate() {
        if boxes.get(id).is_some_and(|aabb| !is_box(aabb)) {
            boxes.set(id, Aabb::EVERYTHING)?;
            first.get_or_insert(row);
        }
    }
    first.map_or(Ok(()), |row| Err(changed(row)))
}

/// As [`check_set`], for all boxes.
pub(crate) fn check_set_all(boxes: &mut Boxes) -> Result<(), Fault> {
    if boxes.is_dense() && check(boxes.aabbs()).is_ok() {
        return Ok(());
    }
    let ids: Vec<BoxId> = boxes.ids().collect();
    check_set(boxes, &ids)
}
