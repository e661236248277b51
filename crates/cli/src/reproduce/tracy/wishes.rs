//! Sections 3.2.2, 4.1 and 4.2: two wishes of the paper about chunks, tried on one axis.
//!
//! The paper expects that sorting insertions and removals beforehand, and working them into the
//! chunks in order, joins the best of segmented lists and of batches; and that erasing across the
//! border of a chunk keeps chunks from fragmenting. It built neither.

use std::collections::BTreeSet;
use std::time::Instant;

use jostle_scenes::{Rng, median};

use super::super::systems::chunked_list::{ChunkedList, Erase, Event};
use super::super::{Bound, Claim, Figure, Lab};
use crate::support::failure::Failure;
use crate::support::plot::{Axis, Chart, Lines, Series};

/// Endpoints of the paper's 3 000 boxes.
const KEYS: usize = 6000;

/// Endpoints of a chunk, the paper's choice.
const ROOM: usize = 32;

const WAYS: [&str; 3] = ["one by one", "presorted", "batch"];

/// Random steps in which as many keys come as go.
fn steps(events: usize, count: usize, seed: u64) -> (Vec<u64>, Vec<Vec<Event>>) {
    let mut rng = Rng::new(seed);
    let mut keys: BTreeSet<u64> = BTreeSet::new();
    while keys.len() < KEYS {
        keys.insert(rng.next_u64() >> 16);
    }
    let first: Vec<u64> = keys.iter().copied().collect();
    let mut present = first.clone();
    let steps = (0..count).map(|_| {
        let mut list = Vec::with_capacity(events);
        for _ in 0..events / 2 {
            let gone = present.swap_remove(rng.below(present.len()));
            keys.remove(&gone);
            list.push(Event::Remove(gone));
        }
        let mut come = Vec::new();
        while come.len() < events / 2 {
            let key = rng.next_u64() >> 16;
            if keys.insert(key) {
                come.push(key);
            }
        }
        list.extend(come.iter().map(|&key| Event::Insert(key)));
        present.extend(come);
        list
    });
    let steps = steps.collect();
    (first, steps)
}

struct Row {
    events: usize,
    /// Microseconds of each step, by way.
    times: [Vec<f64>; 3],
    /// Elements moved in a step.
    moved: [f64; 3],
}

