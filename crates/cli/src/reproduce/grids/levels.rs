//! Levels of cells where sizes differ, against one level of the largest and of the median box.

use jostle::broad::hash_grid::{Cells, HashGridOptions};
use jostle::{Aabb, Boxes};
use jostle_scenes::{SceneSpec, median};

use super::super::{Bound, Claim, Figure, Lab};
use super::drive;
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// Work per box of three grids on one scene.
struct LevelRow {
    scene: String,
    decades: f64,
    /// Tests and milliseconds of the hierarchy.
    hierarchy: [f64; 2],
    /// As above, with one level of cells as large as the largest box.
    single: [f64; 2],
    /// Cells that a box covers on the mean, with cells as large as the median box.
    copies: f64,
}

/// Sizes over more and more decades.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(3000, 30_000);
    let mut rows = Vec::new();
    for decades in [0.0, 1.0, 2.0, 3.0, 4.0] {
        let spec = SceneSpec::new("sizes", n, 1).param("decades", decades);
        rows.push(level_row(lab, "sizes", decades, &spec)?);
    }
    let dense = SceneSpec::new("sizes", n, 1).param("density", 2.0);
    rows.push(level_row(lab, "sizes, density 2", 3.0, &dense)?);
    let city = SceneSpec::new("city", n, 1);
    rows.push(level_row(lab, "city", f64::NAN, &city)?);
    write_levels(lab, &rows, n)?;
    Ok(claims(&rows, n))
}

/// From the rows of zero to four decades, of the dense scene, and of the city.
fn claims(rows: &[LevelRow], n: usize) -> Vec<Claim> {
    let (three, four, dense, city) = (&rows[3], &rows[4], &rows[5], &rows[6]);
    let tests = |row: &LevelRow| row.single[0] / row.hierarchy[0];
    vec![
        Claim::new(
            "Where sizes differ much, cells as large as the largest box cost far more tests",
            "argued, figures 4.2 and 4.3; no figure",
        )
        .require(
            "tests by the hierarchy's over three decades",
            Figure::counted(tests(three)),
            Bound::at_least(2.0),
        )
        .show(format!("{:.1} at density 2, {:.1} in the scene `city`", tests(dense), tests(city)))
        .at(format!("{n} boxes"))
        .remark("counted")
        .because(
            "at this density cells as large as the largest of three decades still hold few boxes; \
             with one decade more the claim is right",
            "the same over four decades",
            Figure::counted(tests(four)),
            Bound::at_least(2.0),
        ),
        Claim::new(
            "… and cells as large as the median box are entered far too often",
            "argued, figure 4.2; no figure",
        )
        .require(
            "cells that a box covers on the mean over three decades",
            Figure::counted(three.copies),
            Bound::at_least(100.0),
        )
        .at(format!("{n} boxes"))
        .remark("entries of such a grid, counted exactly; in the hierarchy a box has one"),
    ]
}

fn level_row(lab: &Lab, scene: &str, decades: f64, spec: &SceneSpec) -> Result<LevelRow, Failure> {
    let options = |cells| HashGridOptions { cells, ..HashGridOptions::default() };
    let turned = |[ms, tests]: [f64; 2]| [tests, ms];
    let mut boxes = Boxes::new();
    Feed::unfiltered(spec, 1)?.advance(&mut boxes)?;
    // The chapter's finest cells are as small as the smallest object; the library's own choice
    // trades tests for fewer levels.
    let finest = boxes.aabbs().iter().map(side).fold(f64::INFINITY, f64::min);
    Ok(LevelRow {
        scene: scene.into(),
        decades,
        hierarchy: turned(drive(lab, spec, options(Cells::From(finest as f32)))?),
        single: turned(drive(lab, spec, options(Cells::Single))?),
        copies: copies(boxes.aabbs()),
    })
}

/// The longest side of a box.
fn side(aabb: &Aabb) -> f64 {
    (0..3).map(|k| f64::from(aabb.extent(k))).fold(0.0, f64::max)
}

/// Cells of the median box's size that a box covers, on the mean.
fn copies(aabbs: &[Aabb]) -> f64 {
    let cell = median(aabbs.iter().map(side)).max(f64::MIN_POSITIVE);
    let number = |bound: f32| (f64::from(bound) / cell).floor();
    let covered = |aabb: &Aabb| {
        (0..3).map(|k| number(aabb.max[k]) - number(aabb.min[k]) + 1.0).product::<f64>()
    };
    aabbs.iter().map(covered).sum::<f64>() / aabbs.len() as f64
}

fn write_levels(lab: &mut Lab, rows: &[LevelRow], n: usize) -> Result<(), Failure> {
    let per_box = |tests: f64| format!("{:.2}", tests / n as f64);
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.scene.clone(),
                row.decades.to_string(),
                n.to_string(),
                per_box(row.hierarchy[0]),
                per_box(row.single[0]),
                format!("{:.2}", row.copies),
                format!("{:.3}", row.hierarchy[1]),
                format!("{:.3}", row.single[1]),
            ]
        })
        .collect();
    lab.csv(
        "levels",
        &[
            "scene",
            "decades",
            "n",
            "hierarchy_tests_per_box",
            "single_tests_per_box",
            "median_cell_entries_per_box",
            "hierarchy_ms",
            "single_ms",
        ],
        &cells,
    )?;
    let line = |value: &dyn Fn(&LevelRow) -> f64| -> Vec<(f64, f64)> {
        rows[..5].iter().map(|row| (row.decades, value(row))).collect()
    };
    lab.plot(
        "levels",
        &[Chart::Lines(Lines {
            title: format!("Work per box if sizes differ, {} boxes", grouped(n as u64)),
            note: "sizes scene at density 0.05".into(),
            x: Axis::linear("decades between the smallest and the largest box"),
            y: Axis::log("tests or entries per box"),
            series: vec![
                Series::new("hierarchy: tests", line(&|row| row.hierarchy[0] / n as f64)),
                Series::new(
                    "cells of the largest box: tests",
                    line(&|row| row.single[0] / n as f64),
                ),
                Series::new("cells of the median box: entries", line(&|row| row.copies)),
            ],
        })],
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn levels_are_judged_on_both_sides() {
        let row = |single: f64, copies: f64| LevelRow {
            scene: String::new(),
            decades: 0.0,
            hierarchy: [1.0, 1.0],
            single: [single, 1.0],
            copies,
        };
        let verdicts = |single, copies| {
            let rows = [0; 7].map(|_| row(single, copies));
            claims(&rows, 9).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(2.1, 110.0), [Holds, Holds]);
        assert_eq!(verdicts(1.9, 90.0), [Fails, Fails]);
    }
}
