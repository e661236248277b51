//! Contact manifolds: up to four points that hold two shapes apart, with numbers that last.
//!
//! The normal comes from [`contact`](super::contact). Along it, both shapes show a face, an edge or
//! a vertex; the smaller one is clipped by the sides of the larger one, and of what remains the
//! deepest point, the one furthest from it, and the two that span the largest areas on either side
//! are kept. A point's number is made of the vertices that produced it, so a solver can carry its
//! impulses from frame to frame. Numbers refer to a and b as the caller names them: keep that order
//! for a pair.
//!
//! Every piece of a compound that is near has points along a normal of its own, so that a ball in a
//! cradle is held on both sides. Points where two pieces join do not count: what slides over tiles
//! would be pushed back by the side of the next.
//!
//! Meshes and height fields: see `surfaces.rs`.
//!
//! Cost: a contact query and some dozens of plane tests; a face of a large hull is found by a pass
//! over its normals.

mod surfaces;

use super::answer::{Contact, Manifold, ManifoldPoint, Options, touch_tolerance};
use super::cache::PairCache;
use super::clip::{Clip, Clipped, Facets};
use super::feature::Feature;
use super::pair::{Core, relative};
use super::pieces;
use super::placed::Placed;
use super::query::Query;
use super::solve::{size_of, spheres_apart};
use super::surface;
use super::witness::crossing;
use crate::shape::{Compound, Pose, PoseMatrix, Shape};
use glam::DVec3;

/// Sine of the angle by which features may lean and still count as facing each other: 3 degrees.
const SLACK: f64 = 0.05;

/// How far outside a piece of a compound the next one is looked for, as a share of its radius.
const SEAM: f64 = 1e-6;

/// Points as far below the contact as this share of the size are not on both shapes.
const STRAY: f64 = 1e-6;

impl Query {
    /// The manifold of two shapes that are at most `reach` apart.
    pub fn manifold(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
        cache: &mut PairCache,
    ) -> Option<Manifold> {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let contact = self.gather(a, b, reach, cache, Points::OfPair, &mut candidates);
        let manifold = contact.map(|contact| {
            let mut points = [ManifoldPoint::default(); 4];
            let len = candidates.len().min(4);
            points[..len].copy_from_slice(&candidates[..len]);
            Manifold { contact, points, len }
        });
        self.candidates = candidates;
        manifold
    }

    /// Appends the manifolds of two shapes that are at most `reach` apart to a list, one after the
    /// other, and returns the contact. Two pieces of compounds have one of up to four points for
    /// each two that touch, in the order of [`ManifoldPoint::pieces`]; others have one.
    ///
    /// ```
    /// use jostle::narrow::{PairCache, Placed, Query};
    /// use jostle::shape::{Pose, Shape};
    ///
    /// let foot = Shape::cuboid([0.1, 0.5, 0.1].into())?;
    /// let feet = [-1.0, 1.0].map(|x| Pose::at([x, 0.0, 0.0]).map(|pose| (foot.clone(), pose)));
    /// let stool = Shape::compound(feet.into_iter().collect::<Result<_, _>>()?)?;
    /// let floor = Shape::half_space([0.0, 1.0, 0.0].into(), 0.0)?;
    /// let stool = Placed::new(&stool, Pose::at([0.0, 0.49, 0.0])?);
    /// let floor = Placed::new(&floor, Pose::IDENTITY);
    ///
    /// let mut points = Vec::new();
    /// Query::default().manifolds(&stool, &floor, 0.0, &mut PairCache::none(), &mut points);
    /// let manifolds: Vec<_> = points.chunk_by(|p, q| p.pieces == q.pieces).collect();
    /// assert_eq!(manifolds.len(), 2);
    /// assert!(manifolds[1].len() == 4 && manifolds[1][0].pieces == [1, 0]);
    /// # Ok::<(), jostle::Error>(())
    /// ```
    pub fn manifolds(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
        cache: &mut PairCache,
        points: &mut Vec<ManifoldPoint>,
    ) -> Option<Contact> {
        self.gather(a, b, reach, cache, Points::OfPieces, points)
    }

