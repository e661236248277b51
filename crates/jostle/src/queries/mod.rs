//! [`BoxQueries`]: queries on a set of boxes. [`Queries`] collects, sorts and batches them.
//!
//! **What is exact.** Overlap and containment compare the given f32 numbers and nothing else.
//! Distances and times along a [`Cast`] are computed in f64 by one formula, the same for boxes
//! and for the nodes around them; each of its steps is monotone, rounding included, so a node is
//! never farther than a box in it, and the answer is that of a plain loop over all boxes to the
//! last bit. Differences of f32 numbers are exact in f64 unless their exponents differ by more
//! than 29, so squared distances are right to a few units in the 16th digit.
//!
//! **Ties** go by id, and a list sorted by distance is sorted by id among equals.
//!
//! **Bad input** finds nothing: a query with NaN in it, a negative radius, a cast whose direction
//! is not finite. Infinite boxes and points are legal.
//!
//! **Filters.** A query has a filter as a box has, and finds the boxes that such a box could pair
//! with. [`Filter::ALL`] finds all boxes that pair with anything at all.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::filter::Filter;
use crate::id::{BoxId, Slot};
use crate::pair::Pair;
use crate::par::Workers;

/// A box, or a point, that moves on a straight line: at time `t` it is displaced by `t` times the
/// direction, for `t` from 0 to a limit.
///
/// ```
/// use jostle::{Aabb, Cast};
///
/// let target = Aabb::new([5.0, 0.0, 0.0], [6.0, 1.0, 1.0]);
/// let ray = Cast::ray([0.0, 0.5, 0.5], [2.0, 0.0, 0.0]);
/// assert_eq!(ray.enters(&target), Some(2.5));
/// assert_eq!(ray.until(2.0).enters(&target), None);
/// let ball = Aabb::around([0.0, 0.5, 0.5], [1.0, 1.0, 1.0]);
/// assert_eq!(Cast::swept(ball, [8.0, 0.0, 0.0]).enters(&target), Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cast {
    /// Where it begins.
    pub start: Aabb,
    /// How far it goes in one unit of time, in any length.
    pub direction: [f32; 3],
    /// When it ends; may be infinite.
    pub limit: f32,
}

impl Cast {
    /// An endless ray from a point.
    pub const fn ray(origin: [f32; 3], direction: [f32; 3]) -> Cast {
        Cast { start: Aabb::point(origin), direction, limit: f32::INFINITY }
    }

    /// A box that moves by `motion` from time 0 to time 1.
    pub const fn swept(start: Aabb, motion: [f32; 3]) -> Cast {
        Cast { start, direction: motion, limit: 1.0 }
    }

    /// This cast with another end.
    pub const fn until(self, limit: f32) -> Cast {
        Cast { limit, ..self }
    }

    /// When the cast first touches a box: 0 if it touches it at the start, none if it misses. Boxes
    /// are closed: grazing a face, an edge or a corner is a touch. On an axis along which the cast
    /// does not move only the intervals are compared, so there is no 0 / 0.
    pub fn enters(&self, aabb: &Aabb) -> Option<f64> {
        Prepared::new(self).and_then(|cast| cast.enters(aabb))
    }
}

/// A cast with what each test would compute again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prepared {
    start: Aabb,
    /// Times per unit of length; 0 if it does not move.
    inverse: [f64; 3],
    limit: f64,
}

impl Prepared {
    /// None for a cast that finds nothing.
    pub(crate) fn new(cast: &Cast) -> Option<Prepared> {
        let finite = cast.direction.iter().all(|part| part.is_finite());
        let valid = finite && cast.limit >= 0.0 && cast.start.check().is_ok();
        // The inverse of the smallest f32 is finite in f64.
        let inverse =
            cast.direction.map(|part| if part == 0.0 { 0.0 } else { 1.0 / f64::from(part) });
        valid.then(|| Prepared { start: cast.start, inverse, limit: f64::from(cast.limit) })
    }

    /// See [`Cast::enters`].
    #[inline]
    pub(crate) fn enters(&self, aabb: &Aabb) -> Option<f64> {
        let (mut enter, mut leave) = (0.0f64, self.limit);
        for k in 0..3 {
            let inverse = self.inverse[k];
            let to_min = f64::from(aabb.min[k]) - f64::from(self.start.max[k]);
            let to_max = f64::from(aabb.max[k]) - f64::from(self.start.min[k]);
            if inverse == 0.0 {
                let meets = self.start.min[k] <= aabb.max[k] && aabb.min[k] <= self.start.max[k];
                if !meets {
                    return None;
                }
            } else {
                let (first, last) = if inverse > 0.0 { (to_min, to_max) } else { (to_max, to_min) };
                // Infinity minus infinity is NaN: both are at the same infinite end, which they
                // never leave, so it bounds nothing; `max` and `min` ignore it.
                enter = enter.max(first * inverse);
                leave = leave.min(last * inverse);
            }
        }
        // An empty lane of a node is NaN in all bounds, which the minima and maxima ignore.
        (enter <= leave && !aabb.min[0].is_nan()).then_some(enter)
    }
}

