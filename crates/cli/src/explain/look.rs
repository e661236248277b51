//! What a set of boxes looks like: the figures behind `jostle explain`.
//!
//! Everything is computed in f64. Boxes with an infinite bound count as infinite and are left
//! out of sizes, spreads and cells.

use jostle::{Aabb, Boxes};
use jostle_scenes::Sorted;

/// One axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AxisLook {
    /// Lowest and highest bound.
    pub low: f64,
    /// Highest bound.
    pub high: f64,
    /// Standard deviation of the centres.
    pub spread: f64,
    /// Mean extent of a box.
    pub mean_extent: f64,
    /// How many boxes a plane across the axis meets on average: what a sweep along it holds.
    pub met: f64,
}

impl AxisLook {
    /// Returns true if all centres agree: sweeping along it separates nothing.
    pub(crate) fn is_flat(&self) -> bool {
        self.spread == 0.0
    }
}

/// Sizes of boxes, by their longest edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sizes {
    /// The smallest.
    pub min: f64,
    /// Half are no larger.
    pub median: f64,
    /// 99 of a hundred are no larger.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
}

/// How boxes fill a grid whose cells are as large as the mean box.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cells {
    /// Edge of a cell.
    pub edge: f64,
    /// Cells that hold a centre.
    pub occupied: usize,
    /// Share of the cells in the bounds that hold a centre.
    pub share: f64,
    /// Boxes in an occupied cell, on average.
    pub mean: f64,
    /// Boxes in the fullest cell.
    pub fullest: usize,
}

/// What a set of boxes looks like.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// Number of boxes.
    pub boxes: usize,
    /// Boxes declared still.
    pub still: usize,
    /// Boxes with an infinite bound.
    pub infinite: usize,
    /// Boxes without volume.
    pub flat_boxes: usize,
    /// Boxes that equal an earlier one.
    pub duplicates: usize,
    /// The axes.
    pub axes: [AxisLook; 3],
    /// Sizes.
    pub sizes: Sizes,
    /// Volume of all boxes over the volume of their bounds; none if the bounds are flat.
    pub density: Option<f64>,
    /// The grid.
    pub cells: Cells,
}

impl Look {
    /// Looks at the boxes.
    pub(crate) fn new(boxes: &Boxes) -> Look {
        let all: Vec<Aabb> = boxes.ids().map(|id| boxes.aabbs()[id.index()]).collect();
        let finite: Vec<Aabb> = all.iter().filter(|aabb| is_finite(aabb)).copied().collect();
        let still = boxes.ids().filter(|id| boxes.filters()[id.index()].still).count();
        let axes = std::array::from_fn(|axis| look_at_axis(&finite, axis));
        let sizes = look_at_sizes(&finite);
        Look {
            boxes: all.len(),
            still,
            infinite: all.len() - finite.len(),
            flat_boxes: finite.iter().filter(|aabb| volume(aabb) == 0.0).count(),
            duplicates: count_duplicates(all),
            density: density(&finite, &axes),
            cells: look_at_cells(&finite, &axes, sizes.mean),
            axes,
            sizes,
        }
    }
}

fn is_finite(aabb: &Aabb) -> bool {
    aabb.min.iter().chain(&aabb.max).all(|bound| bound.is_finite())
}

fn extent(aabb: &Aabb, axis: usize) -> f64 {
    f64::from(aabb.max[axis]) - f64::from(aabb.min[axis])
}

fn longest(aabb: &Aabb) -> f64 {
    (0..3).map(|axis| extent(aabb, axis)).fold(0.0, f64::max)
}

fn volume(aabb: &Aabb) -> f64 {
    (0..3).map(|axis| extent(aabb, axis)).product()
}

/// The middle of a box on an axis.
pub(crate) fn centre(aabb: &Aabb, axis: usize) -> f64 {
    (f64::from(aabb.min[axis]) + f64::from(aabb.max[axis])) / 2.0
}

