//! Algorithm 7: the sum of a cell's coordinates as its bucket.

use std::collections::BTreeMap;

use jostle::Boxes;
use jostle::broad::hash_grid::{CellHash, HashGridOptions};
use jostle_scenes::SceneSpec;

use super::super::{Bound, Claim, Figure, Lab};
use super::drive;
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Bars, Chart};
use crate::support::text::grouped;

/// How a hash spreads the cells of a crowd: occupied cells, buckets used, cells in the fullest
/// bucket, and cells that share a box's bucket on the mean.
fn spread_of(hash: CellHash, cells: &[[i32; 3]], buckets: u64) -> [f64; 4] {
    let mut used: BTreeMap<u64, u64> = BTreeMap::new();
    for &cell in cells {
        *used.entry(hash.of(0, cell) % buckets).or_default() += 1;
    }
    let fullest = used.values().max().copied().unwrap_or(0);
    let squares: u64 = used.values().map(|count| count * count).sum();
    [cells.len() as f64, used.len() as f64, fullest as f64, squares as f64 / cells.len() as f64]
}

/// Both hashes on one crowd.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(8000, 100_000);
    let spec = SceneSpec::new("uniform", n, 1);
    let mut boxes = Boxes::new();
    Feed::unfiltered(&spec, 1)?.advance(&mut boxes)?;
    let mut cells: Vec<[i32; 3]> =
        boxes.aabbs().iter().map(|aabb| aabb.min.map(|low| (low / 2.0).floor() as i32)).collect();
    cells.sort_unstable();
    cells.dedup();
    let buckets = (n as u64).next_power_of_two();
    let mut rows = Vec::new();
    let mut shared = Vec::new();
    for (name, hash) in [("mixed", CellHash::Mixed), ("sum", CellHash::Sum)] {
        let spread = spread_of(hash, &cells, buckets);
        let [ms, tests] =
            drive(lab, &spec, HashGridOptions { hash, ..HashGridOptions::default() })?;
        shared.push((spread, ms, tests));
        let counts = spread.map(|count| format!("{count:.2}"));
        let mut row = vec![name.to_owned(), n.to_string(), buckets.to_string()];
        row.extend(counts);
        row.extend([format!("{:.1}", tests / n as f64), format!("{ms:.3}")]);
        rows.push(row);
    }
    lab.csv(
        "hash",
        &[
            "hash",
            "n",
            "buckets",
            "cells",
            "buckets_used",
            "fullest",
            "cells_in_a_bucket",
            "tests_per_box",
            "median_ms",
        ],
        &rows,
    )?;
    let (mixed, sum) = (&shared[0], &shared[1]);
    lab.plot(
        "hash",
        &[Chart::Bars(Bars {
            title: format!(
                "Cells that share a bucket, {} cells in {} buckets",
                grouped(cells.len() as u64),
                grouped(buckets)
            ),
            note: "mean over the cells; 1 is no collision".into(),
            axis: Axis::linear("cells in a cell's bucket"),
            bars: vec![("mixed".into(), mixed.0[3]), ("sum of coordinates".into(), sum.0[3])],
        })],
    )?;
    let times = format!(
        "{:.1} times the time of the library's grid, which hashes whole rows of cells",
        sum.1 / mixed.1
    );
    Ok(vec![claim(sum.0[3], mixed.0[3]).show(times).at(format!("{n} boxes"))])
}

/// From the mean number of cells in a cell's bucket.
fn claim(sum: f64, mixed: f64) -> Claim {
    Claim::new(
        "The sum of a cell's coordinates is a good bucket number",
        "used without a figure (algorithm 7)",
    )
    .require(
        "cells in a cell's bucket by those of a mixed hash",
        Figure::counted(sum / mixed),
        Bound::at_most(2.0),
    )
    .show(format!("{sum:.0} cells in a bucket against {mixed:.2}"))
    .because(
        "every cell of a diagonal plane has the same sum: a cube of k cells a side uses 3k \
             buckets",
        "cells of a cube of 40 a side by the buckets they use",
        Figure::counted(cells_by_buckets(40)),
        Bound::near(40.0 * 40.0 / 3.0, 10.0),
    )
}

/// Cells of a cube by the different sums of their coordinates, as the library's hash gives them.
fn cells_by_buckets(side: i32) -> f64 {
    let cube = (0..side).flat_map(|x| (0..side).map(move |y| (x, y)));
    let cells: Vec<[i32; 3]> = cube.flat_map(|(x, y)| (0..side).map(move |z| [x, y, z])).collect();
    let [cells, used, ..] = spread_of(CellHash::Sum, &cells, 1 << 20);
    cells / used
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn hashes_are_judged_on_both_sides() {
        assert_eq!((claim(2.9, 1.5).judged(), claim(3.1, 1.5).judged()), (Holds, Fails));
        assert!(!claim(90.0, 1.5).why().contains("REFUTED"), "{}", claim(90.0, 1.5).why());
    }
}