/// The square of the distance from a point to a box, 0 inside; NaN if there is no box.
#[inline]
pub(crate) fn distance_squared(point: &[f32; 3], aabb: &Aabb) -> f64 {
    let mut sum = 0.0;
    for k in 0..3 {
        let at = f64::from(point[k]);
        let gap = (f64::from(aabb.min[k]) - at).max(at - f64::from(aabb.max[k])).max(0.0);
        sum += gap * gap;
    }
    if aabb.min[0].is_nan() { f64::NAN } else { sum }
}

/// The square of the distance between two boxes, 0 if they overlap.
#[inline]
pub(crate) fn gap_squared(one: &Aabb, other: &Aabb) -> f64 {
    let mut sum = 0.0;
    for k in 0..3 {
        let below = f64::from(one.min[k]) - f64::from(other.max[k]);
        let above = f64::from(other.min[k]) - f64::from(one.max[k]);
        let gap = below.max(above).max(0.0);
        sum += gap * gap;
    }
    sum
}

/// A box hit by a [`Cast`]. Structures for queries name boxes by [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit<Id = BoxId> {
    /// The box.
    pub id: Id,
    /// When it is first touched, in units of the cast's direction; 0 if the cast starts in it.
    pub enter: f64,
}

/// A box near a point. Structures for queries name boxes by [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near<Id = BoxId> {
    /// The box.
    pub id: Id,
    /// The square of its distance, 0 if it contains the point.
    pub distance_squared: f64,
}

/// Two boxes near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearPair {
    /// The boxes.
    pub pair: Pair,
    /// The square of their distance, 0 if they overlap.
    pub distance_squared: f64,
}

/// Called with each box that is found; breaking ends the search.
pub(crate) type Visit<'v, T> = &'v mut dyn FnMut(T) -> ControlFlow<()>;

/// Queries that visit what they find, in no particular order. [`Queries`] sorts.
pub trait BoxQueries: Debug + Sync {
    /// Boxes that overlap a box.
    fn visit_overlapping(
        &self,
        aabb: &Aabb,
        filter: &Filter,
        visit: Visit<'_, Slot>,
    ) -> ControlFlow<()>;

    /// Boxes no farther from a point than a radius.
    fn visit_within(
        &self,
        point: [f32; 3],
        radius: f32,
        filter: &Filter,
        visit: Visit<'_, Near<Slot>>,
    ) -> ControlFlow<()>;

    /// Boxes that a cast touches.
    fn visit_hits(
        &self,
        cast: &Cast,
        filter: &Filter,
        visit: Visit<'_, Hit<Slot>>,
    ) -> ControlFlow<()>;

    /// The box that a cast touches first.
    fn first_hit(&self, cast: &Cast, filter: &Filter) -> Option<Hit<Slot>>;

    /// The `count` boxes nearest to a point, nearest first.
    fn nearest(&self, point: [f32; 3], count: usize, filter: &Filter) -> Vec<Near<Slot>>;

    /// The `count` nearest pairs of boxes that may pair, nearest first; overlapping ones are at
    /// distance 0.
    fn nearest_pairs(&self, count: usize) -> Vec<NearPair>;
}

/// Queries on a set of boxes as it is now. Made by [`Detector::queries`](crate::Detector::queries).
///
/// ```
/// use jostle::{Aabb, Algorithm, Cast, Detector, Filter};
///
/// let mut detector = Detector::new(Algorithm::Auto);
/// let unit = |x: f32| Aabb::new([x, 0.0, 0.0], [x + 1.0, 1.0, 1.0]);
/// let near = detector.insert(unit(2.0), Filter::ALL)?;
/// let far = detector.insert(unit(7.0), Filter::ALL)?;
/// let queries = detector.queries(); // no step is needed in between
/// assert_eq!(queries.overlapping(&unit(6.5), &Filter::ALL), [far]);
/// let ray = Cast::ray([0.0, 0.5, 0.5], [1.0, 0.0, 0.0]);
/// let hit = queries.first_hit(&ray, &Filter::ALL).unwrap();
/// assert_eq!((hit.id, hit.enter), (near, 2.0));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone)]
pub struct Queries<'a> {
    source: Source<'a>,
    boxes: &'a Boxes,
    workers: &'a Workers,
}