fn look_at_axis(boxes: &[Aabb], axis: usize) -> AxisLook {
    if boxes.is_empty() {
        return AxisLook::default();
    }
    let count = boxes.len() as f64;
    let low = boxes.iter().map(|aabb| f64::from(aabb.min[axis])).fold(f64::INFINITY, f64::min);
    let high = boxes.iter().map(|aabb| f64::from(aabb.max[axis])).fold(f64::NEG_INFINITY, f64::max);
    let centres = || boxes.iter().map(|aabb| centre(aabb, axis));
    let mean = centres().sum::<f64>() / count;
    let variance = centres().map(|at| (at - mean).powi(2)).sum::<f64>() / count;
    // Rounding alone must not look like spread.
    let first = centre(&boxes[0], axis);
    let spread = if centres().all(|at| at == first) { 0.0 } else { variance.sqrt() };
    let mean_extent = boxes.iter().map(|aabb| extent(aabb, axis)).sum::<f64>() / count;
    let met = if high > low { mean_extent * count / (high - low) } else { count };
    AxisLook { low, high, spread, mean_extent, met }
}

fn look_at_sizes(boxes: &[Aabb]) -> Sizes {
    if boxes.is_empty() {
        return Sizes::default();
    }
    let edges = Sorted::new(boxes.iter().map(longest));
    Sizes {
        min: edges.least(),
        median: edges.median(),
        p99: edges.quantile(0.99),
        max: edges.greatest(),
        mean: edges.mean(),
    }
}

fn count_duplicates(mut boxes: Vec<Aabb>) -> usize {
    // Adding zero makes the two zeros one.
    let key = |aabb: &Aabb| {
        let bounds = [aabb.min, aabb.max];
        bounds.map(|corner| corner.map(|bound| (bound + 0.0).to_bits()))
    };
    boxes.sort_unstable_by_key(key);
    boxes.windows(2).filter(|two| key(&two[0]) == key(&two[1])).count()
}

fn density(boxes: &[Aabb], axes: &[AxisLook; 3]) -> Option<f64> {
    let world: f64 = axes.iter().map(|axis| axis.high - axis.low).product();
    (world > 0.0).then(|| boxes.iter().map(volume).sum::<f64>() / world)
}

fn look_at_cells(boxes: &[Aabb], axes: &[AxisLook; 3], edge: f64) -> Cells {
    if boxes.is_empty() || edge <= 0.0 {
        return Cells::default();
    }
    let cell = |aabb: &Aabb| -> [i64; 3] {
        // Conversion saturates, so far outliers share the last cell.
        std::array::from_fn(|k| ((centre(aabb, k) - axes[k].low) / edge) as i64)
    };
    let mut cells: Vec<[i64; 3]> = boxes.iter().map(cell).collect();
    cells.sort_unstable();
    let runs = || cells.chunk_by(|one, other| one == other);
    let occupied = runs().count();
    let in_bounds: f64 =
        axes.iter().map(|axis| ((axis.high - axis.low) / edge).ceil().max(1.0)).product();
    Cells {
        edge,
        occupied,
        share: occupied as f64 / in_bounds,
        mean: boxes.len() as f64 / occupied as f64,
        fullest: runs().map(<[_]>::len).max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle::Filter;

    fn look(list: &[Aabb]) -> Look {
        let mut boxes = Boxes::new();
        boxes.insert_all(list, Filter::ALL).unwrap();
        Look::new(&boxes)
    }

    #[test]
    fn a_row_of_cubes_is_described() {
        let row: Vec<Aabb> = (0..10)
            .map(|k| Aabb::new([2.0 * k as f32, 0.0, 0.0], [2.0 * k as f32 + 1.0, 1.0, 1.0]))
            .collect();
        let look = look(&row);
        assert_eq!(look.boxes, 10);
        assert_eq!((look.axes[0].low, look.axes[0].high), (0.0, 19.0));
        assert!(!look.axes[0].is_flat() && look.axes[1].is_flat() && look.axes[2].is_flat());
        assert_eq!(look.axes[1].met, 10.0);
        assert_eq!(look.sizes.max, 1.0);
        assert!((look.density.unwrap() - 10.0 / 19.0).abs() < 1e-12);
        assert_eq!((look.cells.occupied, look.cells.fullest), (10, 1));
    }

    #[test]
    fn hostile_boxes_are_described_without_trouble() {
        let infinite = Aabb::new([f32::NEG_INFINITY; 3], [f32::INFINITY; 3]);
        let huge = Aabb::new([-f32::MAX; 3], [f32::MAX; 3]);
        let both_zeros = [Aabb::point([0.0; 3]), Aabb::point([-0.0; 3])];
        let look_at = look(&[infinite, huge, both_zeros[0], both_zeros[1]]);
        assert_eq!((look_at.infinite, look_at.duplicates, look_at.flat_boxes), (1, 1, 2));
        assert_eq!(look(&[]).cells, Cells::default());
        assert_eq!(look(&both_zeros).density, None);
    }
}
