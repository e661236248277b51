//! Boxes that move.

use std::ffi::{c_char, c_int};
use std::sync::{Arc, RwLock};

use engine::{Algorithm, Boxes, Detector, Filter, Workers};

use crate::handles::Handles;
use crate::memory::{check_out, check_room, copy_out, fill, optional, slice, text, write};
use crate::status::{Fault, guard, jostle_status};
use crate::types::{boxes, id_of, jostle_aabb, jostle_filter, jostle_pair, number_of, pairs};

/// Follows moving boxes and tells, step by step, which pairs begin and cease to overlap. Any number
/// of threads may use one: changes wait for each other, queries run at the same time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_detector {
    /// The library's.
    pub handle: u64,
}

/// What a detector is made with. All zero means: the automatic choice, one thread for each core,
/// and the usual limit.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_detector_options {
    /// The name of an algorithm; null for "auto".
    pub algorithm: *const c_char,
    /// How many threads steps may use; 0 for one on each core.
    pub threads: u32,
    /// How many pairs may overlap before a step is refused; 0 for the usual limit.
    pub pair_limit: u64,
}

/// What began and what ended in a step, each sorted. The arrays belong to the detector: they may be
/// read until its next step, or until it is freed.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_events {
    /// Pairs that overlap now and did not before.
    pub began: *const jostle_pair,
    /// How many began.
    pub began_count: usize,
    /// Pairs that overlapped before and do not now.
    pub ended: *const jostle_pair,
    /// How many ended.
    pub ended_count: usize,
}

/// What an algorithm counted in its last step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_stats {
    /// Box against box tests.
    pub tests: u64,
    /// Swaps of neighbours in sorted lists.
    pub swaps: u64,
    /// Bytes held beyond the boxes and the pairs.
    pub bytes: u64,
}

static DETECTORS: Handles<RwLock<Detector>> = Handles::new("detector");

fn found(detector: jostle_detector) -> Result<Arc<RwLock<Detector>>, Fault> {
    DETECTORS.get(detector.handle)
}

/// Asks a detector.
pub(crate) fn ask<R>(
    detector: jostle_detector,
    ask: impl FnOnce(&Detector) -> Result<R, Fault>,
) -> Result<R, Fault> {
    ask(&*found(detector)?.read().map_err(|_| Fault::broken())?)
}

/// Changes a detector.
fn change<R>(
    detector: jostle_detector,
    change: impl FnOnce(&mut Detector) -> Result<R, Fault>,
) -> Result<R, Fault> {
    change(&mut *found(detector)?.write().map_err(|_| Fault::broken())?)
}

fn algorithm(name: Option<&str>) -> Result<Algorithm, Fault> {
    name.unwrap_or("auto")
        .parse()
        .map_err(|error: engine::UnknownAlgorithm| Fault::argument(error.to_string()))
}

fn check_ids(boxes: &Boxes, ids: &[u64]) -> Result<(), Fault> {
    Ok(ids.iter().try_for_each(|&id| boxes.check(id_of(id)))?)
}

/// Makes an empty detector. `options` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_new(
    options: *const jostle_detector_options,
    out: *mut jostle_detector,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        // SAFETY: the caller's word.
        let options = unsafe { optional(options, "options") }?;
        let (mut name, mut threads, mut limit) = (None, 0, 0);
        if let Some(options) = options {
            // SAFETY: the caller's word.
            name = unsafe { text(options.algorithm, "algorithm") }?;
            (threads, limit) = (options.threads, options.pair_limit);
        }
        let workers = Workers::new(threads as usize)?;
        let mut detector = Detector::with_workers(algorithm(name)?, workers);
        if limit != 0 {
            detector.set_pair_limit(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        let handle = DETECTORS.insert(RwLock::new(detector));
        // SAFETY: the caller's word.
        unsafe { write(jostle_detector { handle }, out, "out") }
    })
}

/// Makes a detector that continues as this one would, with the same bytes: what a rollback needs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_clone(
    detector: jostle_detector,
    out: *mut jostle_detector,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        let copy = ask(detector, |detector| Ok(detector.clone()))?;
        let handle = DETECTORS.insert(RwLock::new(copy));
        // SAFETY: the caller's word.
        unsafe { write(jostle_detector { handle }, out, "out") }
    })
}

/// Frees a detector. Freeing it twice is refused.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_detector_free(detector: jostle_detector) -> jostle_status {
    guard(|| DETECTORS.remove(detector.handle))
}

