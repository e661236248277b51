//! Contact manifolds: up to four points that hold two shapes apart, with numbers that last.
//!
//! The normal comes from [`contact`](super::contact). Along it, both shapes show a face, an edge or a
//! vertex; the smaller one is clipped by the sides of the larger one, and of what remains the deepest
//! point, the one furthest from it, and the two that span the largest areas on either side are kept.
//! A point's number is made of the vertices that produced it, so a solver can carry its impulses from
//! frame to frame. Numbers refer to a and b as the caller names them: keep that order for a pair.
//!
//! Cost: a contact query and some dozens of plane tests; a face of a large hull is found by a pass
//! over its normals.

use super::answer::{Contact, Options, touch_tolerance};
use super::cache::PairCache;
use super::clip::{Clip, Clipped};
use super::contact_within_cached;
use super::feature::Feature;
use super::pair::{Core, relative};
use super::solve::{Placed, spheres_apart};
use super::witness::crossing;
use crate::shape::{Pose, Shape};
use glam::DVec3;
use std::cell::RefCell;

/// Sine of the angle by which features may lean and still count as facing each other: 3 degrees.
const SLACK: f64 = 0.05;

thread_local! {
    /// Scratch memory, so that a manifold allocates nothing after the first.
    static CANDIDATES: RefCell<Vec<ManifoldPoint>> = const { RefCell::new(Vec::new()) };
}

/// One point of a manifold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ManifoldPoint {
    /// On a, in the world.
    pub point_a: DVec3,
    /// On b, in the world.
    pub point_b: DVec3,
    /// From a to b along the normal: negative where they overlap.
    pub separation: f64,
    /// The same from frame to frame while the same features meet.
    pub id: u64,
}

/// Up to four points with one normal, in ascending order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manifold {
    /// The contact whose normal all points share.
    pub contact: Contact,
    points: [ManifoldPoint; 4],
    len: usize,
}

impl Manifold {
    /// The points, at least one.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.len]
    }

    /// Unit vector from a to b.
    pub fn normal(&self) -> DVec3 {
        self.contact.normal
    }
}

/// The manifold of two shapes that are at most `reach` apart.
pub fn manifold(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    reach: f64,
) -> Option<Manifold> {
    let cache = &mut PairCache::unused();
    manifold_cached(a, pose_a, b, pose_b, reach, &Options::default(), cache)
}

/// As [`manifold`], with settings and the pair's memory.
pub fn manifold_cached(
    a: &Shape,
    pose_a: &Pose,
    b: &Shape,
    pose_b: &Pose,
    reach: f64,
    options: &Options,
    cache: &mut PairCache,
) -> Option<Manifold> {
    let contact = contact_within_cached(a, pose_a, b, pose_b, reach, options, cache)?;
    let reach = reach.max(0.0) + touch_tolerance(super::solve::size_of(a, b));
    let scene = Scene { contact: &contact, reach, options };
    Some(CANDIDATES.with_borrow_mut(|candidates| {
        candidates.clear();
        scene.gather((a, pose_a), (b, pose_b), 0, candidates);
        if candidates.is_empty() {
            candidates.push(single(&contact, 0));
        }
        reduced(contact, candidates)
    }))
}

fn single(contact: &Contact, id: u64) -> ManifoldPoint {
    ManifoldPoint {
        point_a: contact.point_a,
        point_b: contact.point_b,
        separation: contact.signed_distance(),
        id,
    }
}

/// What all pieces of a pair share.
struct Scene<'a> {
    contact: &'a Contact,
    reach: f64,
    options: &'a Options,
}

impl Scene<'_> {
    /// Collects candidate points from the pair, or from all pairs of its pieces that touch along
    /// nearly the same normal.
    fn gather(
        &self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        salt: u64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        if let Shape::Compound(compound) = a.0 {
            for (index, piece) in (1u64..).zip(compound.pieces()) {
                let pose = a.1.compose(&piece.pose);
                self.gather((&piece.shape, &pose), b, mixed(salt, index), out);
            }
        } else if let Shape::Compound(compound) = b.0 {
            for (index, piece) in (1u64..).zip(compound.pieces()) {
                let pose = b.1.compose(&piece.pose);
                self.gather(a, (&piece.shape, &pose), mixed(salt, index << 32), out);
            }
        } else {
            self.gather_pair(a, b, salt, out);
        }
    }

    fn gather_pair(
        &self,
        a: (&Shape, &Pose),
        b: (&Shape, &Pose),
        salt: u64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let mut contact = *self.contact;
        if salt != 0 {
            let [first, second] = [a, b].map(|(shape, pose)| Placed { shape, pose });
            if spheres_apart(first, second, self.reach + self.options.margin) {
                return;
            }
            let cache = &mut PairCache::unused();
            let found = contact_within_cached(a.0, a.1, b.0, b.1, self.reach, self.options, cache);
            match found {
                Some(found) if found.normal.dot(contact.normal) > 1.0 - SLACK => contact = found,
                _ => return,
            }
        }
        let before = out.len();
        let facing = Facing::new(a, b, &contact, self.options.margin);
        facing.points(self.reach, salt, out);
        if out.len() == before {
            out.push(single(&contact, mixed(salt, facing.first_id())));
        }
    }
}

