//! The first tetrahedron, from whatever simplex there is.

use super::polytope::{Limits, Outcome, Polytope};
use crate::narrow::gjk::{Difference, End};
use crate::narrow::simplex::{Corner, Simplex};
use glam::DVec3;

impl Polytope {
    /// Builds the first tetrahedron, or answers at once for a flat difference.
    pub(super) fn seed(
        &mut self,
        difference: &mut impl Difference,
        start: &Simplex,
        limits: &Limits,
    ) -> Option<Outcome> {
        self.clear();
        self.corners.extend_from_slice(start.corners());
        self.drop_flat_corners(limits.flat);
        if self.corners.is_empty() {
            self.corners.push(difference.support(DVec3::X));
        }
        while self.corners.len() < 4 {
            let grown = self.thicken(difference, limits.flat);
            if let Err(normal) = grown {
                return Some(self.flat_outcome(difference, normal));
            }
        }
        self.seed_faces();
        None
    }

    /// Removes corners that add no length, area or volume to those before them.
    fn drop_flat_corners(&mut self, flat: f64) {
        let candidates = std::mem::take(&mut self.corners);
        for &corner in &candidates {
            if self.corners.is_empty() || self.height(corner.point) > flat {
                self.corners.push(corner);
            }
        }
    }

    /// Distance of a point from the point, line or plane through the corners.
    fn height(&self, point: DVec3) -> f64 {
        let to = |index: usize| self.corners[index].point - self.corners[0].point;
        let offset = point - self.corners[0].point;
        match self.corners.len() {
            1 => offset.length(),
            2 => offset.cross(to(1).normalize_or_zero()).length(),
            3 => offset.dot(to(1).cross(to(2)).normalize_or_zero()).abs(),
            _ => 0.0,
        }
    }

    /// Adds the highest of the supports across the corners, or names a direction without thickness.
    fn thicken(&mut self, difference: &mut impl Difference, flat: f64) -> Result<(), DVec3> {
        let directions = self.directions_across();
        let mut best: Option<(f64, Corner)> = None;
        for direction in directions.iter().flat_map(|&d| [d, -d]) {
            let corner = difference.support(direction);
            let height = self.height(corner.point);
            if height > flat && best.is_none_or(|(other, _)| height > other) {
                best = Some((height, corner));
            }
        }
        let (_, corner) = best.ok_or(directions[0])?;
        self.corners.push(corner);
        Ok(())
    }

    /// Unit directions that span what the corners do not.
    fn directions_across(&self) -> [DVec3; 3] {
        let to = |index: usize| self.corners[index].point - self.corners[0].point;
        match self.corners.len() {
            1 => [DVec3::X, DVec3::Y, DVec3::Z],
            2 => {
                let line = to(1).normalize_or(DVec3::X);
                let side = line.any_orthonormal_vector();
                [side, line.cross(side), side]
            }
            _ => [to(1).cross(to(2)).normalize_or(DVec3::X); 3],
        }
    }

    fn flat_outcome(&self, difference: &mut impl Difference, normal: DVec3) -> Outcome {
        let there = difference.support(normal).point.dot(normal);
        let back = difference.support(-normal).point.dot(-normal);
        let (normal, upper) = if there <= back { (normal, there) } else { (-normal, back) };
        let mut face = Simplex::default();
        for &corner in &self.corners {
            face.push(corner);
        }
        let on_a = face.witnesses().0;
        Outcome { normal, upper, lower: upper.min(0.0), on_a, end: End::Converged, nearest: 0 }
    }

    fn seed_faces(&mut self) {
        let [p, q, r, s] = [0, 1, 2, 3].map(|index| self.corners[index].point);
        if (q - p).cross(r - p).dot(s - p) > 0.0 {
            self.corners.swap(0, 1);
        }
        // Now corner 3 is behind the face 0, 1, 2.
        const FACES: [[u16; 3]; 4] = [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]];
        const NEIGHBOURS: [[u16; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];
        for (corners, neighbours) in FACES.into_iter().zip(NEIGHBOURS) {
            let place = self.place_face(corners);
            self.links[usize::from(place)].neighbours = neighbours;
        }
    }
}
