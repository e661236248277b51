//! Section 4.1.1: what it costs to set a flag of a pair, in each store, against comparing two
//! boxes, which is what the library does instead.

use std::hint::black_box;
use std::time::Instant;

use jostle::{Aabb, Boxes};
use jostle_scenes::median;

use super::super::systems::pair_manager::{PairManager, Store};
use super::super::{Bound, Figure};
use super::{Claim, Failure, Feed, Lab, scene};
use crate::support::plot::{Axis, Chart, Lines, Series};

/// A flag that changes: two boxes, an axis, and its new value.
type Change = (u32, u32, usize, bool);

/// Measurements of one size.
struct Row {
    n: usize,
    changes: usize,
    /// Nanoseconds for each change in each round, by store.
    flags: Vec<Vec<f64>>,
    bytes: Vec<usize>,
    comparing: Vec<f64>,
}

/// Every flag that changes in the frames of a scene of which a tenth moves, frame by frame, and the
/// boxes of the last frame.
fn changes(n: usize, frames: usize) -> Result<(Vec<Change>, Vec<Aabb>), Failure> {
    let mut feed = Feed::unfiltered(&scene(n, 0.9), frames)?;
    let mut boxes = Boxes::new();
    let mut before: Vec<Aabb> = Vec::new();
    let mut list = Vec::new();
    let on = |one: &Aabb, other: &Aabb, axis: usize| {
        one.min[axis] <= other.max[axis] && other.min[axis] <= one.max[axis]
    };
    while feed.advance(&mut boxes)?.is_some() {
        let now = boxes.aabbs();
        for axis in 0..3 {
            for a in 0..n {
                for b in a + 1..n {
                    let overlap = on(&now[a], &now[b], axis);
                    let then = !before.is_empty() && on(&before[a], &before[b], axis);
                    if overlap != then {
                        list.push((a as u32, b as u32, axis, overlap));
                    }
                }
            }
        }
        before = now.to_vec();
        boxes.commit();
    }
    // As an insertion sort meets them: not pair after pair.
    let mut rng = jostle_scenes::Rng::new(9);
    for at in (1..list.len()).rev() {
        list.swap(at, rng.below(at + 1));
    }
    Ok((list, before))
}

fn measure(lab: &Lab, n: usize) -> Result<Row, Failure> {
    let (list, aabbs) = changes(n, lab.pick(4, 8))?;
    let mut flags: Vec<PairManager> =
        Store::ALL.iter().map(|&store| PairManager::new(store, n)).collect();
    let mut row = Row {
        n,
        changes: list.len(),
        flags: vec![Vec::new(); flags.len()],
        bytes: Vec::new(),
        comparing: Vec::new(),
    };
    let each = |time: Instant| time.elapsed().as_secs_f64() * 1e9 / list.len().max(1) as f64;
    for _ in 0..lab.pick(7, 31) {
        lab.check_stop()?;
        for (manager, times) in flags.iter_mut().zip(&mut row.flags) {
            let start = Instant::now();
            for &(a, b, axis, overlap) in &list {
                black_box(manager.set(a, b, axis, overlap));
            }
            times.push(each(start));
        }
        let start = Instant::now();
        for &(a, b, ..) in &list {
            black_box(aabbs[a as usize].overlaps(&aabbs[b as usize]));
        }
        row.comparing.push(each(start));
    }
    row.bytes = flags.iter().map(PairManager::bytes).collect();
    Ok(row)
}

/// All stores at the thesis's sizes.
pub(super) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let sizes = lab.pick(vec![64, 256, 1024], vec![64, 128, 256, 512, 1024, 2048]);
    let rows = sizes.iter().map(|&n| measure(lab, n)).collect::<Result<Vec<Row>, Failure>>()?;
    write(lab, &rows)?;
    Ok(claims(&rows))
}

