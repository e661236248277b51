//! [`PrintedGrid`]: the hierarchy of hashed grids as the chapter prints it (algorithms 6 to 10), in
//! the plane.
//!
//! An object is in one cell, that of its lower corner, on the first level whose cells are as large
//! as the object. To find its partners it looks, on its own level and all coarser ones, at the
//! cells that it covers and, if it covers two rows, at the one left of its upper row: five cells.
//!
//! That is enough on its own level, where of two objects at least one finds the other. It is not on
//! coarser levels, because larger objects do not look down: one whose lower corner is in the cell
//! to the left, or below, reaches in from there and is not looked for. [`Rule::All`] looks at
//! every cell in which such a corner can be.

use std::collections::{BTreeMap, BTreeSet};

/// A rectangle in the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flat {
    /// Lower corner.
    pub min: [f64; 2],
    /// Upper corner.
    pub max: [f64; 2],
}

impl Flat {
    /// Returns true if the two have a point in common.
    pub(crate) fn overlaps(&self, other: &Flat) -> bool {
        (0..2).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }

    fn greater_side(&self) -> f64 {
        (self.max[0] - self.min[0]).max(self.max[1] - self.min[1])
    }
}

/// Which cells an object looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The five cells of figure 4.4.
    Five,
    /// Also the column to the left and the row below what it covers.
    All,
}

/// How cells are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Buckets {
    /// A table of this many by the sum of a cell's coordinates (algorithm 7).
    Sum(i64),
    /// Each cell for itself: no two share a bucket.
    Exact,
}

/// What a search found and counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Pairs of indices, the smaller one first, ascending.
    pub pairs: Vec<(u32, u32)>,
    /// Calls of `IsClose`.
    pub tests: u64,
    /// Cells looked at.
    pub cells: u64,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct PrintedGrid {
    /// The side of the cells of each level, ascending.
    sides: Vec<f64>,
    buckets: Buckets,
    levels: Vec<usize>,
    lists: BTreeMap<(i64, i64, i64), Vec<u32>>,
}

impl PrintedGrid {
    /// Adds all objects (algorithm 6). The last level takes what is larger than all cells.
    pub(crate) fn new(objects: &[Flat], sides: Vec<f64>, buckets: Buckets) -> PrintedGrid {
        let mut grid = PrintedGrid { sides, buckets, levels: Vec::new(), lists: BTreeMap::new() };
        for (index, object) in objects.iter().enumerate() {
            let fits = |side: &f64| *side >= object.greater_side();
            let level = grid.sides.iter().position(fits).unwrap_or(grid.sides.len() - 1);
            let [x, y] = grid.cell(object.min, level);
            grid.levels.push(level);
            grid.lists.entry(grid.bucket(x, y, level)).or_default().push(index as u32);
        }
        grid
    }

    fn cell(&self, corner: [f64; 2], level: usize) -> [i64; 2] {
        corner.map(|at| (at / self.sides[level]).floor() as i64)
    }

    /// Algorithm 7, or the cell itself.
    fn bucket(&self, x: i64, y: i64, level: usize) -> (i64, i64, i64) {
        match self.buckets {
            Buckets::Sum(count) => (((x + y + level as i64) % count).abs(), 0, 0),
            Buckets::Exact => (x, y, level as i64),
        }
    }

    /// Buckets in use.
    pub(crate) fn used(&self) -> usize {
        self.lists.len()
    }

    /// Every object looks for its partners (algorithm 10).
    pub(crate) fn search(&self, objects: &[Flat], rule: Rule) -> Found {
        let (mut found, mut pairs) = (Found::default(), BTreeSet::new());
        for (index, object) in objects.iter().enumerate() {
            for level in self.levels[index]..self.sides.len() {
                for [x, y] in self.looked_at(object, level, rule) {
                    found.cells += 1;
                    let list = self.lists.get(&self.bucket(x, y, level));
                    for &other in list.into_iter().flatten().filter(|&&o| o != index as u32) {
                        found.tests += 1;
                        if object.overlaps(&objects[other as usize]) {
                            let index = index as u32;
                            pairs.insert((index.min(other), index.max(other)));
                        }
                    }
                }
            }
        }
        found.pairs = pairs.into_iter().collect();
        found
    }