/// Adds boxes and writes their ids. `filters` holds `filter_count` filters: none (pairs with
/// everything), one for all boxes, or one for each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_insert(
    detector: jostle_detector,
    boxes: *const jostle_aabb,
    count: usize,
    filters: *const jostle_filter,
    filter_count: usize,
    ids: *mut u64,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let given = self::boxes(unsafe { slice(boxes, count, "boxes") }?);
        // SAFETY: the caller's word.
        let filters = unsafe { slice(filters, filter_count, "filters") }?;
        check_room(ids, count, "ids")?;
        let new = change(detector, |detector| {
            let boxes = detector.boxes_mut();
            Ok(match filters {
                [] => boxes.insert_all(given, Filter::ALL)?,
                [one] => boxes.insert_all(given, (*one).into())?,
                each => {
                    let each: Vec<Filter> = each.iter().map(|&filter| filter.into()).collect();
                    boxes.insert_each(given, &each)?
                }
            })
        })?;
        let numbers: Vec<u64> = new.into_iter().map(number_of).collect();
        // SAFETY: the caller's word.
        unsafe { copy_out(&numbers, ids, "ids") }
    })
}

/// Gives some boxes new bounds. The same bounds are no change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_set(
    detector: jostle_detector,
    ids: *const u64,
    boxes: *const jostle_aabb,
    count: usize,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let ids = unsafe { slice(ids, count, "ids") }?;
        // SAFETY: the caller's word.
        let given = self::boxes(unsafe { slice(boxes, count, "boxes") }?);
        let ids: Vec<_> = ids.iter().map(|&id| id_of(id)).collect();
        change(detector, |detector| Ok(detector.boxes_mut().set_many(&ids, given)?))
    })
}

/// Gives every box new bounds, in ascending order of slots. What has not changed costs no more than
/// reading it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_set_all(
    detector: jostle_detector,
    boxes: *const jostle_aabb,
    count: usize,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let given = self::boxes(unsafe { slice(boxes, count, "boxes") }?);
        change(detector, |detector| Ok(detector.boxes_mut().set_all(given)?))
    })
}

/// Removes boxes; their pairs end with the next step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_remove(
    detector: jostle_detector,
    ids: *const u64,
    count: usize,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let ids = unsafe { slice(ids, count, "ids") }?;
        let ids: Vec<_> = ids.iter().map(|&id| id_of(id)).collect();
        change(detector, |detector| Ok(detector.boxes_mut().remove_all(&ids)?))
    })
}

/// Gives boxes another filter, the same for all of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_set_filter(
    detector: jostle_detector,
    ids: *const u64,
    count: usize,
    filter: jostle_filter,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let ids = unsafe { slice(ids, count, "ids") }?;
        change(detector, |detector| {
            let boxes = detector.boxes_mut();
            check_ids(boxes, ids)?;
            Ok(ids.iter().try_for_each(|&id| boxes.set_filter(id_of(id), filter.into()))?)
        })
    })
}

/// Never reports this pair of boxes again (any number but 0 in `excluded`), or does so again (0).
#[unsafe(no_mangle)]
pub extern "C" fn jostle_detector_exclude(
    detector: jostle_detector,
    one: u64,
    other: u64,
    excluded: c_int,
) -> jostle_status {
    guard(|| {
        let (one, other) = (id_of(one), id_of(other));
        if one.slot() == other.slot() {
            return Err(Fault::argument(format!("box {one} cannot pair with itself")));
        }
        change(detector, |detector| match excluded {
            0 => Ok(detector.include(one, other)?),
            _ => Ok(detector.exclude(one, other)?),
        })
    })
}

/// Stores 64 bits of the caller's with a box.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_detector_set_user_data(
    detector: jostle_detector,
    id: u64,
    data: u64,
) -> jostle_status {
    guard(|| {
        change(detector, |detector| Ok(detector.boxes_mut().set_user_data(id_of(id), data)?))
    })
}

/// What was stored with the box in a slot, 0 if nothing was. The data of a removed box can be read
/// while its ended events are delivered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_user_data(
    detector: jostle_detector,
    slot: u32,
    out: *mut u64,
) -> jostle_status {
    guard(|| {
        let data =
            ask(detector, |detector| Ok(detector.boxes().user_data(engine::Slot::new(slot))))?;
        // SAFETY: the caller's word.
        unsafe { write(data, out, "out") }
    })
}

/// Finds what began and what ended since the last step. `events` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_step(
    detector: jostle_detector,
    events: *mut jostle_events,
) -> jostle_status {
    guard(|| {
        if !events.is_null() {
            check_out(events, "events")?;
        }
        let found = change(detector, |detector| {
            let found = detector.step()?;
            Ok(jostle_events {
                began: pairs(found.began),
                began_count: found.began.len(),
                ended: pairs(found.ended),
                ended_count: found.ended.len(),
            })
        })?;
        if events.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's word.
        unsafe { write(found, events, "events") }
    })
}

