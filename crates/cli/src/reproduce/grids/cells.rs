//! Cells: five of them for an object (algorithm 10, figure 4.4), small and large ones (figures 4.2
//! and 4.3), the memory of a dense grid, and the worst case of one bucket. In the plane, as in the
//! chapter.

use jostle_scenes::{Rng, median};

use super::super::systems::five_cells::{
    Buckets, Flat, PrintedGrid, Rule, all_pairs, counterexample,
};
use super::super::{Bound, Claim, Figure, Lab, power_law};
use super::milliseconds_of;
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};
use crate::support::text::grouped;

/// Squares in the plane, a tenth of it filled, whose sides spread over some decades.
fn squares(count: usize, decades: f64, seed: u64) -> Vec<Flat> {
    let mut rng = Rng::new(seed);
    let mut unit = || rng.below(1 << 24) as f64 / f64::from(1 << 24);
    let sizes: Vec<f64> = (0..count).map(|_| 10f64.powf(-decades * unit())).collect();
    let area: f64 = sizes.iter().map(|size| size * size).sum();
    let side = (area / 0.1).sqrt();
    let place = |size: f64| {
        let min = [unit() * side - side / 2.0, unit() * side - side / 2.0];
        Flat { min, max: min.map(|low| low + size) }
    };
    sizes.into_iter().map(place).collect()
}

/// Levels that double from the smallest square to the largest.
fn levels(decades: f64) -> Vec<f64> {
    let count = (decades * std::f64::consts::LOG2_10).ceil() as i32;
    (0..=count).rev().map(|halvings| 2f64.powi(-halvings)).collect()
}

/// Pairs that the rule of five cells misses, and that looking at all cells finds.
pub(super) fn five(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(1500, 6000);
    let (mut rows, mut missed, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wrong, mut by_all) = (0, 0.0);
    for decades in [0.0, 0.5, 1.0, 1.5, 2.0] {
        lab.check_stop()?;
        let objects = squares(n, decades, 3);
        let truth = all_pairs(&objects);
        let grid = PrintedGrid::new(&objects, levels(decades), Buckets::Exact);
        let [five, all] = [Rule::Five, Rule::All].map(|rule| grid.search(&objects, rule));
        let extra = five.pairs.iter().filter(|pair| truth.binary_search(pair).is_err()).count();
        wrong += extra + usize::from(all.pairs != truth);
        let share = 100.0 * (truth.len() - five.pairs.len()) as f64 / truth.len().max(1) as f64;
        missed.push((decades, share));
        let found = truth.iter().filter(|pair| all.pairs.binary_search(pair).is_ok()).count();
        by_all = f64::max(by_all, 100.0 * (truth.len() - found) as f64 / truth.len().max(1) as f64);
        cells.push((decades, [five.cells, all.cells].map(|count| count as f64 / n as f64)));
        let counts = [truth.len(), five.pairs.len(), all.pairs.len()].map(|c| c.to_string());
        let looked = [five.cells, all.cells].map(|count| format!("{:.2}", count as f64 / n as f64));
        rows.push([vec![decades.to_string()], counts.to_vec(), looked.to_vec()].concat());
    }
    let header =
        ["decades", "pairs", "found_by_five", "found_by_all", "five_cells_each", "all_cells_each"];
    lab.csv("five-cells", &header, &rows)?;
    let line = |name: &str, which: usize| {
        Series::new(name, cells.iter().map(|(decades, both)| (*decades, both[which])).collect())
    };
    let chart = |title: &str, y: &str, series| {
        Chart::Lines(Lines {
            title: title.into(),
            note: format!("{} squares in the plane", grouped(n as u64)),
            x: Axis::linear("decades between the smallest and the largest"),
            y: Axis::linear(y),
            series,
        })
    };
    lab.plot(
        "five-cells",
        &[
            chart(
                "Pairs that the rule of five cells misses",
                "percent of all pairs",
                vec![
                    Series::new("five cells", missed.clone()),
                    Series::new("all cells", missed.iter().map(|point| (point.0, 0.0)).collect()),
                ],
            ),
            chart(
                "Cells that an object looks at, on all levels",
                "cells",
                vec![line("five cells", 0), line("all cells", 1)],
            ),
        ],
    )?;
    if wrong > 0 {
        return Err(Failure::Check(format!("{wrong} pairs differ from testing all of them")));
    }
    Ok(five_claims(&missed, by_all, n))
}