    /// Appends the points of a pair to a list.
    pub(crate) fn gather(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
        cache: &mut PairCache,
        which: Points,
        out: &mut Vec<ManifoldPoint>,
    ) -> Option<Contact> {
        let contact = self.contact_within(a, b, reach, cache)?;
        let first = out.len();
        let reach = reach.max(0.0) + touch_tolerance(size_of(a.shape, b.shape));
        if surface::concerns(a.shape, b.shape) {
            self.gather_surfaces(a, b, reach, &contact, which, out);
            return Some(contact);
        }
        let (wholes, pieces) = ([*a, *b], [0; 2]);
        let piece = self.scratch.as_ref().map_or(0, |scratch| scratch.piece);
        let answered = match (a.shape, b.shape) {
            (Shape::Compound(_), Shape::Compound(_)) => None,
            (Shape::Compound(_), _) => Some([piece, 0]),
            _ => Some([0, piece]),
        };
        let contact = &contact;
        let mut all =
            Gathering { contact, answered, wholes, pieces, reach, which, query: self, out };
        all.visit(a, b, 0);
        if out.len() == first {
            out.push(single(contact, 0, pieces));
        }
        if which == Points::OfPair {
            reduce(contact.normal, out, first);
        }
        Some(*contact)
    }
}

/// Which points are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Points {
    /// Up to four of the whole pair.
    OfPair,
    /// Up to four of each two pieces.
    OfPieces,
}

/// The manifold of two shapes that are at most `reach` apart.
#[must_use]
pub fn manifold(a: &Placed<'_>, b: &Placed<'_>, reach: f64) -> Option<Manifold> {
    Query::default().manifold(a, b, reach, &mut PairCache::none())
}

/// The contact as the only point.
#[inline]
pub(crate) fn single(contact: &Contact, id: u64, pieces: [u32; 2]) -> ManifoldPoint {
    ManifoldPoint {
        pieces,
        point_a: contact.point_a,
        point_b: contact.point_b,
        normal: contact.normal,
        separation: contact.signed_distance(),
        id,
    }
}

/// Collects candidate points from all pieces of a pair.
struct Gathering<'a> {
    contact: &'a Contact,
    /// The pieces that the contact is of, if they are known: they need not be asked again.
    answered: Option<[u32; 2]>,
    wholes: [Placed<'a>; 2],
    /// Where the pair that is visited stands in the compounds.
    pieces: [u32; 2],
    reach: f64,
    which: Points,
    query: &'a mut Query,
    out: &'a mut Vec<ManifoldPoint>,
}