/// Every overlapping pair after the last step, sorted. The array belongs to the detector: it may be
/// read until its next step, or until it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_pairs(
    detector: jostle_detector,
    out: *mut *const jostle_pair,
    count: *mut usize,
) -> jostle_status {
    guard(|| {
        check_out(out, "out")?;
        check_out(count, "count")?;
        let (data, length) =
            ask(detector, |detector| Ok((pairs(detector.pairs()), detector.pairs().len())))?;
        // SAFETY: the caller's word.
        unsafe { write(data, out, "out") }?;
        // SAFETY: the caller's word.
        unsafe { write(length, count, "count") }
    })
}

/// The number of boxes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_count(
    detector: jostle_detector,
    out: *mut usize,
) -> jostle_status {
    guard(|| {
        let count = ask(detector, |detector| Ok(detector.boxes().len()))?;
        // SAFETY: the caller's word.
        unsafe { write(count, out, "out") }
    })
}

/// The ids of all boxes, in ascending order of slots, into a buffer of the caller's. `count` is
/// written in any case that is not a bad argument.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_ids(
    detector: jostle_detector,
    buffer: *mut u64,
    capacity: usize,
    count: *mut usize,
) -> jostle_status {
    guard(|| {
        let ids: Vec<u64> =
            ask(detector, |detector| Ok(detector.boxes().ids().map(number_of).collect()))?;
        // SAFETY: the caller's word.
        unsafe { fill(&ids, buffer, capacity, count) }
    })
}

/// The id of the box in a slot, by which pairs name it; JOSTLE_NO_ID if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_id_at(
    detector: jostle_detector,
    slot: u32,
    out: *mut u64,
) -> jostle_status {
    guard(|| {
        let id = ask(detector, |detector| Ok(detector.boxes().id_at(engine::Slot::new(slot))))?;
        // SAFETY: the caller's word.
        unsafe { write(id.map_or(crate::JOSTLE_NO_ID, number_of), out, "out") }
    })
}

/// The bounds of some boxes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_get(
    detector: jostle_detector,
    ids: *const u64,
    count: usize,
    out: *mut jostle_aabb,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let ids = unsafe { slice(ids, count, "ids") }?;
        let bounds: Vec<jostle_aabb> = ask(detector, |detector| {
            check_ids(detector.boxes(), ids)?;
            let aabbs = detector.boxes().aabbs();
            let bounds = ids.iter().map(|&id| aabbs[id_of(id).index()]);
            Ok(bounds.map(|aabb| jostle_aabb { min: aabb.min, max: aabb.max }).collect())
        })?;
        // SAFETY: the caller's word.
        unsafe { copy_out(&bounds, out, "out") }
    })
}

/// Replaces the algorithm. Pairs and events continue as if nothing had happened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_set_algorithm(
    detector: jostle_detector,
    name: *const c_char,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let algorithm = algorithm(unsafe { text(name, "name") }?)?;
        change(detector, |detector| {
            detector.set_algorithm(algorithm);
            Ok(())
        })
    })
}

/// Sets how many pairs may overlap before a step is refused.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_detector_set_pair_limit(
    detector: jostle_detector,
    limit: u64,
) -> jostle_status {
    guard(|| {
        change(detector, |detector| {
            detector.set_pair_limit(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(())
        })
    })
}

/// Why the algorithm does what it does, as text that ends with a zero byte, into a buffer of the
/// caller's. `length` counts the zero byte. Empty for an algorithm that does not choose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_reason(
    detector: jostle_detector,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> jostle_status {
    guard(|| {
        let reason = ask(detector, |detector| Ok(detector.reason().unwrap_or_default()))?;
        let text: Vec<c_char> = reason
            .bytes()
            .filter(|&byte| byte != 0)
            .chain([0])
            .map(|byte| byte as c_char)
            .collect();
        // SAFETY: the caller's word.
        unsafe { fill(&text, buffer, capacity, length) }
    })
}

/// What the algorithm counted in its last step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_stats(
    detector: jostle_detector,
    out: *mut jostle_stats,
) -> jostle_status {
    guard(|| {
        let stats = ask(detector, |detector| Ok(detector.stats()))?;
        let bytes = stats.bytes as u64;
        let stats = jostle_stats { tests: stats.tests, swaps: stats.swaps, bytes };
        // SAFETY: the caller's word.
        unsafe { write(stats, out, "out") }
    })
}
