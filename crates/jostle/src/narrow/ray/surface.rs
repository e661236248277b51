//! Rays against meshes and height fields.

use super::super::cache::PairCache;
use super::super::placed::Placed;
use super::super::point::SurfacePart;
use super::super::query::Query;
use super::super::time_of_impact::{ImpactStatus, Motion, Moving};
use super::{Ray, RayHit};
use crate::shape::mesh::Fill;
use crate::shape::{Pose, Shape};

impl Query {
    /// Where a ray first meets a triangle, from either side, or at once inside a solid mesh. One
    /// that is grown by a margin is met by a ball of that radius.
    pub(super) fn surface_ray(&mut self, target: &Placed<'_>, ray: &Ray) -> Option<RayHit> {
        let margin = self.options().margin;
        if margin > 0.0 {
            return self.thick_ray(target, ray);
        }
        let origin = target.pose.inverse_apply(ray.origin());
        let direction = target.pose.inverse_apply_vector(ray.direction());
        let solid = match target.shape {
            Shape::Mesh(mesh) => mesh.fill() == Fill::Solid && mesh.contains(origin),
            _ => false,
        };
        if solid && ray.is_solid() && ray.limit() >= 0.0 {
            let normal = (-ray.direction()).normalize_or(glam::DVec3::Y);
            let (part, piece) = (SurfacePart::Face(0), 0);
            return Some(RayHit {
                time: 0.0,
                point: ray.origin(),
                normal,
                inside: true,
                part,
                piece,
            });
        }
        let hit = match target.shape {
            Shape::Mesh(mesh) => mesh.cast_ray(origin, direction, ray.limit()),
            Shape::HeightField(field) => field.cast_ray(origin, direction, ray.limit()),
            _ => None,
        }?;
        // Out of a solid from inside; against the ray from outside, and for surfaces.
        let along = hit.normal.dot(direction) > 0.0;
        let normal = if along == solid { hit.normal } else { -hit.normal };
        Some(RayHit {
            time: hit.time,
            point: ray.at(hit.time),
            normal: target.pose.apply_vector(normal),
            inside: solid,
            part: SurfacePart::Face(hit.triangle),
            piece: hit.triangle as usize,
        })
    }

    fn thick_ray(&mut self, target: &Placed<'_>, ray: &Ray) -> Option<RayHit> {
        let dot = Shape::Sphere { radius: 0.0 };
        let center = target.pose.apply(target.shape.center());
        let far = center.distance(ray.origin()) + target.shape.bounding_radius();
        let far = far + self.options().margin;
        // Beyond the far end of the surface there is nothing to meet.
        let speed = ray.direction().length();
        let limit = if speed > 0.0 { ray.limit().min(far / speed) } else { 0.0 };
        // False for NaN.
        let waits = limit >= 0.0;
        if !waits {
            return None;
        }
        let motion = Motion::new(ray.direction(), glam::DVec3::ZERO).ok()?;
        let start = Placed::new(&dot, Pose::at(ray.origin()).ok()?);
        let still = Moving::new(*target, Motion::STILL);
        let moving = Moving::new(start, motion);
        let none = &mut PairCache::none();
        let impact = self.time_of_impact(&still, &moving, limit, none);
        let inside = match impact.status {
            ImpactStatus::AtStart => true,
            ImpactStatus::Hit => false,
            ImpactStatus::Miss | ImpactStatus::StepLimit => return None,
        };
        let normal = impact.contact.normal;
        let (part, time) = (SurfacePart::Face(0), impact.time);
        Some(RayHit { time, point: ray.at(time), normal, inside, part, piece: 0 })
    }
}
