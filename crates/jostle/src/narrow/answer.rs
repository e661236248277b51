//! What the narrow phase answers, and the one tolerance that all its methods share.

use glam::DVec3;

/// Two shapes touch when their signed distance is at most this share of their size, the sum of
/// their bounding radii, on either side of zero. Every algorithm classifies by it. It lies well
/// above what f64 loses in one query and below every accuracy that is promised.
pub const TOUCH: f64 = 1e-10;

/// Lengths below this count as nothing at any size: their squares leave the range of f64.
const NOTHING: f64 = 1e-140;

/// The distance or depth up to which shapes of a size touch.
#[inline]
pub(crate) fn touch_tolerance(size: f64) -> f64 {
    TOUCH * size + NOTHING
}

/// How two shapes lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Status {
    /// Apart by more than the tolerance: the distance is positive, the depth zero.
    Separated,
    /// Within the tolerance of touching: distance and depth are both zero.
    Touching,
    /// Overlapping by more than the tolerance: the depth is positive, the distance zero.
    Overlapping,
}

impl Status {
    /// The name used in files: `separated`, `touching` or `overlapping`.
    pub fn name(self) -> &'static str {
        match self {
            Status::Separated => "separated",
            Status::Touching => "touching",
            Status::Overlapping => "overlapping",
        }
    }

    /// The classification of a signed distance (negative inside) for shapes of a size.
    #[inline]
    pub fn of(signed: f64, size: f64) -> Status {
        let tolerance = touch_tolerance(size);
        if signed > tolerance {
            Status::Separated
        } else if signed < -tolerance {
            Status::Overlapping
        } else {
            Status::Touching
        }
    }
}

/// How an answer came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Ending {
    /// A closed form: exact up to rounding.
    Closed,
    /// An iteration whose certified bounds met.
    Converged,
    /// Rounding stopped the iteration early; the bound says how near it came.
    Stalled,
    /// The step limit stopped the iteration early; the bound says how near it came.
    StepLimit,
}

impl Ending {
    /// The name used in files: `closed`, `converged`, `stalled` or `step_limit`.
    pub fn name(self) -> &'static str {
        match self {
            Ending::Closed => "closed",
            Ending::Converged => "converged",
            Ending::Stalled => "stalled",
            Ending::StepLimit => "step_limit",
        }
    }
}

/// Which algorithm answers. `Auto` is right for use; the others are for tests and study, and are
/// ignored if they do not apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Closed forms if they exist, else GJK, then EPA or SAT for depth.
    #[default]
    Auto,
    /// GJK for distance and EPA for depth, even if a closed form exists.
    GjkEpa,
    /// GJK for distance and SAT for the depth of polyhedra, spheres and capsules.
    GjkSat,
}

/// Settings of a query.
///
/// ```
/// use jostle::narrow::{Method, Options};
///
/// let options = Options::default().with_margin(0.01).with_method(Method::GjkEpa);
/// assert!(!options.flat);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Which algorithm answers.
    pub method: Method,
    /// Both shapes together are grown by this: distances shrink by it and depths grow.
    pub margin: f64,
    /// Asks about the shadows of the shapes on the plane z = 0, as a two-dimensional world sees
    /// them: normals and points lie in that plane, wherever the shapes are along z. A half-space
    /// whose plane is not upright covers the whole plane.
    pub flat: bool,
}

impl Options {
    pub(super) const DEFAULT: Options = Options { method: Method::Auto, margin: 0.0, flat: false };

    /// These settings with another algorithm.
    #[must_use]
    pub const fn with_method(self, method: Method) -> Options {
        Options { method, ..self }
    }

    /// These settings with another margin.
    #[must_use]
    pub const fn with_margin(self, margin: f64) -> Options {
        Options { margin, ..self }
    }

    /// These settings for two dimensions, or for three.
    #[must_use]
    pub const fn with_flat(self, flat: bool) -> Options {
        Options { flat, ..self }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options::DEFAULT
    }
}

/// The answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intersection {
    /// The shapes touch or overlap.
    pub hit: bool,
    /// How the answer came about. Anything but an early end is certain up to the tolerance.
    pub ending: Ending,
}

/// The nearest points of two shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Zero when the shapes touch or overlap.
    pub distance: f64,
    /// Unit vector from a to b. Normal and points have no meaning for overlapping shapes.
    pub normal: DVec3,
    /// The nearest point of a.
    pub point_a: DVec3,
    /// The nearest point of b.
    pub point_b: DVec3,
    /// Certified bound on the error of the distance.
    pub bound: f64,
    /// How the shapes lie. The depth is not measured: overlap may be called touching.
    pub status: Status,
    /// How the answer came to its end.
    pub ending: Ending,
}

/// Distance or depth, with the normal and a point on either shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Positive exactly when the shapes are separated.
    pub distance: f64,
    /// Positive exactly when the shapes overlap. Moving b by this along the normal separates.
    pub depth: f64,
    /// Unit vector from a to b.
    pub normal: DVec3,
    /// The point of a nearest to b, or deepest in it.
    pub point_a: DVec3,
    /// The point of b nearest to a, or deepest in it.
    pub point_b: DVec3,
    /// Certified bound on the error of the distance or depth.
    pub bound: f64,
    /// Which of the two is positive, or neither.
    pub status: Status,
    /// How the answer came to its end.
    pub ending: Ending,
}

