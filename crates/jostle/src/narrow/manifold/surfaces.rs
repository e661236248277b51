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
use super::{Facing, Points, mixed, reduce, single};
use crate::shape::Shape;

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
            Points::OfPair => reduce(contact.normal, out, first),
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
        reduce(contact.normal, out, before);
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
        reduce(head.normal, points, begin);
    }
}
