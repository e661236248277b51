//! Rays and nearest points of height fields: [`HeightField::cast_ray`], [`HeightField::project`].
//!
//! A ray passes the columns of cells one by one, along the axis on which it is faster. No
//! tree is needed.

use glam::DVec3;

use super::feature::point_triangle;
use super::point::MeshPoint;
use super::ray::{MeshRayHit, Shear};
use crate::shape::HeightField;

impl HeightField {
    /// The first triangle that a ray hits, from either side, no later than `limit`. The direction
    /// is of any length but zero. A ray with NaN in it hits nothing.
    #[must_use]
    pub fn cast_ray(&self, origin: DVec3, direction: DVec3, limit: f64) -> Option<MeshRayHit> {
        let usable = origin.is_finite() && direction.is_finite() && direction != DVec3::ZERO;
        if !usable || limit.is_nan() || limit < 0.0 {
            return None;
        }
        let (from, to) = self.clipped(origin, direction, limit)?;
        let shear = Shear::new(&origin, &direction);
        let mut best: Option<(f64, u32, [f64; 3])> = None;
        self.along(origin, direction, from, to, |triangle, corners| {
            if let Some((time, weights)) = shear.hit(corners.each_ref())
                && time <= limit
                && best.is_none_or(|(other, number, _)| (time, triangle) < (other, number))
            {
                best = Some((time, triangle, weights));
            }
            best.map_or(f64::INFINITY, |(time, _, _)| time)
        });
        let (time, triangle, weights) = best?;
        let [a, b, c] = self.corners(triangle);
        let normal = (b - a).cross(c - a);
        Some(MeshRayHit {
            time,
            point: super::feature::weigh(&[a, b, c], weights),
            normal: normal.normalize_or_zero(),
            triangle,
            weights,
            front: normal.dot(direction) < 0.0,
        })
    }

    /// When a ray is in the box around the field, a little wider.
    fn clipped(&self, origin: DVec3, direction: DVec3, limit: f64) -> Option<(f64, f64)> {
        let (low, high) = self.bounds();
        let slack = 1e-9 * (high - low).max_element() + 1e-12 * origin.abs().max_element();
        let (mut from, mut to) = (0.0f64, limit);
        for k in 0..3 {
            let (low, high) = (low[k] - slack - origin[k], high[k] + slack - origin[k]);
            if direction[k] == 0.0 {
                if low > 0.0 || high < 0.0 {
                    return None;
                }
                continue;
            }
            let (one, other) = (low / direction[k], high / direction[k]);
            from = from.max(one.min(other));
            to = to.min(one.max(other));
        }
        (from <= to).then_some((from, to))
    }

    /// Calls `visit` with the triangles near a stretch of a ray, column by column. It returns the
    /// time after which nothing matters.
    fn along(
        &self,
        origin: DVec3,
        direction: DVec3,
        from: f64,
        to: f64,
        mut visit: impl FnMut(u32, &[DVec3; 3]) -> f64,
    ) {
        let spacing = self.spacing();
        let pace = [direction.x / spacing[0], direction.z / spacing[1]];
        let start = [origin.x / spacing[0], origin.z / spacing[1]];
        let fast = usize::from(pace[1].abs() > pace[0].abs());
        let count = self.size().map(|vertices| vertices - 1);
        // In cells; wide enough for the rounding of places.
        let slack = 1e-7 + 1e-12 * (start[0].abs() + start[1].abs());
        let place = |axis: usize, time: f64| start[axis] + pace[axis] * time;
        let cell = |at: f64, axis: usize| at.clamp(0.0, f64::from(count[axis] - 1)) as u32;
        let (first, last) = (place(fast, from), place(fast, to));
        let forward = last >= first;
        let sign = if forward { 1.0 } else { -1.0 };
        let mut column = cell(first - sign * slack, fast);
        let end = cell(last + sign * slack, fast);
        loop {
            // While the ray is in this column.
            let edge = |at: f64| {
                if pace[fast] == 0.0 { None } else { Some((at - start[fast]) / pace[fast]) }
            };
            let (one, other) = (
                edge(f64::from(column) - slack).unwrap_or(from),
                edge(f64::from(column) + 1.0 + slack).unwrap_or(to),
            );
            let (enter, leave) = (one.min(other).max(from), one.max(other).min(to));
            let (enter, leave) = (enter.min(to), leave.max(from));
            let (p, q) = (place(1 - fast, enter), place(1 - fast, leave));
            let cells = cell(p.min(q) - slack, 1 - fast)..=cell(p.max(q) + slack, 1 - fast);
            let heights = [enter, leave].map(|time| origin.y + direction.y * time);
            let mut until = f64::INFINITY;
            for across in cells {
                let [x, z] = if fast == 0 { [column, across] } else { [across, column] };
                until = until.min(self.visit_between([x, z], heights, &mut visit));
            }
            if column == end || until < enter {
                return;
            }
            column = if forward { column + 1 } else { column - 1 };
        }
    }

    /// The point of the field nearest to a point.
    ///
    /// # Panics
    /// If a coordinate is not finite.
    #[must_use]
    pub fn project(&self, point: DVec3) -> Option<MeshPoint> {
        assert!(point.is_finite(), "{point} is no point");
        let mut best: Option<MeshPoint> = None;
        let mut square = f64::INFINITY;
        self.near(point, point, f64::INFINITY, |triangle, corners| {
            let (weights, at, found) = point_triangle(corners, point);
            let nearer = best
                .as_ref()
                .is_none_or(|best| found < square || found == square && triangle < best.triangle);
            if nearer {
                square = found;
                best = Some(MeshPoint { point: at, distance: found.sqrt(), triangle, weights });
            }
            square.sqrt() * (1.0 + 1e-12)
        });
        best
    }
}
