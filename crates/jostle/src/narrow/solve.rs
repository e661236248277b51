//! The one decision behind every question: which method answers for a pair, and what it says.
//!
//! Distance and depth are one signed number. Each pair of kinds has one way to find it, whatever
//! was asked; a question only decides how early that way may end. So no two questions can
//! contradict each other.

use super::answer::{Contact, Ending, Method, Options, Signed, Status, touch_tolerance};
use super::box_box::{self, Axes};
use super::cache::PairCache;
use super::clip::Facets;
use super::coaxial::Link;
use super::epa::Polytope;
use super::gjk::{self, End};
use super::pair::{Ball, Core, Cores, must_swap, relative};
use super::pieces::Seen;
use super::placed::Placed;
use super::simplex::Simplex;
use super::{closed, half_space, isa_gjk, warm, witness};
use crate::shape::Shape;
use glam::DVec3;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// Touch or not.
    Boolean,
    /// The distance if there is one.
    Distance,
    /// Distance or depth.
    Contact,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub goal: Goal,
    pub options: Options,
    /// Pairs proven to be further apart than this get no answer.
    pub reach: f64,
}

/// What a question may write to: the pair's memory, and scratch that the asker owns.
pub(crate) struct Memory<'a> {
    pub cache: &'a mut PairCache,
    /// Made when the first pair needs it.
    pub scratch: &'a mut Option<Box<Scratch>>,
}

/// Memory that is used again from question to question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// Of EPA.
    pub polytope: Polytope,
    pub facets: Facets,
    /// Of coaxial bodies.
    pub chain: Vec<Link>,
    /// The piece that answered for the last compound.
    pub piece: u32,
}

/// Gap of the bounds, relative to the size, at which iterations on polyhedra end.
pub(super) const POLYHEDRAL_GAP: f64 = 1e-13;
/// The same for curved shapes, which approach their answer without ever reaching it.
pub(super) const CURVED_GAP: f64 = 2e-11;
/// Most steps of GJK; polyhedra end after ten, needles and thin curved shapes after a hundred.
pub(super) const GJK_STEPS: u32 = 256;

/// The size that tolerances refer to: the sum of the bounding radii, without half-spaces.
#[inline]
pub(crate) fn size_of(a: &Shape, b: &Shape) -> f64 {
    let radius = |shape: &Shape| if shape.is_bounded() { shape.bounding_radius() } else { 0.0 };
    radius(a) + radius(b)
}

/// Answers in the world's frame. `None`: proven to be further apart than the reach.
#[inline(always)]
pub(crate) fn solve(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Signed> {
    memory.cache.count_searches(0);
    let offset = b.pose.translation() - a.pose.translation();
    if let (&Shape::Sphere { radius: first }, &Shape::Sphere { radius: second }) =
        (a.shape, b.shape)
        && offset.length_squared() > ONE_CENTER
        && !request.options.flat
    {
        let round =
            |placed: &Placed<'_>, radius| Round { center: placed.pose.translation(), radius };
        let answer = spheres(&round(a, first), &round(b, second), 0.5 * request.options.margin);
        return within(answer, request);
    }
    let swapped = must_swap(a, b);
    let (first, second) = if swapped { (b, a) } else { (a, b) };
    memory.cache.orient(swapped, first.shape, second.shape);
    let answer = solve_ordered(first, second, request, memory)?;
    Some(if swapped { answer.mirrored() } else { answer })
}

/// A ball in the world. The radius of what is no ball is no number.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Round {
    pub center: DVec3,
    pub radius: f64,
}

