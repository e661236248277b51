//! Queries on boxes, in batches.

use engine::{Cast, Filter, Queries};

use crate::detector::{ask, jostle_detector};
use crate::handles::Handles;
use crate::memory::{check_out, check_room, copy_out, optional, slice, triples, write};
use crate::status::{Fault, guard, jostle_status};
use crate::types::{boxes, jostle_aabb, jostle_filter, number_of};

/// A box, or a point as a box of no size, that moves on a straight line.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_cast {
    /// Where it begins.
    pub start: jostle_aabb,
    /// How far it goes in one unit of time.
    pub direction: [f32; 3],
    /// When it ends; may be infinite.
    pub limit: f32,
}

/// What a batch of queries found. It belongs to the caller: free it with jostle_found_free. The
/// answer to query k is at offsets[k] to offsets[k + 1] of the other arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct jostle_found {
    /// One more than there were queries.
    pub offsets: *const usize,
    /// Ids of boxes.
    pub ids: *const u64,
    /// Distances or times, one for each id; null if the question has none.
    pub values: *const f64,
    /// How many queries there were.
    pub queries: usize,
    /// How many ids were found.
    pub count: usize,
    /// The library's.
    pub owner: u64,
}

#[derive(Default)]
struct Found {
    offsets: Vec<usize>,
    ids: Vec<u64>,
    values: Vec<f64>,
}

static FOUND: Handles<Found> = Handles::new("list of answers");

/// What one query found.
type Answer = (Vec<u64>, Vec<f64>);

/// Answers a batch and gives the answers to the caller.
unsafe fn answer<Q: Sync>(
    detector: jostle_detector,
    queries: &[Q],
    filter: *const jostle_filter,
    out: *mut jostle_found,
    with_values: bool,
    answer: impl Fn(&Queries<'_>, &Q, &Filter) -> Answer + Sync,
) -> Result<(), Fault> {
    check_out(out, "out")?;
    // SAFETY: the caller's word.
    let filter = unsafe { optional(filter, "filter") }?.map_or(Filter::ALL, |&one| one.into());
    let answers = ask(detector, |detector| {
        Ok(detector.queries().batch(queries, |engine, query| answer(engine, query, &filter)))
    })?;
    let mut found = Found { offsets: vec![0], ..Found::default() };
    for (ids, values) in answers {
        found.ids.extend(ids);
        found.values.extend(values);
        found.offsets.push(found.ids.len());
    }
    let mut given = jostle_found {
        offsets: found.offsets.as_ptr(),
        ids: found.ids.as_ptr(),
        values: if with_values { found.values.as_ptr() } else { std::ptr::null() },
        queries: queries.len(),
        count: found.ids.len(),
        owner: 0,
    };
    given.owner = FOUND.insert(found);
    // SAFETY: the caller's word.
    unsafe { write(given, out, "out") }
}

/// Frees answers and empties the struct, so that freeing it again does nothing. Freeing a copy of
/// one that was freed is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_found_free(found: *mut jostle_found) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let owner = unsafe { slice(found.cast_const(), 1, "found") }?[0].owner;
        if owner != 0 {
            FOUND.remove(owner)?;
        }
        let (offsets, ids, values) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
        let empty = jostle_found { offsets, ids, values, queries: 0, count: 0, owner: 0 };
        // SAFETY: the caller's word.
        unsafe { write(empty, found, "found") }
    })
}

/// Boxes that overlap each of some boxes, ascending; a point is a box of no size. `filter` may be
/// null. Pending changes are seen.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_overlapping(
    detector: jostle_detector,
    asked: *const jostle_aabb,
    count: usize,
    filter: *const jostle_filter,
    out: *mut jostle_found,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let asked = boxes(unsafe { slice(asked, count, "asked") }?);
        // SAFETY: the caller's word.
        unsafe {
            answer(detector, asked, filter, out, false, |engine, aabb, filter| {
                let ids = engine.overlapping(aabb, filter);
                (ids.into_iter().map(number_of).collect(), Vec::new())
            })
        }
    })
}

fn nears(found: Vec<engine::Near>) -> Answer {
    found.iter().map(|near| (number_of(near.id), near.distance_squared.sqrt())).unzip()
}

/// Boxes no farther than `radius` from each of some points, nearest first; values are distances.
/// Points are three numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_within(
    detector: jostle_detector,
    points: *const f32,
    count: usize,
    radius: f32,
    filter: *const jostle_filter,
    out: *mut jostle_found,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let points = unsafe { triples(points, count, "points") }?;
        // SAFETY: the caller's word.
        unsafe {
            answer(detector, points, filter, out, true, |engine, &point, filter| {
                nears(engine.within(point, radius, filter))
            })
        }
    })
}

/// The `wanted` boxes nearest to each of some points, nearest first; values are distances. Points
/// are three numbers each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_nearest(
    detector: jostle_detector,
    points: *const f32,
    count: usize,
    wanted: usize,
    filter: *const jostle_filter,
    out: *mut jostle_found,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let points = unsafe { triples(points, count, "points") }?;
        // SAFETY: the caller's word.
        unsafe {
            answer(detector, points, filter, out, true, |engine, &point, filter| {
                nears(engine.nearest(point, wanted, filter))
            })
        }
    })
}

fn cast(cast: &jostle_cast) -> Cast {
    let start = engine::Aabb::new(cast.start.min, cast.start.max);
    Cast { start, direction: cast.direction, limit: cast.limit }
}

/// Every box that each of some casts touches, in the order in which it meets them; values are
/// times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_hits(
    detector: jostle_detector,
    casts: *const jostle_cast,
    count: usize,
    filter: *const jostle_filter,
    out: *mut jostle_found,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let casts = unsafe { slice(casts, count, "casts") }?;
        // SAFETY: the caller's word.
        unsafe {
            answer(detector, casts, filter, out, true, |engine, one, filter| {
                let hits = engine.hits(&cast(one), filter);
                hits.iter().map(|hit| (number_of(hit.id), hit.enter)).unzip()
            })
        }
    })
}

/// The box that each of some casts touches first, and when: JOSTLE_NO_ID and infinity for one that
/// misses. Both arrays have room for `count`; either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_detector_first_hits(
    detector: jostle_detector,
    casts: *const jostle_cast,
    count: usize,
    filter: *const jostle_filter,
    ids: *mut u64,
    times: *mut f64,
) -> jostle_status {
    guard(|| {
        // SAFETY: the caller's word.
        let casts = unsafe { slice(casts, count, "casts") }?;
        // SAFETY: the caller's word.
        let filter = unsafe { optional(filter, "filter") }?.map_or(Filter::ALL, |&one| one.into());
        let (with_ids, with_times) = (!ids.is_null(), !times.is_null());
        if with_ids {
            check_room(ids, count, "ids")?;
        }
        if with_times {
            check_room(times, count, "times")?;
        }
        let hits = ask(detector, |detector| {
            let queries = detector.queries();
            Ok(queries.batch(casts, |engine, one| engine.first_hit(&cast(one), &filter)))
        })?;
        let hit = |hit: Option<engine::Hit>| match hit {
            Some(hit) => (number_of(hit.id), hit.enter),
            None => (crate::JOSTLE_NO_ID, f64::INFINITY),
        };
        let (found, entered): (Vec<u64>, Vec<f64>) = hits.into_iter().map(hit).unzip();
        if with_ids {
            // SAFETY: the caller's word.
            unsafe { copy_out(&found, ids, "ids") }?;
        }
        if with_times {
            // SAFETY: the caller's word.
            unsafe { copy_out(&entered, times, "times") }?;
        }
        Ok(())
    })
}