fn measure(lab: &Lab, events: usize) -> Result<Row, Failure> {
    let (first, steps) = steps(events, lab.pick(20, 120), 1);
    let mut lists = [0; 3].map(|_| ChunkedList::new(&first, ROOM, Erase::Own));
    let mut times: [Vec<f64>; 3] = Default::default();
    for step in &steps {
        lab.check_stop()?;
        for (way, list) in lists.iter_mut().enumerate() {
            let mut step = step.clone();
            let start = Instant::now();
            match way {
                0 => list.apply_one_by_one(&step),
                1 => list.apply_presorted(&mut step),
                _ => list.apply_batch(&mut step),
            }
            times[way].push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    if !lists.iter().all(|list| list.keys().eq(lists[0].keys())) {
        return Err(Failure::Check(format!("{events} events: the lists differ")));
    }
    let moved = [0, 1, 2].map(|way: usize| lists[way].moved() as f64 / steps.len() as f64);
    Ok(Row { events, times, moved })
}

/// Both wishes.
pub(crate) fn run(lab: &mut Lab) -> Result<Vec<Claim>, Failure> {
    let counts = lab.pick(vec![4, 60, 600], vec![4, 12, 40, 120, 400, 1200, 4000]);
    let rows = counts
        .into_iter()
        .map(|events| measure(lab, events))
        .collect::<Result<Vec<Row>, Failure>>()?;
    write(lab, &rows)?;
    let wish = Claim::new(
        "Events sorted beforehand join the best of segmented lists and of batches",
        "a wish: a smooth transition between both (sections 4.1 and 4.2)",
    );
    let wish = rows.iter().fold(wish, |claim, row| {
        let best = |k: usize| row.times[0][k].min(row.times[2][k]);
        let best: Vec<f64> = (0..row.times[0].len()).map(best).collect();
        let what = format!("time by the better of both at {} events", row.events);
        claim.require(what, Figure::ratio(&row.times[1], &best), Bound::at_most(1.1))
    });
    let middle = |times: &[f64]| median(times.iter().copied());
    let loss =
        |row: &&Row| middle(&row.times[1]) / middle(&row.times[0]).min(middle(&row.times[2]));
    let worst = rows.iter().max_by(|a, b| loss(a).total_cmp(&loss(b))).unwrap_or(&rows[0]);
    let moved = |row: &Row| {
        let [one, sorted, batch] = row.moved;
        let events = row.events;
        format!(
            "at {events} events {one:.0} elements moved one by one, {sorted:.0} presorted, \
                 {batch:.0} in a batch"
        )
    };
    let wish = wish
        .show(moved(&rows[0]))
        .show(moved(&rows[rows.len() - 1]))
        .at(format!("{KEYS} endpoints of one axis in chunks of {ROOM}"))
        .over_sizes()
        .remark("without checkpoint sets; it pays once chunks have several events")
        .because(
            "while few events share a chunk there is nothing to consolidate, and merging writes \
             what a shift moves, after a sort",
            format!("elements moved presorted by those one by one at {} events", worst.events),
            Figure::counted(worst.moved[1] / worst.moved[0]),
            Bound::at_least(0.8),
        );
    Ok(vec![wish, erasing(lab)?])
}

/// Fragmentation after many steps of removals that outnumber insertions, and back.
fn erasing(lab: &Lab) -> Result<Claim, Failure> {
    let (first, steps) = steps(200, lab.pick(60, 600), 2);
    let lists = [Erase::Own, Erase::Across].map(|erase| {
        let mut list = ChunkedList::new(&first, ROOM, erase);
        let mut fill = Vec::new();
        for step in &steps {
            list.apply_one_by_one(step);
            fill.push(list.fill());
        }
        (median(fill), list)
    });
    let [(own_fill, own), (across_fill, across)] = &lists;
    lab.check_stop()?;
    let by = |across: u64, own: u64| across as f64 / own.max(1) as f64;
    Ok(Claim::new(
        "Erasing across borders keeps chunks unfragmented",
        "named as a simple method, not built (section 3.2.2)",
    )
    .require(
        "fill of the chunks by that without",
        Figure::counted(across_fill / own_fill),
        Bound::at_least(1.0),
    )
    .require(
        "splits and merges by those without",
        Figure::counted(by(across.rebuilt(), own.rebuilt())),
        Bound::at_most(1.0),
    )
    .show(format!(
        "{:.0} % full against {:.0} %, {:.2} times the elements moved",
        100.0 * across_fill,
        100.0 * own_fill,
        by(across.moved(), own.moved())
    ))
    .at(format!("{} steps of 200 events on {KEYS} endpoints", steps.len())))
}

fn write(lab: &mut Lab, rows: &[Row]) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for row in rows {
        for (way, name) in WAYS.iter().enumerate() {
            let time = format!("{:.3}", median(row.times[way].iter().copied()));
            let moved = format!("{:.1}", row.moved[way]);
            cells.push(vec![row.events.to_string(), (*name).to_owned(), time, moved]);
        }
    }
    lab.csv("wishes", &["events", "way", "median_us", "moved"], &cells)?;
    let line = |way: usize, value: &dyn Fn(&Row) -> f64| {
        Series::new(WAYS[way], rows.iter().map(|row| (row.events as f64, value(row))).collect())
    };
    let chart = |title: &str, y: &str, value: &dyn Fn(&Row, usize) -> f64| {
        Chart::Lines(Lines {
            title: title.into(),
            note: format!("{KEYS} endpoints of one axis, chunks of {ROOM}; both axes logarithmic"),
            x: Axis::log("insertions and removals of endpoints in a step"),
            y: Axis::log(y),
            series: (0..3).map(|way| line(way, &|row| value(row, way))).collect(),
        })
    };
    let time = |row: &Row, way: usize| median(row.times[way].iter().copied());
    lab.plot(
        "wishes",
        &[
            chart("Time of a step", "microseconds", &time),
            chart("Work of a step", "elements moved", &|row, way| row.moved[way].max(1.0)),
        ],
    )
}