impl Gathering<'_> {
    /// Collects from the pair, or from all pairs of its pieces that touch.
    fn visit(&mut self, a: &Placed<'_>, b: &Placed<'_>, salt: u64) {
        if let Shape::Compound(compound) = a.shape {
            self.each_near(compound, a, b, |all, number, piece| {
                all.pieces[0] = number;
                all.visit(piece, b, mixed(salt, u64::from(number) + 1));
            });
        } else if let Shape::Compound(compound) = b.shape {
            self.each_near(compound, b, a, |all, number, piece| {
                all.pieces[1] = number;
                all.visit(a, piece, mixed(salt, (u64::from(number) + 1) << 32));
            });
        } else {
            self.visit_convex(a, b, salt);
        }
    }

    /// Calls `visit` with the pieces of a compound that are near another shape, by their numbers.
    fn each_near(
        &mut self,
        parts: &Compound,
        compound: &Placed<'_>,
        other: &Placed<'_>,
        mut visit: impl FnMut(&mut Self, u32, &Placed<'_>),
    ) {
        // A stack of lists: the pieces of both shapes are gathered one within the other.
        let options = *self.query.options();
        let first = self.query.numbers.len();
        pieces::near(parts, compound, other, &options, self.reach, &mut self.query.numbers);
        for place in first..self.query.numbers.len() {
            let number = self.query.numbers[place];
            let piece = &parts.pieces()[number as usize];
            let placed = Placed::new(&piece.shape, compound.pose.compose(&piece.pose));
            visit(self, number, &placed);
        }
        self.query.numbers.truncate(first);
    }

    fn visit_convex(&mut self, a: &Placed<'_>, b: &Placed<'_>, salt: u64) {
        let mut contact = *self.contact;
        let options = *self.query.options();
        if salt != 0 {
            let found = if self.answered == Some(self.pieces) {
                Some(contact)
            } else if spheres_apart(a, b, &options, self.reach) {
                None
            } else {
                self.query.contact_within(a, b, self.reach, &mut PairCache::none())
            };
            let Some(found) = found else { return };
            if self.on_seam(0, a, &found) || self.on_seam(1, b, &found) {
                return;
            }
            contact = found;
        }
        // A ball has one point, and the same one whatever it rolls over.
        let ball = |placed: &Placed<'_>| matches!(placed.shape, Shape::Sphere { .. });
        if ball(a) || ball(b) {
            self.out.push(single(&contact, mixed(salt, 0), self.pieces));
            return;
        }
        let mut scratch = self.query.scratch.take().unwrap_or_default();
        let before = self.out.len();
        let Facets { on_a, on_b, clip } = &mut scratch.facets;
        let (reach, pieces) = (self.reach, self.pieces);
        let facing = Facing::new((a, b), &contact, &options, reach, pieces, (on_a, on_b));
        facing.points(salt, clip, self.out);
        if self.out.len() == before {
            self.out.push(single(&contact, mixed(salt, facing.first_id()), self.pieces));
        }
        if self.which == Points::OfPieces {
            reduce(contact.normal, self.out, before);
        }
        self.query.scratch = Some(scratch);
    }

    /// Returns true if the contact's point on a piece of a compound is not on its surface: just
    /// outside the piece there is another one.
    fn on_seam(&mut self, side: usize, piece: &Placed<'_>, contact: &Contact) -> bool {
        let Placed { shape: Shape::Compound(whole), .. } = self.wholes[side] else {
            return false;
        };
        let out = contact.normal * (SEAM * piece.shape.bounding_radius());
        let point = if side == 0 { contact.point_a + out } else { contact.point_b - out };
        let Ok(place) = Pose::from_translation(point) else { return false };
        let dot = Placed::new(&Shape::Sphere { radius: 0.0 }, place);
        let options = *self.query.options();
        let mut seam = false;
        let placed = self.wholes[side];
        self.each_near(whole, &placed, &dot, |all, number, other| {
            let same = std::ptr::eq(&whole.pieces()[number as usize].shape, piece.shape);
            seam = seam
                || !same
                    && !spheres_apart(other, &dot, &options, 0.0)
                    && all.query.intersects(other, &dot, &mut PairCache::none()).hit;
        });
        seam
    }
}