impl Round {
    /// How two balls up to `reach` apart lie to each other, as a query without settings says. The
    /// outer `None`: they are not two balls, or have one center.
    #[inline]
    pub(crate) fn status(&self, other: &Round, reach: f64) -> Option<Option<Status>> {
        let square = (other.center - self.center).length_squared();
        let size = self.radius + other.radius;
        // False for what is no number.
        let apart = square > ONE_CENTER && size >= 0.0;
        if !apart {
            return None;
        }
        let reach = reach.max(0.0) + touch_tolerance(size);
        let limit = size + reach;
        // Beyond all rounding: most pairs of boxes end here, without a root.
        if square > limit * limit * (1.0 + 1e-12) {
            return Some(None);
        }
        let signed = spheres(self, other, 0.0).signed;
        Some((signed <= reach).then(|| Status::of(signed, size)))
    }

    /// The contact of two balls that have a status.
    #[inline]
    pub(crate) fn contact(&self, other: &Round) -> Contact {
        spheres(self, other, 0.0).contact(self.radius + other.radius)
    }
}

/// Squared distance up to which two balls have one center.
const ONE_CENTER: f64 = 1e-200;

/// Spheres apart from each other's centers need no order: every step mirrors by itself. Each is
/// grown by a margin.
#[inline]
fn spheres(a: &Round, b: &Round, margin: f64) -> Signed {
    let offset = b.center - a.center;
    let distance = offset.length();
    let normal = offset / distance;
    let (radius_a, radius_b) = (a.radius + margin, b.radius + margin);
    Signed {
        signed: distance - (radius_a + radius_b),
        normal,
        on_a: a.center + normal * radius_a,
        on_b: b.center - normal * radius_b,
        bound: 8.0 * f64::EPSILON * (distance + radius_a + radius_b),
        ending: Ending::Closed,
    }
}