fn five_claims(missed: &[(f64, f64)], by_all: f64, n: usize) -> Vec<Claim> {
    let (pair, sides) = counterexample();
    let grid = PrintedGrid::new(&pair, sides.clone(), Buckets::Exact);
    let found = grid.search(&pair, Rule::Five).pairs.len();
    let corners = |flat: &Flat| format!("{:?} to {:?}", flat.min, flat.max);
    let several = missed[1..].iter().map(|point| point.1).fold(0.0, f64::max);
    vec![
        Claim::new(
            "On one level five cells are enough to find every pair",
            "four that an object covers, and one to the left (figure 4.4, algorithm 10)",
        )
        .require("percent of the pairs missed", Figure::counted(missed[0].1), Bound::at_most(0.0))
        .at(format!("{n} squares of one size")),
        Claim::new(
            "On its own and all coarser levels five cells are enough to find every pair",
            "each object must be tested against five cells (section 4.1, algorithm 10)",
        )
        .require("percent of the pairs missed", Figure::counted(several), Bound::at_most(0.0))
        .show(format!(
            "smallest counterexample: {} and {}, levels of {sides:?}: {found} of 1 pair found",
            corners(&pair[0]),
            corners(&pair[1])
        ))
        .at(format!("{n} squares over half a decade to two"))
        .because(
            "larger objects do not look down, and one that reaches in from the cell to the left or \
             below on a coarser level is not looked for; looking at those cells as well finds all",
            "percent missed by looking at all cells, same run",
            Figure::counted(by_all),
            Bound::at_most(0.0),
        ),
    ]
}

/// What a uniform grid of one cell size did: every object in every cell that it covers.
#[derive(Clone, Copy, Debug)]
struct Plain {
    entries: usize,
    tests: u64,
    pairs: usize,
    ms: f64,
}

/// Fills and searches a dense grid.
fn plain(objects: &[Flat], cell: f64) -> Plain {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for object in objects {
        for k in 0..2 {
            low[k] = low[k].min(object.min[k]);
            high[k] = high[k].max(object.max[k]);
        }
    }
    let number = |at: f64, k: usize| ((at - low[k]) / cell) as usize;
    let size = [0, 1].map(|k| number(high[k], k) + 1);
    let mut outcome = Plain { entries: 0, tests: 0, pairs: 0, ms: 0.0 };
    outcome.ms = milliseconds_of(|| {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); size[0] * size[1]];
        for (index, object) in objects.iter().enumerate() {
            for x in number(object.min[0], 0)..=number(object.max[0], 0) {
                for y in number(object.min[1], 1)..=number(object.max[1], 1) {
                    lists[x * size[1] + y].push(index as u32);
                    outcome.entries += 1;
                }
            }
        }
        for (at, list) in lists.iter().enumerate() {
            for (place, &a) in list.iter().enumerate() {
                let one = &objects[a as usize];
                for other in list[place + 1..].iter().map(|&b| &objects[b as usize]) {
                    outcome.tests += 1;
                    let corner = [0, 1].map(|k| number(one.min[k].max(other.min[k]), k));
                    let home = corner[0] * size[1] + corner[1];
                    outcome.pairs += usize::from(one.overlaps(other) && home == at);
                }
            }
        }
    });
    outcome
}

