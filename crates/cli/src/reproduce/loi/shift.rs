//! The thesis's way to sort all cells at once: cell after cell is shifted along the sweep axis by
//! its number times the extent of the world, so that one sort by f32 and one sweep serve all.
//!
//! The shift costs the low bits of every coordinate. Rounding keeps the order, so pairs that
//! overlap still do; pairs that were apart by less than the rounding begin to, and have to be found
//! out by a second test. The library's GPU sorts by cell and start as integers instead.

use std::cmp::Ordering;

use jostle::{Aabb, Boxes};
use jostle_scenes::SceneSpec;

use super::{Columns, FIXED_CELL};
use crate::reproduce::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::text::grouped;

/// What sweeping shifted f32 intervals does: overlaps on the sweep axis among the boxes of a cell,
/// those of them that do not exist, and those that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shifted {
    overlaps: u64,
    /// False because of rounding.
    false_ones: u64,
    lost: u64,
}

/// The part of the experiment.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    Ok(vec![claim(lab)?])
}

fn claim(lab: &mut Lab) -> Result<Claim, Failure> {
    let n = lab.pick(20_000, 200_000);
    let mut boxes = Boxes::new();
    let spec = SceneSpec::new("uniform", n, 1).param("spread", 0.0);
    Feed::scene(&spec, 1)?.advance(&mut boxes)?;
    let columns = Columns::new(boxes.aabbs(), FIXED_CELL);
    let found = shifted(boxes.aabbs(), &columns, |x, shift| x + shift as f32);
    let wide = shifted(boxes.aabbs(), &columns, |x, shift| f64::from(x) + shift);
    let row = |sum: &str, found: Shifted| {
        let counts = [found.overlaps, found.false_ones, found.lost].map(|count| count.to_string());
        [vec![n.to_string(), sum.to_owned()], counts.to_vec()].concat()
    };
    lab.csv(
        "shift",
        &["n", "sum", "overlaps_on_axis", "false", "lost"],
        &[row("f32", found), row("f64", wide)],
    )?;
    let per_cent = |part: u64| 100.0 * part as f64 / found.overlaps.max(1) as f64;
    let cells = grouped((columns.count[0] * columns.count[1]) as u64);
    Ok(Claim::new(
        "Cells can be shifted one behind the other and sorted as f32",
        "by cell number times extent (section 6.1)",
    )
    .require("percent lost", Figure::counted(per_cent(found.lost)), Bound::at_most(0.0))
    .require("percent not real", Figure::counted(per_cent(found.false_ones)), Bound::at_most(0.0))
    .show(format!("of {} overlaps on the sweep axis", grouped(found.overlaps)))
    .at(format!("{} boxes in {cells} cells", grouped(n as u64)))
    .because(
        "the shift costs the low bits of a coordinate, so a second test with the plain bounds is \
         needed; a wider number has bits to spare",
        "percent not real or lost if sums are f64",
        Figure::counted(100.0 * (wide.false_ones + wide.lost) as f64 / wide.overlaps.max(1) as f64),
        Bound::at_most(0.0),
    ))
}

/// Sweeps cell by cell, with each coordinate shifted as `sum` does it.
fn shifted<T: PartialOrd + Copy>(
    aabbs: &[Aabb],
    columns: &Columns,
    sum: impl Fn(f32, f64) -> T,
) -> Shifted {
    let low = aabbs.iter().map(|aabb| aabb.min[0]).fold(f32::INFINITY, f32::min);
    let high = aabbs.iter().map(|aabb| aabb.max[0]).fold(f32::NEG_INFINITY, f32::max);
    // A little more than the world, so that the cells stay apart.
    let extent = (high - low) * 1.01;
    let (entries, starts) = columns.fill(aabbs);
    let mut found = Shifted::default();
    for cell in 0..starts.len() - 1 {
        let shift = f64::from(cell as f32 * extent);
        let mut list: Vec<(T, T, &Aabb)> = entries[starts[cell]..starts[cell + 1]]
            .iter()
            .map(|&slot| &aabbs[slot as usize])
            .map(|aabb| (sum(aabb.min[0], shift), sum(aabb.max[0], shift), aabb))
            .collect();
        list.sort_by(|one, other| one.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal));
        for (place, one) in list.iter().enumerate() {
            for other in &list[place + 1..] {
                let told = other.0 <= one.1 && one.0 <= other.1;
                let real = other.2.min[0] <= one.2.max[0] && one.2.min[0] <= other.2.max[0];
                found.overlaps += u64::from(told);
                found.false_ones += u64::from(told && !real);
                found.lost += u64::from(real && !told);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_shift_makes_near_boxes_touch_and_loses_none() {
        // Two boxes a hair apart on x, behind some thousand empty cells.
        let near = |x: f32| Aabb::new([x, 5000.0, 0.0], [x + 1.0, 5001.0, 1.0]);
        let first = Aabb::new([0.0; 3], [1000.0, 1.0, 1.0]);
        let aabbs = [first, near(1.0), near(2.001)];
        let columns = Columns::new(&aabbs, 2.0);
        let narrow = |x: f32, shift: f64| x + shift as f32;
        let found = shifted(&aabbs, &columns, narrow);
        assert_eq!((found.false_ones > 0, found.lost), (true, 0));
        let wide = shifted(&aabbs, &columns, |x, shift| f64::from(x) + shift);
        assert_eq!((wide.false_ones, wide.lost), (0, 0));
        let columns = Columns::new(&aabbs, 1e9);
        let plain = shifted(&aabbs, &columns, narrow);
        assert_eq!(plain, Shifted { overlaps: 2, false_ones: 0, lost: 0 });
    }
}
