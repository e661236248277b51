//! [`Sketch`]: what an algorithm sees of the boxes, for pictures.

use crate::aabb::Aabb;

/// A part of space in an algorithm's eyes: a cell of a grid, a node of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Region {
    /// Where it is. Directions that are not divided have infinite bounds.
    pub bounds: Aabb,
    /// Of a tree, the distance from the root; of a hierarchy of grids, 0 for the finest.
    pub level: u32,
    /// Number of boxes that it holds.
    pub boxes: u32,
}

/// What a broad phase sees after an update: the axes that it sweeps, and how it divides space.
/// [`BroadPhase::sketch`](crate::BroadPhase::sketch) fills it.
///
/// ```
/// use jostle::broad::Sketch;
/// use jostle::{Aabb, Algorithm, Detector, Filter};
///
/// let mut detector = Detector::new(Algorithm::Octree);
/// for x in 0..100 {
///     detector.insert(Aabb::point([x as f32, 0.0, 0.0]), Filter::ALL)?;
/// }
/// detector.step()?;
/// let mut sketch = Sketch::with_limit(1000);
/// detector.sketch(&mut sketch);
/// assert!(sketch.regions().len() > 1);
/// # Ok::<(), jostle::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// True for each of x, y and z along which endpoints are sorted.
    pub sweep_axes: [bool; 3],
    regions: Vec<Region>,
    limit: usize,
    left_out: usize,
}

impl Sketch {
    /// An empty sketch that takes at most this many regions.
    #[must_use]
    pub fn with_limit(limit: usize) -> Sketch {
        Sketch { limit, ..Sketch::default() }
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.sweep_axes = [false; 3];
        self.regions.clear();
        self.left_out = 0;
    }

    /// Adds a region, unless there are too many already.
    pub fn add(&mut self, bounds: Aabb, level: u32, boxes: u32) {
        if self.regions.len() < self.limit {
            self.regions.push(Region { bounds, level, boxes });
        } else {
            self.left_out += 1;
        }
    }

    /// The regions.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Number of regions beyond the limit.
    pub fn left_out(&self) -> usize {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Algorithm, Detector, Filter};

    #[test]
    fn trees_and_grids_draw_every_box_they_hold() {
        let place = |k: u32| {
            let at = [k * 37 % 211, k * 53 % 193, k * 71 % 157].map(|part| part as f32);
            Aabb::new(at, at.map(|low| low + (k % 7) as f32))
        };
        let aabbs: Vec<Aabb> = (0..2000).map(place).collect();
        let drawn = |algorithm: Algorithm| {
            let mut detector = Detector::new(algorithm);
            detector.boxes_mut().insert_all(&aabbs, Filter::ALL).unwrap();
            detector.step().unwrap();
            let mut sketch = Sketch::with_limit(1 << 16);
            detector.sketch(&mut sketch);
            assert_eq!(sketch.left_out(), 0);
            sketch
        };
        let held = |sketch: &Sketch, level: Option<u32>| {
            let wanted = |region: &&Region| level.is_none_or(|level| region.level == level);
            sketch.regions().iter().filter(wanted).map(|region| region.boxes).sum::<u32>()
        };
        for algorithm in [Algorithm::Bvh, Algorithm::Octree] {
            let sketch = drawn(algorithm);
            assert_eq!(held(&sketch, Some(0)), 2000, "{algorithm}");
            assert!(sketch.regions().iter().any(|region| region.level > 1), "{algorithm}");
        }
        let grid = drawn(Algorithm::HashGrid);
        assert_eq!(held(&grid, None), 2000);
        let corner = |aabb: &Aabb| Aabb::point(aabb.min);
        let found =
            |aabb: &Aabb| grid.regions().iter().any(|one| one.bounds.contains(&corner(aabb)));
        assert!(aabbs.iter().all(found));
        let columns = drawn(Algorithm::GridSweep);
        assert!(held(&columns, None) >= 2000 && columns.regions().len() > 1);
        let overlaps = |aabb: &Aabb| columns.regions().iter().any(|one| one.bounds.overlaps(aabb));
        assert!(aabbs.iter().all(overlaps));
        assert_eq!(drawn(Algorithm::Sap).sweep_axes, [true; 3]);
        assert_eq!(drawn(Algorithm::SortSweep).sweep_axes, [true, false, false]);
        let mut few = Sketch::with_limit(3);
        (0..5).for_each(|level| few.add(Aabb::default(), level, 1));
        assert_eq!((few.regions().len(), few.left_out()), (3, 2));
    }
}