    fn looked_at(&self, object: &Flat, level: usize, rule: Rule) -> Vec<[i64; 2]> {
        let ([x1, y1], [x2, y2]) = (self.cell(object.min, level), self.cell(object.max, level));
        let more = i64::from(rule == Rule::All);
        let covered = (x1 - more..=x2).flat_map(|x| (y1 - more..=y2).map(move |y| [x, y]));
        let corner = (rule == Rule::Five && y2 > y1).then_some([x1 - 1, y2]);
        covered.chain(corner).collect()
    }
}

/// All pairs that overlap, by testing each.
pub(crate) fn all_pairs(objects: &[Flat]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::new();
    for (a, one) in objects.iter().enumerate() {
        for (b, other) in objects.iter().enumerate().skip(a + 1) {
            if one.overlaps(other) {
                pairs.push((a as u32, b as u32));
            }
        }
    }
    pairs
}

/// A small object and a larger one that reaches over it from the cell to its left, with the sides
/// of the two levels: the rule of five cells misses the pair.
pub(crate) fn counterexample() -> ([Flat; 2], Vec<f64>) {
    let small = Flat { min: [4.5, 1.0], max: [5.0, 1.5] };
    let large = Flat { min: [3.0, 0.5], max: [6.0, 3.5] };
    ([small, large], vec![1.0, 4.0])
}

#[cfg(test)]
mod tests {
    use jostle_scenes::Rng;

    use super::*;

    fn objects(count: usize, sizes: &[f64], seed: u64) -> Vec<Flat> {
        let mut rng = Rng::new(seed);
        let mut unit = || rng.below(1 << 20) as f64 / f64::from(1 << 20);
        (0..count)
            .map(|_| {
                let size = sizes[(unit() * sizes.len() as f64) as usize];
                let min = [40.0 * unit() - 20.0, 40.0 * unit() - 20.0];
                Flat { min, max: [min[0] + size * unit(), min[1] + size * unit()] }
            })
            .collect()
    }

    #[test]
    fn five_cells_are_enough_on_one_level_and_not_on_two() {
        let same = objects(400, &[2.0], 1);
        let one = PrintedGrid::new(&same, vec![2.0], Buckets::Exact);
        assert_eq!(one.search(&same, Rule::Five).pairs, all_pairs(&same));
        let (pair, sides) = counterexample();
        let grid = PrintedGrid::new(&pair, sides, Buckets::Exact);
        assert!(pair[0].overlaps(&pair[1]) && grid.search(&pair, Rule::Five).pairs.is_empty());
        assert_eq!(grid.search(&pair, Rule::All).pairs, [(0, 1)]);
    }

    #[test]
    fn all_cells_find_every_pair_whatever_the_buckets() {
        let mixed = objects(300, &[0.5, 2.0, 8.0], 2);
        let truth = all_pairs(&mixed);
        assert!(truth.len() > 300);
        for buckets in [Buckets::Exact, Buckets::Sum(1), Buckets::Sum(64)] {
            let grid = PrintedGrid::new(&mixed, vec![0.5, 2.0, 8.0], buckets);
            assert_eq!(grid.search(&mixed, Rule::All).pairs, truth, "{buckets:?}");
            let five = grid.search(&mixed, Rule::Five).pairs;
            assert!(five.iter().all(|pair| truth.contains(pair)));
        }
        let exact = PrintedGrid::new(&mixed, vec![0.5, 2.0, 8.0], Buckets::Exact);
        assert!(exact.search(&mixed, Rule::Five).pairs.len() < truth.len());
    }
}