/// Combines numbers so that different parts give different numbers.
fn mixed(salt: u64, value: u64) -> u64 {
    (salt ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// The features of two shapes that face each other, in the frame of a.
struct Facing<'a> {
    pose: &'a Pose,
    normal: DVec3,
    on_a: Option<Feature>,
    on_b: Option<Feature>,
    /// A point on the plane when one shape is a half-space.
    plane: DVec3,
    radii: [f64; 2],
}

impl<'a> Facing<'a> {
    fn new(a: (&Shape, &'a Pose), b: (&Shape, &Pose), contact: &Contact, margin: f64) -> Self {
        let b_in_a = relative(a.1, b.1);
        let normal = a.1.inverse_apply_vector(contact.normal);
        let feature = |shape: &Shape, direction| {
            shape.is_bounded().then(|| Feature::of(&Core::of(shape), direction, SLACK))
        };
        let local = b_in_a.inverse_apply_vector(-normal);
        let radii = [a.0.margin(), b.0.margin() + margin];
        let place = if a.0.is_bounded() { contact.point_b } else { contact.point_a };
        Facing {
            pose: a.1,
            normal,
            on_a: feature(a.0, normal),
            on_b: feature(b.0, local).map(|feature| feature.placed(&b_in_a)),
            plane: a.1.inverse_apply(place),
            radii,
        }
    }

    fn first_id(&self) -> u64 {
        let id = |feature: &Option<Feature>| feature.as_ref().map_or(0, |f| u64::from(f.ids()[0]));
        id(&self.on_a) << 32 | id(&self.on_b)
    }

    fn points(&self, reach: f64, salt: u64, out: &mut Vec<ManifoldPoint>) {
        match (&self.on_a, &self.on_b) {
            (Some(a), Some(b)) => self.between(a, b, reach, salt, out),
            (Some(a), None) => self.over_plane(a, true, reach, salt, out),
            (None, Some(b)) => self.over_plane(b, false, reach, salt, out),
            (None, None) => {}
        }
    }

    /// Every corner of the feature over or under the plane of a half-space.
    fn over_plane(
        &self,
        feature: &Feature,
        is_a: bool,
        reach: f64,
        salt: u64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        for (&point, &id) in feature.points().iter().zip(feature.ids()) {
            let level = point + self.normal * (self.plane - point).dot(self.normal);
            // The plane is the grown surface already: only the feature's own radius counts.
            let radii = if is_a { [self.radii[0], 0.0] } else { [0.0, self.radii[1]] };
            let (on_a, on_b) = if is_a { (point, level) } else { (level, point) };
            self.push(on_a, on_b, radii, reach, mixed(salt, u64::from(id) + 1), out);
        }
    }

    fn between(
        &self,
        a: &Feature,
        b: &Feature,
        reach: f64,
        salt: u64,
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
        let clip = Clip::new(incident).by_sides_of(reference, self.normal, 0.0);
        for corner in clip.corners() {
            let level = self.projected(corner.point, reference);
            let id = mixed(salt, point_id(corner, a_is_reference));
            let (on_a, on_b) =
                if a_is_reference { (level, corner.point) } else { (corner.point, level) };
            self.push(on_a, on_b, self.radii, reach, id, out);
        }
    }

    /// The point moved along the normal into the plane, or onto the line, of the feature.
    fn projected(&self, point: DVec3, reference: &Feature) -> DVec3 {
        let points = reference.points();
        let along = points[1] - points[0];
        let plane = if points.len() > 2 {
            along.cross(points[2] - points[0])
        } else {
            along.cross(self.normal).cross(along)
        };
        let slope = plane.dot(self.normal);
        if slope.abs() <= f64::MIN_POSITIVE {
            return point;
        }
        point + self.normal * (plane.dot(points[0] - point) / slope)
    }

    fn push(
        &self,
        on_a: DVec3,
        on_b: DVec3,
        radii: [f64; 2],
        reach: f64,
        id: u64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let separation = (on_b - on_a).dot(self.normal) - radii[0] - radii[1];
        if separation <= reach {
            let point_a = self.pose.apply(on_a + self.normal * radii[0]);
            let point_b = self.pose.apply(on_b - self.normal * radii[1]);
            out.push(ManifoldPoint { point_a, point_b, separation, id });
        }
    }
}

fn point_id(corner: &Clipped, a_is_reference: bool) -> u64 {
    let [own, cut] = corner.ids.map(u64::from);
    (own << 32 | cut).wrapping_mul(2) + u64::from(a_is_reference)
}

/// The deepest candidate, the one furthest from it, and the widest on both sides of their line.
fn reduced(contact: Contact, candidates: &mut Vec<ManifoldPoint>) -> Manifold {
    let order = |p: &ManifoldPoint, q: &ManifoldPoint| {
        p.id.cmp(&q.id).then(p.separation.total_cmp(&q.separation))
    };
    candidates.sort_unstable_by(order);
    candidates.dedup_by_key(|point| point.id);
    if candidates.len() > 4 {
        keep_widest(&contact, candidates);
    }
    let mut points = [ManifoldPoint::default(); 4];
    let len = candidates.len().min(4);
    points[..len].copy_from_slice(&candidates[..len]);
    Manifold { contact, points, len }
}

fn keep_widest(contact: &Contact, all: &mut Vec<ManifoldPoint>) {
    let best = |score: &dyn Fn(usize) -> f64| {
        (0..all.len()).rev().max_by(|&i, &j| score(i).total_cmp(&score(j))).unwrap_or(0)
    };
    let at = |index: usize| all[index].point_a;
    let deepest = best(&|i| -all[i].separation);
    let furthest = best(&|i| at(i).distance_squared(at(deepest)));
    let across = (at(furthest) - at(deepest)).cross(contact.normal);
    let left = best(&|i| (at(i) - at(deepest)).dot(across));
    let right = best(&|i| -(at(i) - at(deepest)).dot(across));
    let chosen = [deepest, furthest, left, right];
    let mut index = 0;
    all.retain(|_| {
        index += 1;
        chosen.contains(&(index - 1))
    });
}