/// Figures 4.2 and 4.3: one cell size after the other.
pub(super) fn size(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(4000, 20_000);
    let objects = squares(n, 0.0, 5);
    let cells = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
    let mut rounds: Vec<Vec<Plain>> = vec![Vec::new(); cells.len()];
    for _ in 0..lab.pick(5, 15) {
        for (&cell, list) in cells.iter().zip(&mut rounds) {
            lab.check_stop()?;
            list.push(plain(&objects, cell));
        }
    }
    let last = |k: usize| rounds[k][rounds[k].len() - 1];
    if (1..cells.len()).any(|k| last(k).pairs != last(0).pairs) {
        return Err(Failure::Check("cells of different sizes find different pairs".into()));
    }
    let time = |k: usize| median(rounds[k].iter().map(|outcome| outcome.ms));
    let rows: Vec<Vec<String>> = (0..cells.len())
        .map(|k| {
            let Plain { entries, tests, pairs, .. } = last(k);
            let counts = [entries as u64, tests, pairs as u64].map(|count| count.to_string());
            let key = vec![cells[k].to_string()];
            [key, counts.to_vec(), vec![format!("{:.4}", time(k))]].concat()
        })
        .collect();
    lab.csv("cell-size", &["cell_by_object", "entries", "tests", "pairs", "median_ms"], &rows)?;
    let line = |name: &str, value: &dyn Fn(usize) -> f64| {
        Series::new(name, (0..cells.len()).map(|k| (cells[k], value(k))).collect())
    };
    let chart = |title: &str, y: &str, series| {
        Chart::Lines(Lines {
            title: title.into(),
            note: format!(
                "{} squares in the plane, a tenth filled; both axes log",
                grouped(n as u64)
            ),
            x: Axis::log("side of a cell by that of an object"),
            y: Axis::log(y),
            series,
        })
    };
    lab.plot(
        "cell-size",
        &[
            chart("Time of a uniform grid", "milliseconds", vec![line("fill and search", &time)]),
            chart(
                "Work of a uniform grid",
                "count for each object",
                vec![
                    line("entries in cells", &|k| last(k).entries as f64 / n as f64),
                    line("tests", &|k| last(k).tests as f64 / n as f64),
                ],
            ),
        ],
    )?;
    let times: Vec<(f64, Vec<f64>)> = cells
        .iter()
        .zip(&rounds)
        .map(|(&cell, list)| (cell, list.iter().map(|outcome| outcome.ms).collect()))
        .collect();
    Ok(vec![size_claim(&times).at(format!("{n} squares of one size"))])
}

/// From cell sizes, ascending, and the times of each.
fn size_claim(times: &[(f64, Vec<f64>)]) -> Claim {
    let middle = |entry: &&(f64, Vec<f64>)| median(entry.1.iter().copied());
    let Some(best) = times.iter().min_by(|a, b| middle(a).total_cmp(&middle(b))) else {
        return Claim::new("", "");
    };
    let against_best = |k: usize| Figure::ratio(&times[k].1, &best.1);
    Claim::new(
        "Cells that are too small cost updates, cells that are too large cost tests",
        "drawn without a figure (figures 4.2 and 4.3)",
    )
    .require("time of the smallest cell by that of the best", against_best(0), Bound::at_least(2.0))
    .require(
        "time of the largest cell by that of the best",
        against_best(times.len() - 1),
        Bound::at_least(2.0),
    )
    .show(format!("best: {} times the object", best.0))
}

/// The memory of a dense grid and of a hashed one, as the world grows around the same objects.
pub(super) fn memory(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let n = lab.pick(2000, 10_000);
    let objects = squares(n, 0.0, 7);
    let side = |objects: &[Flat]| {
        let ends = objects.iter().flat_map(|o| [o.min[0].abs(), o.max[0].abs()]);
        2.0 * ends.fold(0.0, f64::max)
    };
    let (mut dense, mut hashed, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for factor in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0] {
        let spread = |o: &Flat| {
            let min = o.min.map(|at| at * factor);
            Flat { min, max: [0, 1].map(|k| min[k] + o.max[k] - o.min[k]) }
        };
        let world: Vec<Flat> = objects.iter().map(spread).collect();
        let width = side(&world);
        // A list head of 8 bytes for each cell, or for each bucket that is in use.
        let cells = width.ceil().powi(2);
        let grid = PrintedGrid::new(&world, vec![1.0], Buckets::Exact);
        let (full, used) = (8.0 * cells, 8.0 * grid.used() as f64);
        dense.push((width, full));
        hashed.push((width, used));
        rows.push([width, full, used].map(|value| format!("{value:.0}")).to_vec());
    }
    lab.csv("memory", &["world_side", "dense_bytes", "hashed_bytes"], &rows)?;
    lab.plot(
        "memory",
        &[Chart::Lines(Lines {
            title: format!("Memory of the cells, {} objects", grouped(n as u64)),
            note: "8 bytes for each list; cells as large as an object; both axes log".into(),
            x: Axis::log("side of the world by that of an object"),
            y: Axis::log("bytes"),
            series: vec![
                Series::new("dense grid", dense.clone()),
                Series::new("hashed grid", hashed.clone()),
            ],
        })],
    )?;
    Ok(memory_claims(&dense, &hashed, n))
}