/// Combines numbers so that different parts give different numbers.
fn mixed(salt: u64, value: u64) -> u64 {
    (salt ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// The features of two shapes that face each other, in the frame of a.
struct Facing<'a> {
    pose: PoseMatrix,
    normal: DVec3,
    /// Points are brought into the plane z = 0.
    flat: bool,
    on_a: Option<&'a Feature>,
    on_b: Option<&'a Feature>,
    /// A point on the plane when one shape is a half-space.
    plane: DVec3,
    radii: [f64; 2],
    /// Points further apart than this along the normal do not count.
    reach: f64,
    /// Nor do points less far apart than this: the contact is the deepest there is.
    least: f64,
    /// The normal in the world.
    world_normal: DVec3,
    pieces: [u32; 2],
}

impl<'a> Facing<'a> {
    fn new(
        (a, b): (&Placed<'_>, &Placed<'_>),
        contact: &Contact,
        options: &Options,
        reach: f64,
        pieces: [u32; 2],
        (on_a, on_b): (&'a mut Feature, &'a mut Feature),
    ) -> Facing<'a> {
        let b_in_a = relative(&a.pose, &b.pose);
        let normal = a.pose.inverse_apply_vector(contact.normal);
        on_a.find(&Core::of(a.shape), normal, SLACK);
        on_b.find(&Core::of(b.shape), b_in_a.inverse_apply_vector(-normal), SLACK);
        on_b.place(&b_in_a);
        if options.flat {
            let axis = a.pose.inverse_apply_vector(DVec3::Z);
            on_a.flatten(axis, axis.cross(normal));
            on_b.flatten(axis, axis.cross(normal));
        }
        let radii = [a.shape.margin(), b.shape.margin() + options.margin];
        let place = if a.shape.is_bounded() { contact.point_b } else { contact.point_a };
        Facing {
            pose: a.pose.matrix(),
            normal,
            flat: options.flat,
            on_a: a.shape.is_bounded().then_some(on_a),
            on_b: b.shape.is_bounded().then_some(on_b),
            plane: a.pose.inverse_apply(place),
            radii,
            reach,
            least: contact.signed_distance() - STRAY * size_of(a.shape, b.shape),
            world_normal: contact.normal,
            pieces,
        }
    }

    fn first_id(&self) -> u64 {
        let id = |feature: Option<&Feature>| feature.map_or(0, |f| u64::from(f.ids()[0]));
        id(self.on_a) << 32 | id(self.on_b)
    }

    fn points(&self, salt: u64, clip: &mut Clip, out: &mut Vec<ManifoldPoint>) {
        match (self.on_a, self.on_b) {
            (Some(a), Some(b)) => self.between(a, b, salt, clip, out),
            (Some(a), None) => self.over_plane(a, true, salt, out),
            (None, Some(b)) => self.over_plane(b, false, salt, out),
            (None, None) => {}
        }
    }

    /// Every corner of the feature over or under the plane of a half-space.
    fn over_plane(&self, feature: &Feature, is_a: bool, salt: u64, out: &mut Vec<ManifoldPoint>) {
        for (&point, &id) in feature.points().iter().zip(feature.ids()) {
            let level = point + self.normal * (self.plane - point).dot(self.normal);
            // The plane is the grown surface already: only the feature's own radius counts.
            let radii = if is_a { [self.radii[0], 0.0] } else { [0.0, self.radii[1]] };
            let (on_a, on_b) = if is_a { (point, level) } else { (level, point) };
            self.push([on_a, on_b], radii, mixed(salt, u64::from(id) + 1), out);
        }
    }

    fn between(
        &self,
        a: &Feature,
        b: &Feature,
        salt: u64,
        clip: &mut Clip,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let (count_a, count_b) = (a.points().len(), b.points().len());
        if count_a == 1 || count_b == 1 {
            return;
        }
        if let ([p, q], [r, s]) = (a.points(), b.points()) {
            let sine = (q - p).cross(s - r).length();
            let span = (q - p).length() * (s - r).length();
            if sine > SLACK * span && crossing(*p, *q, *r, *s).is_some() {
                return;
            }
        }
        let a_is_reference = count_a > 2 || count_b == 2;
        let (reference, incident) = if a_is_reference { (a, b) } else { (b, a) };
        clip.begin(incident);
        clip.by_sides_of(reference, self.normal);
        let plane = Level::of(reference, self.normal);
        for corner in clip.corners() {
            let level = plane.projected(corner.point);
            let id = mixed(salt, point_id(corner, a_is_reference));
            let points = if a_is_reference { [level, corner.point] } else { [corner.point, level] };
            self.push(points, self.radii, id, out);
        }
    }

    fn push(
        &self,
        [on_a, on_b]: [DVec3; 2],
        radii: [f64; 2],
        id: u64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let separation = (on_b - on_a).dot(self.normal) - radii[0] - radii[1];
        if (self.least..=self.reach).contains(&separation) {
            let mut point_a = self.pose.apply(on_a + self.normal * radii[0]);
            let mut point_b = self.pose.apply(on_b - self.normal * radii[1]);
            if self.flat {
                (point_a.z, point_b.z) = (0.0, 0.0);
            }
            let (normal, pieces) = (self.world_normal, self.pieces);
            out.push(ManifoldPoint { point_a, point_b, normal, separation, id, pieces });
        }
    }
}

