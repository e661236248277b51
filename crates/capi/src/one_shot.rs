//! Pairs of boxes that do not move.

use engine::{Algorithm, Detector, Filter, Pair, Workers};

use crate::handles::Handles;
use crate::memory::{check_out, slice, write};
use crate::status::{Fault, guard, jostle_status};
use crate::types::{boxes, jostle_aabb, jostle_pair, pairs};

/// Pairs that belong to the caller. Free it with jostle_pair_list_free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_pair_list {
    /// The pairs, sorted; they may be read until the list is freed.
    pub pairs: *const jostle_pair,
    /// How many there are.
    pub count: usize,
    /// The library's.
    pub owner: u64,
}

static LISTS: Handles<Vec<Pair>> = Handles::new("list of pairs");

/// Gives a list to the caller.
unsafe fn give(list: Vec<Pair>, out: *mut jostle_pair_list) -> Result<(), Fault> {
    check_out(out, "out")?;
    // The heap memory of the list stays where it is when the list itself is moved.
    let (data, count) = (pairs(&list), list.len());
    let owner = LISTS.insert(list);
    // SAFETY: the caller's word.
    unsafe { write(jostle_pair_list { pairs: data, count, owner }, out, "out") }
}

fn detector(threads: u32) -> Result<Detector, Fault> {
    Ok(Detector::with_workers(Algorithm::Auto, Workers::new(threads as usize)?))
}

/// Every overlapping pair of some boxes; pairs name boxes by their places. On `threads` threads, 0
/// for one on each core.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_overlaps(
    boxes: *const jostle_aabb,
    count: usize,
    threads: u32,
    out: *mut jostle_pair_list,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        // SAFETY: the caller's word.
        let given = self::boxes(unsafe { slice(boxes, count, "boxes") }?);
        let mut detector = detector(threads)?;
        detector.boxes_mut().insert_all(given, Filter::ALL)?;
        detector.step()?;
        // SAFETY: the caller's word.
        unsafe { give(detector.pairs().to_vec(), out) }
    })
}

/// Every overlap of a box of one list with a box of another. Pairs are a place in the first list
/// and a place in the second. Overlaps within a list are not looked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_overlaps_between(
    first: *const jostle_aabb,
    first_count: usize,
    second: *const jostle_aabb,
    second_count: usize,
    threads: u32,
    out: *mut jostle_pair_list,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        // SAFETY: the caller's word.
        let one = boxes(unsafe { slice(first, first_count, "first") }?);
        // SAFETY: the caller's word.
        let other = boxes(unsafe { slice(second, second_count, "second") }?);
        let named = |name: &'static str| {
            move |error: engine::BoxError| {
                let fault = Fault::from(error);
                Fault { message: format!("{name}: {}", fault.message), ..fault }
            }
        };
        let mut detector = detector(threads)?;
        let boxes = detector.boxes_mut();
        boxes.insert_all(one, Filter::groups(1, 2)).map_err(named("first"))?;
        boxes.insert_all(other, Filter::groups(2, 1)).map_err(named("second"))?;
        detector.step()?;
        let offset = one.len() as u64;
        // A place in the second list may be the smaller number, so this is no `Pair::new`.
        let shifted = detector.pairs().iter().map(|pair| Pair::from_key(pair.key() - offset));
        let list = shifted.collect();
        // SAFETY: the caller's word.
        unsafe { give(list, out) }
    })
}

/// Frees a list and empties it, so that freeing it again does nothing. Freeing a copy of a list
/// that was freed is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_pair_list_free(list: *mut jostle_pair_list) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let owner = unsafe { slice(list.cast_const(), 1, "list") }?[0].owner;
        if owner != 0 {
            LISTS.remove(owner)?;
        }
        let empty = jostle_pair_list { pairs: std::ptr::null(), count: 0, owner: 0 };
        // SAFETY: the caller's word.
        unsafe { write(empty, list, "list") }
    })
}