/// Something shared that holds a structure for queries.
pub(crate) trait QuerySource: Send + Sync {
    /// The structure.
    fn queries(&self) -> &dyn BoxQueries;
}

#[derive(Clone)]
enum Source<'a> {
    Borrowed(&'a dyn BoxQueries),
    Shared(Arc<dyn QuerySource>),
}

impl std::fmt::Debug for Queries<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queries").field("boxes", &self.boxes.len()).finish_non_exhaustive()
    }
}

impl<'a> Queries<'a> {
    pub(crate) fn borrowed(
        tree: &'a dyn BoxQueries,
        boxes: &'a Boxes,
        workers: &'a Workers,
    ) -> Queries<'a> {
        Queries { source: Source::Borrowed(tree), boxes, workers }
    }

    pub(crate) fn shared(
        tree: Arc<dyn QuerySource>,
        boxes: &'a Boxes,
        workers: &'a Workers,
    ) -> Queries<'a> {
        Queries { source: Source::Shared(tree), boxes, workers }
    }

    fn tree(&self) -> &dyn BoxQueries {
        match &self.source {
            Source::Borrowed(tree) => *tree,
            Source::Shared(tree) => tree.queries(),
        }
    }

    fn id(&self, slot: Slot) -> BoxId {
        self.boxes.id_at(slot).expect("queries find boxes that are there")
    }

    fn named_near(&self, near: Near<Slot>) -> Near {
        Near { id: self.id(near.id), distance_squared: near.distance_squared }
    }

    fn named_hit(&self, hit: Hit<Slot>) -> Hit {
        Hit { id: self.id(hit.id), enter: hit.enter }
    }

    /// Boxes that overlap a box, ascending.
    pub fn overlapping(&self, aabb: &Aabb, filter: &Filter) -> Vec<BoxId> {
        let mut found = Vec::new();
        let _ = self.visit_overlapping(aabb, filter, |id| keep(&mut found, id));
        found.sort_unstable();
        found
    }

    /// Calls `visit` with each box that overlaps a box, in no particular order, until it breaks.
    pub fn visit_overlapping(
        &self,
        aabb: &Aabb,
        filter: &Filter,
        mut visit: impl FnMut(BoxId) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.tree().visit_overlapping(aabb, filter, &mut |slot| visit(self.id(slot)))
    }

    /// Boxes that contain a point, ascending.
    pub fn containing(&self, point: [f32; 3], filter: &Filter) -> Vec<BoxId> {
        self.overlapping(&Aabb::point(point), filter)
    }

    /// Boxes no farther from a point than `radius`, nearest first.
    pub fn within(&self, point: [f32; 3], radius: f32, filter: &Filter) -> Vec<Near> {
        let mut found = Vec::new();
        let _ = self.visit_within(point, radius, filter, |near| keep(&mut found, near));
        found.sort_unstable_by(|one, other| {
            by(one.distance_squared, one.id, other.distance_squared, other.id)
        });
        found
    }

    /// Calls `visit` with each box no farther from a point than `radius`, in no particular order,
    /// until it breaks.
    pub fn visit_within(
        &self,
        point: [f32; 3],
        radius: f32,
        filter: &Filter,
        mut visit: impl FnMut(Near) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let visit = &mut |near| visit(self.named_near(near));
        self.tree().visit_within(point, radius, filter, visit)
    }

    /// The `count` boxes nearest to a point, nearest first.
    pub fn nearest(&self, point: [f32; 3], count: usize, filter: &Filter) -> Vec<Near> {
        let found = self.tree().nearest(point, count, filter).into_iter();
        found.map(|near| self.named_near(near)).collect()
    }

    /// The `count` nearest pairs of boxes that may pair, nearest first; overlapping ones are at
    /// distance 0. Excluded pairs are left out.
    pub fn nearest_pairs(&self, count: usize) -> Vec<NearPair> {
        let exclusions = self.boxes.exclusions();
        // Only excluded pairs can stand in the way, so this many more are enough.
        let mut found = self.tree().nearest_pairs(count.saturating_add(exclusions.len()));
        found.retain(|near| !exclusions.contains(near.pair));
        found.truncate(count);
        found
    }

    /// Every box that a cast touches, in the order in which it meets them.
    pub fn hits(&self, cast: &Cast, filter: &Filter) -> Vec<Hit> {
        let mut found = Vec::new();
        let _ = self.visit_hits(cast, filter, |hit| keep(&mut found, hit));
        found.sort_unstable_by(|one, other| by(one.enter, one.id, other.enter, other.id));
        found
    }

    /// Calls `visit` with each box that a cast touches, in no particular order, until it breaks.
    pub fn visit_hits(
        &self,
        cast: &Cast,
        filter: &Filter,
        mut visit: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.tree().visit_hits(cast, filter, &mut |hit| visit(self.named_hit(hit)))
    }

    /// The box that a cast touches first.
    pub fn first_hit(&self, cast: &Cast, filter: &Filter) -> Option<Hit> {
        self.tree().first_hit(cast, filter).map(|hit| self.named_hit(hit))
    }

    /// Returns true if a cast touches some box.
    pub fn any_hit(&self, cast: &Cast, filter: &Filter) -> bool {
        self.tree().visit_hits(cast, filter, &mut |_| ControlFlow::Break(())).is_break()
    }

    /// Answers many queries on all workers; the answers are in the order of the queries.
    ///
    /// ```
    /// # use jostle::{Aabb, Algorithm, Detector, Filter};
    /// # let mut detector = Detector::new(Algorithm::Auto);
    /// # detector.insert(Aabb::point([1.0; 3]), Filter::ALL)?;
    /// let points = [[0.0; 3], [5.0; 3]];
    /// let queries = detector.queries();
    /// let nearest = queries.batch(&points, |queries, &point| {
    ///     queries.nearest(point, 1, &Filter::ALL)[0].distance_squared
    /// });
    /// assert_eq!(nearest, [3.0, 48.0]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn batch<Q: Sync, R: Send>(
        &self,
        queries: &[Q],
        answer: impl Fn(&Queries<'a>, &Q) -> R + Sync,
    ) -> Vec<R> {
        let mut answers: Vec<Option<R>> = Vec::new();
        answers.resize_with(queries.len(), || None);
        self.workers.for_each_chunk(&mut answers, BATCH, |run, answers| {
            for (place, slot) in answers.iter_mut().enumerate() {
                *slot = Some(answer(self, &queries[run * BATCH + place]));
            }
        });
        answers.into_iter().flatten().collect()
    }
}