fn claims(rows: &[Row]) -> Vec<Claim> {
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    let at = |store: Store| Store::ALL.iter().position(|&one| one == store).unwrap_or(0);
    let time = |row: &Row, store| median(row.flags[at(store)].iter().copied());
    let [pairs, keys] = [Store::PairMap, Store::KeyMap].map(|store| &last.flags[at(store)]);
    let comparing = Store::ALL.iter().fold(
        Claim::new(
            "Comparing two boxes costs less than finding and setting one of their flags",
            "not the thesis's: why the library keeps no flags",
        ),
        |claim, &store| {
            let figure = Figure::ratio(&last.flags[at(store)], &last.comparing);
            claim.require(format!("{} by comparing", store.name()), figure, Bound::at_least(1.0))
        },
    );
    let shown = Store::ALL.map(|store| format!("{} {:.1} ns", store.name(), time(last, store)));
    let constant = |store| Figure::unpaired(&last.flags[at(store)], &first.flags[at(store)]);
    vec![
        Claim::new(
            "One key made of two ids makes look-ups radically faster than two ids",
            "expected of hashing (section 4.1.1)",
        )
        .require("times as fast", Figure::ratio(pairs, keys), Bound::at_least(2.0))
        .at(format!("{} boxes", last.n))
        .because(
            "a map is a tree whatever its keys are, and with all pairs in it a larger one; hashing \
             the same keys gives what was expected",
            "time of two ids in a map by that of one key in a hash table",
            Figure::ratio(pairs, &last.flags[at(Store::HashTable)]),
            Bound::at_least(2.0),
        ),
        Claim::new(
            "With one key a look-up takes constant time",
            "a look-up instead of a search (section 4.1.1)",
        )
        .require(
            format!("nanoseconds at {} by those at {} boxes", last.n, first.n),
            constant(Store::KeyMap),
            Bound::at_most(1.5),
        )
        .show(format!("{} times with a hash table", constant(Store::HashTable)))
        .over_sizes()
        .because(
            "a map is a tree: it is searched, and its levels no longer fit the near cache",
            "time of the map by that of the bit matrix at the same size, where nothing is searched",
            Figure::ratio(&last.flags[at(Store::KeyMap)], &last.flags[at(Store::BitTable)]),
            Bound::at_least(2.0),
        ),
        comparing
            .show(format!("comparing {:.1} ns", median(last.comparing.iter().copied())))
            .show(shown.join(", "))
            .at(format!("{} boxes", last.n)),
    ]
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for row in rows {
        for (k, store) in Store::ALL.iter().enumerate() {
            cells.push(vec![
                row.n.to_string(),
                store.name().into(),
                row.changes.to_string(),
                format!("{:.2}", median(row.flags[k].iter().copied())),
                row.bytes[k].to_string(),
            ]);
        }
        let comparing = format!("{:.2}", median(row.comparing.iter().copied()));
        let (n, changes) = (row.n.to_string(), row.changes.to_string());
        cells.push(vec![n, "comparing boxes".into(), changes, comparing, "0".into()]);
    }
    lab.csv("pair-manager", &["n", "store", "changes", "median_ns", "bytes"], &cells)?;
    let line = |name: &str, value: &dyn Fn(&Row) -> f64| {
        Series::new(name, rows.iter().map(|row| (row.n as f64, value(row))).collect())
    };
    let times = |row: &Row, k: usize| median(row.flags[k].iter().copied());
    let named = |value: &dyn Fn(&Row, usize) -> f64| -> Vec<Series> {
        let stores = Store::ALL.iter().enumerate();
        stores.map(|(k, store)| line(store.name(), &|row| value(row, k))).collect()
    };
    let mut series = named(&times);
    series.push(line("comparing boxes", &|row| median(row.comparing.iter().copied())));
    let chart = |title: &str, y: Axis, series: Vec<Series>| {
        Chart::Lines(Lines {
            title: title.into(),
            note: "flags that change while a tenth of the boxes moves; both axes logarithmic"
                .into(),
            x: Axis::log("number of boxes"),
            y,
            series,
        })
    };
    lab.plot(
        "pair-manager",
        &[
            chart("Setting a flag of a pair", Axis::log("nanoseconds"), series),
            chart("Memory of the flags", Axis::log("bytes"), named(&|row, k| row.bytes[k] as f64)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::Verdict::{Fails, Holds, Undecided};
    use super::*;

    /// Nanoseconds of two ids, one key, hash table and bits, and of comparing.
    fn row(n: usize, flags: [f64; 4], comparing: f64) -> Row {
        let flags = flags.map(|time| vec![time; 5]).into();
        Row { n, changes: 9, flags, bytes: vec![0; 4], comparing: vec![comparing; 5] }
    }

    #[test]
    fn stores_are_judged_on_both_sides() {
        let verdicts = |small: [f64; 4], large: [f64; 4], comparing: f64| {
            let rows = [row(64, small, comparing), row(1024, large, comparing)];
            claims(&rows).iter().map(Claim::judged).collect::<Vec<_>>()
        };
        assert_eq!(verdicts([9.0; 4], [20.0, 10.0, 5.0, 4.0], 3.0), [Holds, Holds, Holds]);
        assert_eq!(verdicts([9.0; 4], [20.0, 15.0, 5.0, 2.0], 3.0), [Fails, Fails, Fails]);
    }

    #[test]
    fn a_spread_over_the_bound_decides_nothing() {
        let mut rows = [row(64, [9.0; 4], 3.0), row(1024, [20.0, 10.0, 5.0, 4.0], 3.0)];
        rows[1].flags[1] = vec![8.0, 12.0, 8.0, 12.0, 10.0];
        assert_eq!(claims(&rows)[0].judged(), Undecided);
    }
}