/// From the bytes of both grids by the side of the world.
fn memory_claims(dense: &[(f64, f64)], hashed: &[(f64, f64)], n: usize) -> Vec<Claim> {
    let most = hashed.iter().map(|point| point.1).fold(0.0, f64::max);
    vec![
        Claim::new(
            "The memory of a dense grid grows with the area of the world",
            "O(h w), unfeasible for big scenes (section 4.1)",
        )
        .require("power of the side", Figure::counted(power(dense)), Bound::near(2.0, 0.1))
        .over_sizes()
        .remark("counted"),
        Claim::new(
            "With a hash table memory does not grow with the world",
            "a scene of any size (section 4.1)",
        )
        .require(
            "bytes for each object at most",
            Figure::counted(most / n as f64),
            Bound::at_most(8.0),
        )
        .remark("counted; one list head for each object at most, however large the world"),
    ]
}

fn power(points: &[(f64, f64)]) -> f64 {
    power_law(points).unwrap_or(f64::NAN)
}

/// Objects that all share one bucket.
pub(super) fn one_bucket(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![250, 500, 1000], vec![250, 500, 1000, 2000, 4000]);
    let (mut one, mut spread, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for &n in &sizes {
        lab.check_stop()?;
        let objects = squares(n, 0.0, 11);
        let tests = |buckets| {
            let grid = PrintedGrid::new(&objects, vec![1.0], buckets);
            grid.search(&objects, Rule::All).tests as f64
        };
        let (worst, usual) = (tests(Buckets::Sum(1)), tests(Buckets::Exact));
        one.push((n as f64, worst));
        spread.push((n as f64, usual));
        rows.push(vec![n.to_string(), format!("{worst:.0}"), format!("{usual:.0}")]);
    }
    lab.csv("one-bucket", &["n", "tests_in_one_bucket", "tests_in_own_buckets"], &rows)?;
    lab.plot(
        "one-bucket",
        &[Chart::Lines(Lines {
            title: "Tests if all objects share a bucket".into(),
            note: "squares in the plane at constant density; both axes logarithmic".into(),
            x: Axis::log("number of objects"),
            y: Axis::log("tests"),
            series: vec![
                Series::new("one bucket for all cells", one.clone()),
                Series::new("a bucket for each cell", spread.clone()),
            ],
        })],
    )?;
    Ok(vec![bucket_claim(power(&one), power(&spread))])
}

fn bucket_claim(one: f64, spread: f64) -> Claim {
    Claim::new(
        "In the worst case, all objects in one bucket, tests grow as the square of the objects",
        "O(n²) (section 4.1 (a))",
    )
    .require("power of the tests", Figure::counted(one), Bound::near(2.0, 0.1))
    .show(format!("power {spread:.2} with a bucket for each cell"))
    .over_sizes()
    .remark("counted; the same bucket is looked at once for each cell that an object covers")
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds};
    use super::*;

    #[test]
    fn cell_sizes_are_judged_on_both_sides() {
        let verdict = |small: f64, large: f64| {
            size_claim(&[(0.1, vec![small; 5]), (1.0, vec![1.0; 5]), (9.0, vec![large; 5])])
                .judged()
        };
        assert_eq!(verdict(2.1, 2.1), Holds);
        assert_eq!((verdict(1.9, 2.1), verdict(2.1, 1.9)), (Fails, Fails));
    }

    #[test]
    fn five_cells_are_judged_on_both_sides() {
        let verdicts = |one: f64, several: f64| {
            let claims = five_claims(&[(0.0, one), (1.0, several)], 0.0, 9);
            claims.iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(0.0, 0.0), [Holds, Holds]);
        assert_eq!(verdicts(0.1, 0.1), [Fails, Fails]);
    }

    #[test]
    fn memory_and_buckets_are_judged_on_both_sides() {
        let line = |power: f64, by: f64| [1.0, 4.0, 16.0].map(|x: f64| (x, by * x.powf(power)));
        let verdicts = |dense: f64, bytes: f64| {
            let claims = memory_claims(&line(dense, 1.0), &line(0.0, bytes), 1);
            claims.iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts(2.0, 7.0), [Holds, Holds]);
        assert_eq!(verdicts(1.5, 9.0), [Fails, Fails]);
        assert_eq!(bucket_claim(1.95, 1.0).judged(), Holds);
        assert_eq!(bucket_claim(1.7, 1.0).judged(), Fails);
        assert_eq!(bucket_claim(2.2, 1.0).judged(), Fails);
    }
}