/// Queries that one task answers.
const BATCH: usize = 32;

fn keep<T>(found: &mut Vec<T>, item: T) -> ControlFlow<()> {
    found.push(item);
    ControlFlow::Continue(())
}

fn by(one: f64, id: BoxId, other: f64, other_id: BoxId) -> std::cmp::Ordering {
    one.total_cmp(&other).then(id.cmp(&other_id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn some_box() -> impl Strategy<Value = Aabb> {
        let corner = prop::array::uniform3(-8i8..8);
        (corner, prop::array::uniform3(0i8..5)).prop_map(|(low, size)| Aabb {
            min: low.map(f32::from),
            max: std::array::from_fn(|k| f32::from(low[k]) + f32::from(size[k])),
        })
    }

    /// How far the displaced box and the other are apart on the worst axis; negative if they
    /// overlap.
    fn gap_at(cast: &Cast, time: f64, aabb: &Aabb) -> f64 {
        (0..3).fold(f64::NEG_INFINITY, |gap, k| {
            let by = f64::from(cast.direction[k]) * time;
            let low = f64::from(cast.start.min[k]) + by - f64::from(aabb.max[k]);
            let high = f64::from(aabb.min[k]) - f64::from(cast.start.max[k]) - by;
            gap.max(low).max(high)
        })
    }

    proptest! {
        /// The time of entry against the definition: apart before it, in touch at it.
        #[test]
        fn casts_touch_when_they_say(
            start in some_box(), aabb in some_box(), towards in prop::array::uniform3(-6i8..6),
        ) {
            let cast = Cast::swept(start, towards.map(|part| f32::from(part) * 0.75)).until(4.0);
            match cast.enters(&aabb) {
                Some(enter) => {
                    prop_assert!((0.0..=4.0).contains(&enter));
                    prop_assert!(gap_at(&cast, enter, &aabb) < 1e-9);
                    for share in [0.0, 0.3, 0.7, 0.99] {
                        prop_assert!(enter == 0.0 || gap_at(&cast, enter * share, &aabb) > 0.0);
                    }
                }
                None => {
                    for step in 0..=400 {
                        prop_assert!(gap_at(&cast, f64::from(step) * 0.01, &aabb) > 0.0);
                    }
                }
            }
        }
    }
}