#[inline(always)]
fn solve_ordered(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Signed> {
    if let Shape::Compound(_) = b.shape {
        return pieces(b, a, request, memory).map(Signed::mirrored);
    }
    match a.shape {
        Shape::Compound(_) => pieces(a, b, request, memory),
        Shape::HalfSpace { normal, offset } => {
            let answer = half_space::half_space_any(*normal, *offset, &a.pose, b);
            let answer = answer.grown(0.0, request.options.margin).with_other_point();
            within(if request.options.flat { answer.leveled_half_space() } else { answer }, request)
        }
        _ => convex(a, b, request, memory),
    }
}

/// Drops answers beyond the reach.
#[inline(always)]
fn within(answer: Signed, request: &Request) -> Option<Signed> {
    (answer.signed <= request.reach).then_some(answer)
}

/// A compound against anything: the least signed distance over its pieces, the first among equals.
/// Pieces whose bounding spheres are further away than the best answer are skipped.
#[inline(never)]
fn pieces(
    compound: &Placed<'_>,
    other: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Signed> {
    let Shape::Compound(parts) = compound.shape else { return None };
    let mut best: Option<(u32, Signed)> = None;
    let mut request = *request;
    let seen = Seen::new(parts, compound, other, &request.options);
    let mut caches = memory.cache.pieces();
    let scratch = &mut *memory.scratch;
    parts.near(&|low, high| seen.bound(low, high), request.reach, &mut |number| {
        let piece = &parts.pieces()[number as usize];
        let placed = Placed::new(&piece.shape, compound.pose.compose(&piece.pose));
        if !spheres_apart(&placed, other, &request.options, request.reach) {
            let memory = &mut Memory { cache: caches.of(number), scratch };
            if let Some(answer) = solve_piece(&placed, other, &request, memory)
                && best.is_none_or(|(first, best)| {
                    answer.signed < best.signed || answer.signed == best.signed && number < first
                })
            {
                best = Some((number, answer));
                request.reach = answer.signed.max(0.0);
            }
        }
        request.reach
    });
    caches.finish();
    memory.scratch.get_or_insert_default().piece = best.map_or(0, |(number, _)| number);
    best.map(|(_, answer)| answer)
}

/// Solves a pair of pieces, out of line: the recursion ends here.
#[inline(never)]
fn solve_piece(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Signed> {
    solve(a, b, request, memory)
}

/// Returns true if the bounding spheres, with the margin, are further apart than the reach.
pub(crate) fn spheres_apart(a: &Placed<'_>, b: &Placed<'_>, options: &Options, reach: f64) -> bool {
    let radii = a.shape.bounding_radius() + b.shape.bounding_radius();
    let mut centers = (b.pose.translation() - a.pose.translation())
        + b.pose.apply_vector(b.shape.center())
        - a.pose.apply_vector(a.shape.center());
    if options.flat {
        centers.z = 0.0;
    }
    // An infinite radius or reach compares false, as it should.
    centers.length() > (radii + (reach + options.margin)) * (1.0 + 1e-12)
}

/// A pair of bounded convex shapes in the frame of the first.
pub(super) struct Ready<'a> {
    pub cores: Cores<'a>,
    pub radii: [f64; 2],
    pub size: f64,
    /// From b's center to a's.
    pub between: DVec3,
    /// Around b.
    pub ball: Ball,
}

#[inline(always)]
fn convex(
    a: &Placed<'_>,
    b: &Placed<'_>,
    request: &Request,
    memory: &mut Memory<'_>,
) -> Option<Signed> {
    let size = size_of(a.shape, b.shape);
    let radii = [a.shape.margin(), b.shape.margin() + request.options.margin];
    if let (Shape::Sphere { .. }, Shape::Sphere { .. }) = (a.shape, b.shape)
        && !request.options.flat
    {
        let offset = b.pose.translation() - a.pose.translation();
        let mut answer = closed::point_point(offset, size).grown(radii[0], radii[1]);
        answer.on_a += a.pose.translation();
        return within(answer.with_other_point(), request);
    }
    let b_in_a = relative(&a.pose, &b.pose);
    let ball = Ball { center: b.shape.center(), radius: b.shape.bounding_radius() };
    let beyond = request.reach + radii[0] + radii[1] + touch_tolerance(size);
    if !request.options.flat && memory.cache.proves_apart(beyond, &ball, &b_in_a) {
        return None;
    }
    let mut ready = Ready {
        radii,
        size,
        between: a.shape.center() - b_in_a.apply(ball.center),
        ball,
        cores: Cores {
            a: Core::of(a.shape),
            b: Core::of(b.shape),
            b_in_a,
            hints: memory.cache.hints(),
            searches: 0,
        },
    };
    let answer = if request.options.flat {
        ready.flat(a.pose.inverse_apply_vector(DVec3::Z), request)
    } else {
        ready.answer(request, memory)
    };
    memory.cache.count_searches(ready.cores.searches);
    let answer = answer?;
    let placed = Signed {
        normal: a.pose.apply_vector(answer.normal),
        on_a: a.pose.apply(answer.on_a),
        ..answer
    };
    let placed = if request.options.flat { placed.leveled() } else { placed };
    Some(placed.with_other_point())
}

impl Ready<'_> {
    #[inline(always)]
    fn answer(&mut self, request: &Request, memory: &mut Memory<'_>) -> Option<Signed> {
        if request.options.method == Method::Auto
            && let Some(cores) = self.closed_form()
        {
            return within(cores.grown(self.radii[0], self.radii[1]), request);
        }
        if let (Core::Box(half_a), Core::Box(half_b), Method::Auto) =
            (self.cores.a, self.cores.b, request.options.method)
        {
            return self.boxes(half_a, half_b, request, memory);
        }
        if request.goal == Goal::Boolean {
            return self.boolean(request, memory.cache);
        }
        self.iterate(request, memory)
    }

    #[inline(always)]
    fn closed_form(&self) -> Option<Signed> {
        let (pose, size) = (&self.cores.b_in_a, self.size);
        match (self.cores.a, self.cores.b) {
            (Core::Point, Core::Point) => Some(closed::point_point(pose.translation, size)),
            (Core::Segment(half), Core::Point) => {
                Some(closed::segment_point(half, pose.translation, size))
            }
            (Core::Segment(a), Core::Segment(b)) => Some(closed::segment_segment(a, b, pose, size)),
            (Core::Box(half), Core::Point) => Some(closed::box_point(half, pose.translation, size)),
            _ => None,
        }
    }

    #[inline(never)]
    fn boxes(
        &mut self,
        half_a: DVec3,
        half_b: DVec3,
        request: &Request,
        memory: &mut Memory<'_>,
    ) -> Option<Signed> {
        match box_box::run(half_a, half_b, &self.cores.b_in_a) {
            Axes::Separated { separation, .. }
                if separation > request.reach + self.radii[0] + self.radii[1] =>
            {
                None
            }
            Axes::Separated { axis, .. } => {
                self.between = -axis;
                match request.goal {
                    Goal::Boolean => self.boolean(request, memory.cache),
                    _ => self.iterate(request, memory),
                }
            }
            Axes::Overlapping { depth, normal } => {
                let on_a = match request.goal {
                    Goal::Contact => {
                        let facets = &mut memory.scratch.get_or_insert_default().facets;
                        witness::deepest(&self.cores, normal, facets)
                    }
                    _ => DVec3::ZERO,
                };
                let bound = 16.0 * f64::EPSILON * self.size;
                let cores = Signed {
                    signed: -depth,
                    normal,
                    on_a,
                    on_b: on_a,
                    bound,
                    ending: Ending::Closed,
                };
                Some(cores.grown(self.radii[0], self.radii[1]))
            }
        }
    }

    /// Fills the simplex of the last frame in and names the axis to start along without one.
    #[inline(always)]
    fn start(&self, cache: &PairCache, simplex: &mut Simplex) -> DVec3 {
        cache.fill(&self.cores, simplex);
        if cache.axis() == DVec3::ZERO { self.between } else { cache.axis() }
    }

    /// A certain miss gives no answer, a hit one whose sign alone counts.
    fn boolean(&mut self, request: &Request, cache: &mut PairCache) -> Option<Signed> {
        let radius = self.radii[0] + self.radii[1] + request.reach;
        let mut simplex = Simplex::default();
        let axis = self.start(cache, &mut simplex);
        let found = isa_gjk::run(&mut self.cores, &mut simplex, axis, radius, GJK_STEPS);
        cache.keep(&simplex, found.axis, self.cores.hints, !found.hit);
        cache.keep_distance(&self.cores.b_in_a, found.lower);
        let stalled = found.end == End::Stalled;
        // A contact query ends at bounds that are nearly equal, and may find itself on the other
        // side of the limit where this search went on; so near the limit it is asked.
        let doubt = 2.0 * self.gjk_limits(radius).gap + self.rounding();
        let close = if found.hit {
            found.axis.length() > radius - doubt
        } else {
            found.lower < radius + doubt
        };
        let hit = if stalled || close { self.decide(radius) } else { found.hit };
        let ending = if stalled { Ending::Stalled } else { Ending::Converged };
        let unmeasured = Signed {
            signed: 0.0,
            normal: DVec3::X,
            on_a: DVec3::ZERO,
            on_b: DVec3::ZERO,
            bound: f64::INFINITY,
            ending,
        };
        hit.then_some(unmeasured)
    }

    /// What a contact query would say: if the search for an axis stalls (needles a billion times as
    /// long as the other shape), and within rounding of the limit.
    #[cold]
    fn decide(&mut self, radius: f64) -> bool {
        let limits = self.gjk_limits(radius);
        let found = gjk::run(&mut self.cores, &mut Simplex::default(), self.between, &limits);
        match found.end {
            End::Overlap => true,
            End::CutOff => false,
            _ => found.upper <= radius,
        }
    }

    #[inline(always)]
    pub(crate) fn gjk_limits(&self, cut_off: f64) -> gjk::Limits {
        let gap = if self.cores.is_polyhedral() { POLYHEDRAL_GAP } else { CURVED_GAP };
        gjk::Limits {
            gap: gap * self.size,
            touch: touch_tolerance(self.size),
            cut_off,
            steps: GJK_STEPS,
        }
    }

    #[inline(always)]
    fn iterate(&mut self, request: &Request, memory: &mut Memory<'_>) -> Option<Signed> {
        let radius = self.radii[0] + self.radii[1];
        if request.goal == Goal::Contact
            && memory.cache.shell().is_some()
            && let Some(cores) = self.resume(memory)
        {
            return Some(cores.grown(self.radii[0], self.radii[1]));
        }
        let cache = &mut *memory.cache;
        let limits = self.gjk_limits(request.reach + radius);
        if request.goal == Goal::Distance
            && let Some(on_a) = warm::still_overlaps(&self.cores, cache)
        {
            return Some(self.overlapping(on_a));
        }
        if let Some(known) = warm::verify(&mut self.cores, cache, &limits) {
            return self.confirm(&known, request, cache);
        }
        let mut simplex = Simplex::default();
        let axis = self.start(cache, &mut simplex);
        let found = gjk::run(&mut self.cores, &mut simplex, axis, &limits);
        cache.keep(&simplex, found.nearest, self.cores.hints, found.end == End::CutOff);
        cache.keep_distance(&self.cores.b_in_a, found.lower);
        let cores = match found.end {
            End::CutOff => return None,
            End::Overlap if request.goal == Goal::Contact => self.depth(&simplex, request, memory),
            _ => self.apart(&found, &simplex),
        };
        within(cores.grown(self.radii[0], self.radii[1]), request)
    }

    /// The answer to the distance of cores that overlap: normal and points mean nothing.
    pub(crate) fn overlapping(&self, on_a: DVec3) -> Signed {
        let cores = Signed {
            signed: 0.0,
            normal: DVec3::X,
            on_a,
            on_b: on_a,
            bound: self.rounding(),
            ending: Ending::Converged,
        };
        cores.grown(self.radii[0], self.radii[1])
    }

    /// The answer when the features of the last frame are still the nearest.
    #[inline(always)]
    fn confirm(
        &self,
        known: &warm::Known,
        request: &Request,
        cache: &mut PairCache,
    ) -> Option<Signed> {
        cache.confirm(known.nearest, self.cores.hints, known.on_a.is_none());
        cache.keep_distance(&self.cores.b_in_a, known.lower);
        let point = known.on_a?;
        let cores = Signed {
            signed: known.upper,
            normal: -known.nearest / known.upper,
            on_a: point,
            on_b: point,
            bound: known.upper - known.lower + self.rounding(),
            ending: Ending::Converged,
        };
        within(cores.grown(self.radii[0], self.radii[1]), request)
    }

    /// The answer of GJK.
    #[inline(always)]
    pub(crate) fn apart(&self, found: &gjk::Outcome, simplex: &Simplex) -> Signed {
        let (on_a, _) = simplex.witnesses();
        let normal = if found.upper > 0.0 { -found.nearest / found.upper } else { DVec3::X };
        Signed {
            signed: found.upper,
            normal,
            on_a,
            on_b: on_a,
            bound: found.upper - found.lower + self.rounding(),
            ending: self.ending_of(found.end, found.upper - found.lower),
        }
    }

    /// A run that rounding ended at its goal has converged.
    #[inline(always)]
    pub(crate) fn ending_of(&self, end: End, gap: f64) -> Ending {
        match end {
            _ if gap <= touch_tolerance(self.size) + self.rounding() => Ending::Converged,
            End::Converged | End::Overlap | End::CutOff => Ending::Converged,
            End::Stalled => Ending::Stalled,
            End::StepLimit => Ending::StepLimit,
        }
    }

    pub(crate) fn rounding(&self) -> f64 {
        16.0 * f64::EPSILON * (self.size + self.between.length())
    }
}