/// Where the reference feature is under or over a point.
enum Level {
    /// An edge, by its start and its direction over the square of its length.
    Edge { start: DVec3, along: DVec3, place: DVec3 },
    /// A plane: the way along the normal is the height over it times `way`.
    Plane { start: DVec3, across: DVec3, way: DVec3 },
}

impl Level {
    fn of(reference: &Feature, normal: DVec3) -> Level {
        let points = reference.points();
        let (start, along) = (points[0], points[1] - points[0]);
        if points.len() == 2 {
            return Level::Edge { start, along, place: along / along.length_squared() };
        }
        let plane = along.cross(points[2] - start);
        let slope = plane.dot(normal);
        // False for a face without area: what it is seen along stands in for its plane.
        let faces = slope.abs() > 0.5 * plane.length();
        if !faces {
            return Level::Plane { start, across: normal, way: normal };
        }
        Level::Plane { start, across: plane, way: normal / slope }
    }

    /// The point moved along the normal into the plane of the feature, or its foot on the edge.
    fn projected(&self, point: DVec3) -> DVec3 {
        match *self {
            Level::Edge { start, along, place } => {
                start + along * place.dot(point - start).clamp(0.0, 1.0)
            }
            Level::Plane { start, across, way } => point + way * across.dot(start - point),
        }
    }
}

fn point_id(corner: &Clipped, a_is_reference: bool) -> u64 {
    let [own, cut] = corner.ids.map(u64::from);
    (own << 32 | cut).wrapping_mul(2) + u64::from(a_is_reference)
}

/// Leaves, of the points from `first` on, the deepest one, the one furthest from it, and the widest
/// on both sides of their line, in the order of their pieces and numbers.
fn reduce(normal: DVec3, points: &mut Vec<ManifoldPoint>, first: usize) {
    if points.len() == first + 1 {
        return;
    }
    sort(points, first);
    if points.len() > first + 4 {
        keep_widest(normal, points, first);
    }
}

/// Puts the points from `first` on into the order of their pieces and numbers, each number once.
fn sort(points: &mut Vec<ManifoldPoint>, first: usize) {
    let order = |p: &ManifoldPoint, q: &ManifoldPoint| {
        (p.pieces, p.id).cmp(&(q.pieces, q.id)).then(p.separation.total_cmp(&q.separation))
    };
    points[first..].sort_unstable_by(order);
    let mut kept = first;
    for place in first..points.len() {
        if kept == first || points[kept - 1].id != points[place].id {
            points[kept] = points[place];
            kept += 1;
        }
    }
    points.truncate(kept);
}

/// The number below `count` with the highest score, the first among equals.
#[inline(always)]
fn best(count: usize, score: impl Fn(usize) -> f64) -> usize {
    let mut best = (score(0), 0);
    for number in 1..count {
        let own = score(number);
        if own.total_cmp(&best.0).is_gt() {
            best = (own, number);
        }
    }
    best.1
}

fn keep_widest(normal: DVec3, points: &mut Vec<ManifoldPoint>, first: usize) {
    let all = &points[first..];
    let at = |index: usize| all[index].point_a;
    let deepest = best(all.len(), |i| -all[i].separation);
    let furthest = best(all.len(), |i| at(i).distance_squared(at(deepest)));
    let across = (at(furthest) - at(deepest)).cross(normal);
    let left = best(all.len(), |i| (at(i) - at(deepest)).dot(across));
    let right = best(all.len(), |i| -(at(i) - at(deepest)).dot(across));
    let mut chosen = [deepest, furthest, left, right];
    chosen.sort_unstable();
    let mut kept = first;
    for (place, &index) in chosen.iter().enumerate() {
        if place == 0 || chosen[place - 1] != index {
            points[kept] = points[first + index];
            kept += 1;
        }
    }
    points.truncate(kept);
}