impl From<Contact> for Closest {
    fn from(contact: Contact) -> Closest {
        let Contact { distance, normal, point_a, point_b, bound, status, ending, .. } = contact;
        Closest { distance, normal, point_a, point_b, bound, status, ending }
    }
}

impl Contact {
    /// Stands for no answer. A question without limit has one unless sizes are not numbers.
    pub(crate) const NONE: Contact = Contact {
        distance: f64::INFINITY,
        depth: 0.0,
        normal: DVec3::X,
        point_a: DVec3::ZERO,
        point_b: DVec3::ZERO,
        bound: f64::INFINITY,
        status: Status::Separated,
        ending: Ending::Stalled,
    };

    /// Distance less depth: negative when overlapping.
    pub fn signed_distance(&self) -> f64 {
        self.distance - self.depth
    }
}

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ManifoldPoint {
    /// On a, in the world.
    pub point_a: DVec3,
    /// On b, in the world.
    pub point_b: DVec3,
    /// Unit vector from a to b: the contact's, or that of the piece of a compound that the point
    /// belongs to.
    pub normal: DVec3,
    /// From a to b along the normal: negative if they overlap.
    pub separation: f64,
    /// The same from frame to frame while the same features meet.
    pub id: u64,
    /// The pieces of a and b that meet, by their places in a compound; 0 for what is no compound.
    pub pieces: [u32; 2],
}

/// Up to four points, in ascending order of their numbers. Those of convex shapes share one normal.
///
/// ```
/// use jostle::narrow::{Placed, manifold};
/// use jostle::shape::{Pose, Shape};
///
/// let cube = Shape::cuboid([1.0, 1.0, 1.0].into())?;
/// let below = Placed::new(&cube, Pose::IDENTITY);
/// let above = Placed::new(&cube, Pose::at([0.5, 1.9, 0.0])?);
/// let found = manifold(&below, &above, 0.0).expect("they overlap");
/// assert_eq!(found.points().len(), 4); // the corners of the common face
/// assert!(found.points().iter().all(|point| (point.separation + 0.1).abs() < 1e-12));
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manifold {
    /// The contact: nearest, or deepest, of all pieces.
    pub contact: Contact,
    pub(super) points: [ManifoldPoint; 4],
    pub(super) len: usize,
}

impl Manifold {
    /// The points, at least one.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.len]
    }

    /// Unit vector from a to b, of the contact.
    pub fn normal(&self) -> DVec3 {
        self.contact.normal
    }
}

/// A signed answer in some frame, before it is classified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    /// Distance, or depth with a minus.
    pub signed: f64,
    /// Unit vector from the first shape to the second.
    pub normal: DVec3,
    /// The point on the first shape.
    pub on_a: DVec3,
    /// The point on the second, set last: `signed` along the normal from the first.
    pub on_b: DVec3,
    /// Certified error bound.
    pub bound: f64,
    /// How it ended.
    pub ending: Ending,
}

/// A half-space whose normal leans out of the plane by more than this covers all of it.
const UPRIGHT: f64 = 1e-9;

impl Signed {
    /// An answer in the world's frame, brought into the plane z = 0.
    pub(crate) fn leveled(mut self) -> Signed {
        let level = |vector: DVec3| DVec3::new(vector.x, vector.y, 0.0);
        self.normal = level(self.normal).normalize_or(DVec3::X);
        (self.on_a, self.on_b) = (level(self.on_a), level(self.on_b));
        self
    }

    /// As [`Signed::leveled`] for a half-space: if it is not upright, its shadow is the whole
    /// plane.
    pub(crate) fn leveled_half_space(mut self) -> Signed {
        if self.normal.z.abs() > UPRIGHT {
            self.signed = f64::NEG_INFINITY;
        }
        self.leveled()
    }

    /// Grows both shapes by radii: the point moves to the grown surface.
    #[inline(always)]
    pub(crate) fn grown(mut self, radius_a: f64, radius_b: f64) -> Signed {
        self.on_a += self.normal * radius_a;
        self.signed -= radius_a + radius_b;
        self
    }

    /// Sets the second point, once the first one is final.
    #[inline(always)]
    pub(crate) fn with_other_point(mut self) -> Signed {
        // Two half-spaces may be infinitely deep, and infinity times zero is no number.
        let along = if self.signed.is_finite() { self.signed } else { 0.0 };
        self.on_b = self.on_a + self.normal * along;
        self
    }

    /// The same answer with the shapes swapped.
    #[inline(always)]
    pub(crate) fn mirrored(mut self) -> Signed {
        std::mem::swap(&mut self.on_a, &mut self.on_b);
        self.normal = -self.normal;
        self
    }

    /// The classified answer, for shapes of a size.
    #[inline(always)]
    pub(crate) fn contact(&self, size: f64) -> Contact {
        let status = Status::of(self.signed, size);
        let separated = status == Status::Separated;
        let overlapping = status == Status::Overlapping;
        Contact {
            distance: if separated { self.signed } else { 0.0 },
            depth: if overlapping { -self.signed } else { 0.0 },
            normal: self.normal,
            point_a: self.on_a,
            point_b: self.on_b,
            bound: self.bound,
            status,
            ending: self.ending,
        }
    }
}
