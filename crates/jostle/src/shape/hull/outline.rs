//! [`Outline`]: the bare surface of a convex hull, for those who need thousands of them.
//!
//! A [`Hull`](super::Hull) merges faces, joins edges and prepares searches; an outline is what
//! quickhull leaves, with its volume and its area.

use super::build::{attempt, scale};
use glam::DVec3;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub vertices: Vec<DVec3>,
    /// Counter-clockwise from outside; both sides of a flat polygon, none of a segment or a point.
    pub triangles: Vec<[u32; 3]>,
    pub volume: f64,
    pub area: f64,
}

impl Outline {
    /// The outline of finite points; empty for none.
    pub(crate) fn new(points: &[DVec3]) -> Outline {
        if points.is_empty() {
            return Outline::default();
        }
        let (shell, _) = attempt(&scale(points), false);
        let vertices: Vec<DVec3> = shell.vertices.iter().map(|&v| points[v as usize]).collect();
        let (mut volume, mut area) = (0.0, 0.0);
        for triangle in &shell.triangles {
            let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize] - vertices[0]);
            area += 0.5 * (b - a).cross(c - a).length();
            volume += a.dot(b.cross(c)) / 6.0;
        }
        let volume = if shell.dimension == 3 { volume.max(0.0) } else { 0.0 };
        Outline { vertices, triangles: shell.triangles, volume, area }
    }

    /// The outline of both.
    pub(crate) fn joined(&self, other: &Outline) -> Outline {
        match (self.vertices.is_empty(), other.vertices.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => Outline::new(&[&self.vertices[..], &other.vertices].concat()),
        }
    }

    /// The box around it.
    pub(crate) fn bounds(&self) -> (DVec3, DVec3) {
        let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.vertices.iter().fold(empty, |(low, high), &at| (low.min(at), high.max(at)))
    }

    /// The corners of its triangles. What has none, a segment or a point, is a triangle as thin.
    pub(crate) fn surface(&self) -> Vec<[DVec3; 3]> {
        if let (true, &[first, ..], &[.., last]) =
            (self.triangles.is_empty(), &self.vertices[..], &self.vertices[..])
        {
            return vec![[first, last, last]];
        }
        let corner = |vertex: u32| self.vertices[vertex as usize];
        self.triangles.iter().map(|triangle| triangle.map(corner)).collect()
    }

    /// Returns true if no vertex of another one is further than `slack` outside this solid one.
    pub(crate) fn holds(&self, other: &Outline, slack: f64) -> bool {
        if self.volume <= 0.0 {
            return false;
        }
        self.surface().iter().all(|&[a, b, c]| {
            let Some(normal) = (b - a).cross(c - a).try_normalize() else { return true };
            other.vertices.iter().all(|vertex| normal.dot(*vertex - a) <= slack)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_and_area_of_a_box_and_of_flat_things() {
        let corner = |k: i32| DVec3::new((k & 1).into(), (k >> 1 & 1).into(), (k >> 2).into());
        let corners: Vec<DVec3> = (0..8).map(|k| corner(k) * DVec3::new(1.0, 2.0, 3.0)).collect();
        let whole = Outline::new(&corners);
        assert!((whole.volume - 6.0).abs() < 1e-12 && (whole.area - 22.0).abs() < 1e-12);
        let flat = Outline::new(&corners[..4]);
        assert_eq!((flat.volume, flat.vertices.len()), (0.0, 4));
        assert!(flat.area > 1.9 && !flat.surface().is_empty());
        let line = Outline::new(&corners[..2]);
        assert_eq!((line.volume, line.area, line.surface().len()), (0.0, 0.0, 1));
        assert!(whole.holds(&flat, 1e-12) && !flat.holds(&line, 1e-12));
        assert!((flat.joined(&Outline::new(&corners[4..])).volume - 6.0).abs() < 1e-12);
    }
}
