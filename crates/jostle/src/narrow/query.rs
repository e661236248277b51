//! [`Query`]: the questions about a pair, with settings and scratch memory.

use super::answer::{
    Closest, Contact, Ending, Intersection, ManifoldPoint, Options, Signed, touch_tolerance,
};
use super::cache::PairCache;
use super::placed::Placed;
use super::solve::{Goal, Memory, Request, Scratch, size_of, solve};
use super::surface;

/// Asks questions about pairs of shapes: it holds their settings and the scratch memory.
///
/// Keep one per thread. After the first few questions none allocates. The last argument of every
/// question is the pair's own memory; pass [`PairCache::none`] for pairs that are asked once.
///
/// ```
/// use jostle::narrow::{Options, PairCache, Placed, Query};
/// use jostle::shape::{Pose, Shape};
///
/// let (arm, wall) = (Shape::capsule(0.1, 1.0)?, Shape::half_space([0.0, 1.0, 0.0].into(), 0.0)?);
/// let wall = Placed::new(&wall, Pose::IDENTITY);
/// let mut query = Query::new(Options::default().with_margin(0.05));
/// let mut cache = PairCache::new(); // one for this pair, as long as it is asked about
/// let mut least = f64::INFINITY;
/// for step in 0..10 {
///     let arm = Placed::new(&arm, Pose::at([0.0, 2.0 - 0.05 * f64::from(step), 0.0])?);
///     least = least.min(query.distance(&arm, &wall, &mut cache));
/// }
/// assert!((least - 0.4).abs() < 1e-12); // 1.55 - 1.0 - 0.1, less the margin
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Query {
    options: Options,
    /// A single question about spheres need not even make room for it.
    pub(super) scratch: Option<Box<Scratch>>,
    /// Points that a manifold chooses from.
    pub(super) candidates: Vec<ManifoldPoint>,
    /// Numbers of near pieces.
    pub(super) numbers: Vec<u32>,
}

impl Query {
    /// A query with settings.
    pub const fn new(options: Options) -> Query {
        Query { options, scratch: None, candidates: Vec::new(), numbers: Vec::new() }
    }

    /// The settings.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Changes the settings. Memories of pairs stay valid.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Do two shapes touch or overlap?
    #[inline]
    pub fn intersects(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        cache: &mut PairCache,
    ) -> Intersection {
        let reach = touch_tolerance(size_of(a.shape, b.shape));
        let answer = self.ask(a, b, Goal::Boolean, reach, cache);
        let ending = answer.as_ref().map_or(Ending::Converged, |answer| answer.ending);
        Intersection { hit: answer.is_some(), ending }
    }

    /// The distance between two shapes; zero when they touch or overlap.
    #[inline]
    pub fn distance(&mut self, a: &Placed<'_>, b: &Placed<'_>, cache: &mut PairCache) -> f64 {
        self.closest_points(a, b, cache).distance
    }

    /// The nearest points of two shapes and their distance.
    #[inline]
    pub fn closest_points(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        cache: &mut PairCache,
    ) -> Closest {
        let answer = self.ask(a, b, Goal::Distance, f64::INFINITY, cache);
        answer.map_or(Contact::NONE, |answer| answer.contact(size_of(a.shape, b.shape))).into()
    }

    /// Distance or depth of two shapes, with normal and points.
    #[inline]
    pub fn contact(&mut self, a: &Placed<'_>, b: &Placed<'_>, cache: &mut PairCache) -> Contact {
        self.contact_within(a, b, f64::INFINITY, cache).unwrap_or(Contact::NONE)
    }

    /// As [`Query::contact`], for shapes up to `reach` apart; `None` for those further apart, which
    /// is found out much faster than their distance.
    #[inline]
    pub fn contact_within(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
        cache: &mut PairCache,
    ) -> Option<Contact> {
        let size = size_of(a.shape, b.shape);
        let reach = reach.max(0.0) + touch_tolerance(size);
        Some(self.ask(a, b, Goal::Contact, reach, cache)?.contact(size))
    }

    #[inline(always)]
    fn ask(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        goal: Goal,
        reach: f64,
        cache: &mut PairCache,
    ) -> Option<Signed> {
        let request = Request { goal, options: self.options, reach };
        let memory = &mut Memory { cache, scratch: &mut self.scratch };
        if surface::concerns(a.shape, b.shape) {
            return Some(surface::solve(a, b, &request, memory)?.signed);
        }
        solve(a, b, &request, memory)
    }
}

/// A query with the default settings, for one question.
const ONCE: Query = Query::new(Options::DEFAULT);

/// Do two shapes touch or overlap?
#[must_use]
pub fn intersects(a: &Placed<'_>, b: &Placed<'_>) -> Intersection {
    { ONCE }.intersects(a, b, &mut PairCache::none())
}

/// The distance between two shapes; zero when they touch or overlap.
#[must_use]
pub fn distance(a: &Placed<'_>, b: &Placed<'_>) -> f64 {
    { ONCE }.distance(a, b, &mut PairCache::none())
}

/// The nearest points of two shapes and their distance.
#[must_use]
pub fn closest_points(a: &Placed<'_>, b: &Placed<'_>) -> Closest {
    { ONCE }.closest_points(a, b, &mut PairCache::none())
}

/// Distance or depth of two shapes, with normal and points.
#[must_use]
pub fn contact(a: &Placed<'_>, b: &Placed<'_>) -> Contact {
    { ONCE }.contact(a, b, &mut PairCache::none())
}

/// As [`contact`], for shapes up to `reach` apart; `None` for those further apart, which is found
/// out much faster than their distance.
#[must_use]
pub fn contact_within(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<Contact> {
    { ONCE }.contact_within(a, b, reach, &mut PairCache::none())
}
