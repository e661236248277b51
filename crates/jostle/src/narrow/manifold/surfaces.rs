//! The contact points of meshes and height fields.
//!
//! Every triangle that touches has points along a normal that the whole surface has (see
//! `surface/repair.rs`), clipped to that triangle. A box on a floor of a thousand triangles needs
//! no thousand points: those whose normals are within eight degrees are one group, and a group
//! keeps four. A point's number is made of its triangle and of the features that met.

use super::super::answer::{Contact, ManifoldPoint};
use super::super::cache::PairCache;
use super::super::clip::Facets;
use super::super::placed::Placed;
use super::super::query::Query;
use super::super::solve::{Memory, size_of};
use super::super::surface::{self, Touching};
use super::{Facing, Points, mixed, single, sort};
use crate::shape::Shape;
use glam::DVec3;

/// Cosine of the angle between normals of one group.
const GROUP: f64 = 0.99;

impl Query {
    /// Appends the points of a pair with a surface in it.
    pub(super) fn gather_surfaces(
        &mut self,
        a: &Placed<'_>,
        b: &Placed<'_>,
        reach: f64,
        contact: &Contact,
        which: Points,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let first = out.len();
        let size = size_of(a.shape, b.shape);
        let mut found = Vec::new();
        let options = *self.options();
        let (mut none, swapped) = (PairCache::none(), !a.shape.is_surface());
        let (one, other) = if swapped { (b, a) } else { (a, b) };
        let memory = &mut Memory { cache: &mut none, scratch: &mut self.scratch };
        if other.shape.is_surface() {
            surface::touching_surfaces(one, other, &options, reach, size, memory, &mut found);
        } else {
            surface::touching(one, other, &options, reach, size, memory, &mut found);
        }
        for touching in &found {
            self.points_of(one, other, touching, swapped, reach, out);
        }
        if out.len() == first {
            out.push(single(contact, 0, [0; 2]));
        }
        match which {
            Points::OfPair => spread(contact.normal, out, first),
            Points::OfPieces => reduce_groups(out, first, usize::from(!swapped)),
        }
    }

    /// Appends the points of one triangle.
    fn points_of(
        &mut self,
        surface: &Placed<'_>,
        other: &Placed<'_>,
        touching: &Touching,
        swapped: bool,
        reach: f64,
        out: &mut Vec<ManifoldPoint>,
    ) {
        let triangle = Shape::Triangle { points: touching.corners };
        let triangle = Placed::new(&triangle, surface.pose);
        let own;
        let (shape, pose) = match (other.shape, &touching.part) {
            (Shape::Compound(compound), _) => {
                let piece = &compound.pieces()[touching.piece as usize];
                (&piece.shape, other.pose.compose(&piece.pose))
            }
            (_, Some(corners)) => {
                own = Shape::Triangle { points: *corners };
                (&own, other.pose)
            }
            (shape, None) => (shape, other.pose),
        };
        let part = Placed::new(shape, pose);
        let salt = mixed(mixed(1, u64::from(touching.triangle)), u64::from(touching.piece) << 32);
        let (pair, contact, pieces) = if swapped {
            ((&part, &triangle), mirrored(&touching.contact), [touching.piece, touching.triangle])
        } else {
            ((&triangle, &part), touching.contact, [touching.triangle, touching.piece])
        };
        if matches!(part.shape, Shape::Sphere { .. }) {
            if touching.on_triangle {
                out.push(single(&contact, mixed(salt, 0), pieces));
            }
            return;
        }
        let options = *self.options();
        let mut scratch = self.scratch.take().unwrap_or_default();
        let before = out.len();
        let Facets { on_a, on_b, clip } = &mut scratch.facets;
        let facing = Facing::new(pair, &contact, &options, reach, pieces, (on_a, on_b));
        facing.points(salt, clip, out);
        if out.len() == before && touching.on_triangle {
            out.push(single(&contact, mixed(salt, facing.first_id()), pieces));
        }
        self.scratch = Some(scratch);
    }
}

fn mirrored(contact: &Contact) -> Contact {
    Contact {
        normal: -contact.normal,
        point_a: contact.point_b,
        point_b: contact.point_a,
        ..*contact
    }
}

/// Puts points of like normals that belong to the same piece of the other shape into groups, and
/// leaves four of each. `other` is the place of that piece.
fn reduce_groups(points: &mut Vec<ManifoldPoint>, first: usize, other: usize) {
    let mut all = points.split_off(first);
    while !all.is_empty() {
        let head = all[0];
        let like = |point: &ManifoldPoint| {
            point.normal.dot(head.normal) >= GROUP && point.pieces[other] == head.pieces[other]
        };
        let begin = points.len();
        points.extend(all.iter().filter(|point| like(point)));
        all.retain(|point| !like(point));
        spread(head.normal, points, begin);
    }
}

/// Depths that differ by less than this share of the width are the same for the choice of points.
const LEVEL: f64 = 1e-3;

/// Leaves four of the points from `first` on. Over many triangles all points are about as deep, so
/// that beginning with the deepest would choose others with every tremble: the outermost comes
/// first, then the one furthest from it and the two widest on both sides. A point that is much
/// deeper than these takes the place of the nearest of them.
fn spread(normal: DVec3, points: &mut Vec<ManifoldPoint>, first: usize) {
    sort(points, first);
    let all = &points[first..];
    if all.len() <= 4 {
        return;
    }
    let best = |score: &dyn Fn(usize) -> f64| {
        (0..all.len()).rev().max_by(|&i, &j| score(i).total_cmp(&score(j))).unwrap_or(0)
    };
    let middle = all.iter().map(|point| point.point_a).sum::<DVec3>() / all.len() as f64;
    let at = |index: usize| all[index].point_a;
    let outermost = best(&|i| at(i).distance_squared(middle));
    let furthest = best(&|i| at(i).distance_squared(at(outermost)));
    let across = (at(furthest) - at(outermost)).cross(normal);
    let left = best(&|i| (at(i) - at(outermost)).dot(across));
    let right = best(&|i| -(at(i) - at(outermost)).dot(across));
    let mut chosen = [outermost, furthest, left, right];
    let deepest = best(&|i| -all[i].separation);
    let least = chosen.iter().map(|&i| all[i].separation).fold(f64::INFINITY, f64::min);
    let width = at(outermost).distance(at(furthest));
    if all[deepest].separation < least - LEVEL * width {
        let near = |&i: &usize| at(i).distance_squared(at(deepest));
        let place = (0..4).min_by(|&i, &j| near(&chosen[i]).total_cmp(&near(&chosen[j])));
        chosen[place.unwrap_or(0)] = deepest;
    }
    chosen.sort_unstable();
    let kept: Vec<ManifoldPoint> =
        (0..4).filter(|&k| k == 0 || chosen[k] != chosen[k - 1]).map(|k| all[chosen[k]]).collect();
    points.truncate(first);
    points.extend(kept);
}
