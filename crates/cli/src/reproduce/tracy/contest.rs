//! Runs broad phases with options over the frames of a scene, in turns.

use std::time::Instant;

use jostle::{Algorithm, Boxes, BroadPhase, Workers};
use jostle_scenes::{SceneSpec, Sorted};

use super::super::{Figure, Lab};
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::plot::Series;
use crate::support::runner::Runner;

/// A broad phase with a name.
pub(crate) struct Contender {
    name: String,
    broad: Box<dyn BroadPhase>,
}

impl Contender {
    /// A broad phase of its own making.
    pub(crate) fn new(name: impl Into<String>, broad: impl BroadPhase + 'static) -> Contender {
        Contender { name: name.into(), broad: Box::new(broad) }
    }

    /// The same under another name.
    pub(crate) fn named(self, name: &str) -> Contender {
        Contender { name: name.into(), ..self }
    }

    /// An algorithm as users get it, on one thread.
    pub(crate) fn algorithm(algorithm: Algorithm) -> Contender {
        Contender { name: algorithm.name().into(), broad: algorithm.build(&Workers::one()) }
    }
}

/// The four algorithms of the paper, on one thread. They follow whatever it costs: as users get
/// them, they find all pairs from scratch with a grid sweep if that is cheaper, which would hide
/// what is compared here.
pub(crate) mod persistent {
    use jostle::broad::grid_sap::{GridSap, GridSapOptions, GridSegmentedSap};
    use jostle::broad::sap::{Sap, SapOptions};
    use jostle::broad::segmented_sap::{SegmentedSap, SegmentedSapOptions};

    use super::{Contender, Workers};

    /// Batch insertion and removal, then segmented lists, in one cell.
    pub(crate) fn single() -> Vec<Contender> {
        let batch = SapOptions { may_rebuild: false, ..SapOptions::default() };
        let segmented =
            SegmentedSapOptions { may_rebuild: false, ..SegmentedSapOptions::default() };
        vec![
            Contender::new("sap", Sap::with_options(&Workers::one(), batch)),
            Contender::new("segmented-sap", SegmentedSap::with_options(&Workers::one(), segmented)),
        ]
    }

    /// The same in the cells of a grid.
    pub(crate) fn cells() -> Vec<Contender> {
        let options = GridSapOptions { may_rebuild: false, ..GridSapOptions::default() };
        vec![
            Contender::new("grid-sap", GridSap::with_options(&Workers::one(), options)),
            Contender::new(
                "grid-segmented-sap",
                GridSegmentedSap::with_options(&Workers::one(), options),
            ),
        ]
    }
}

/// What one contender needed for a step.
pub(crate) struct Outcome {
    /// Its name.
    pub name: String,
    /// Milliseconds of the update in each frame.
    pub times: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The shortest.
    pub shortest: f64,
    /// Swaps in a step, on average.
    pub swaps: f64,
}

/// Runs all contenders over at most this many frames of the scene; the first frame, in which they
/// build, does not count. All must agree on the events of every frame.
pub(crate) fn contest(
    lab: &Lab,
    scene: &SceneSpec,
    frames: usize,
    contenders: Vec<Contender>,
) -> Result<Vec<Outcome>, Failure> {
    contest_on(lab, Feed::unfiltered(scene, frames + 1)?, contenders)
}

/// The fewest frames of a contest in a full run, however long they take.
const LEAST: usize = 10;

/// A contest ends early, after twice, four times, … this many frames, if more would say little.
const FRAMES: usize = 25;

/// Every ratio of the contenders' times is known as well as this.
const KNOWN: f64 = 0.01;

/// Returns true if enough frames were run. What decides is how well the ratios are known, not
/// what they are: to stop where a verdict is reached would favour verdicts.
fn enough(times: &[Vec<f64>]) -> bool {
    let frames = times[0].len();
    let checked = frames >= 2 * FRAMES && (frames / FRAMES).is_power_of_two();
    let known = |list: &Vec<f64>| Figure::ratio(list, &times[0]).is_within(KNOWN);
    checked && frames.is_multiple_of(FRAMES) && times[1..].iter().all(known)
}

/// The same over other frames: such in which boxes are declared still.
pub(crate) fn contest_on(
    lab: &Lab,
    mut feed: Feed,
    contenders: Vec<Contender>,
) -> Result<Vec<Outcome>, Failure> {
    let end = lab.unit_end();
    let mut boxes = Boxes::new();
    let start = |one: Contender| Runner::with_broad_phase(&one.name, one.broad, &Workers::one());
    let mut runners: Vec<Runner> = contenders.into_iter().map(start).collect();
    let mut times = vec![Vec::new(); runners.len()];
    let mut swaps = vec![0; runners.len()];
    while let Some(frame) = feed.advance(&mut boxes)? {
        lab.check_stop()?;
        for turn in 0..runners.len() {
            let at = (frame + turn) % runners.len();
            runners[at].step(&boxes)?;
            if frame > 0 {
                times[at].push(runners[at].time().update.as_secs_f64() * 1e3);
                swaps[at] += runners[at].stats().swaps;
            }
        }
        compare(&runners, frame)?;
        boxes.commit();
        let late = end.is_some_and(|end| Instant::now() > end);
        if (times.len() > 1 && enough(&times)) || (late && frame >= LEAST) {
            break;
        }
    }
    let mut outcomes = Vec::new();
    for ((runner, times), swaps) in runners.into_iter().zip(times).zip(swaps) {
        let steps = times.len() as f64;
        let sorted = Sorted::new(times.iter().copied());
        outcomes.push(Outcome {
            name: runner.name,
            median: sorted.median(),
            shortest: sorted.least(),
            swaps: swaps as f64 / steps,
            times,
        });
    }
    Ok(outcomes)
}

fn compare(runners: &[Runner], frame: usize) -> Result<(), Failure> {
    let Some((first, others)) = runners.split_first() else { return Ok(()) };
    for other in others {
        if other.events() != first.events() || other.pairs().len() != first.pairs().len() {
            let (one, two) = (first.pairs().len(), other.pairs().len());
            let names = format!("{} and {}", first.name, other.name);
            return Err(Failure::Check(format!(
                "frame {frame}: {names} report other events ({one} and {two} pairs)"
            )));
        }
    }
    Ok(())
}

/// Results of several contests by what was varied, for a table and a picture.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<(f64, Vec<Outcome>)>,
}

impl Table {
    /// Adds a contest.
    pub(crate) fn push(&mut self, varied: f64, outcomes: Vec<Outcome>) {
        self.rows.push((varied, outcomes));
    }

    /// What was varied.
    pub(crate) fn varied(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|row| row.0)
    }

    /// The names of the contenders.
    pub(crate) fn names(&self) -> Vec<String> {
        let first = self.rows.first().map_or(&[][..], |row| &row.1);
        first.iter().map(|outcome| outcome.name.clone()).collect()
    }

    /// A figure of the contender with an index in each contest.
    pub(crate) fn points(&self, index: usize, value: impl Fn(&Outcome) -> f64) -> Vec<(f64, f64)> {
        self.rows.iter().map(|(varied, row)| (*varied, value(&row[index]))).collect()
    }

    /// A line for each contender.
    pub(crate) fn series(&self, value: impl Fn(&Outcome) -> f64 + Copy) -> Vec<Series> {
        let line = |(index, name): (usize, String)| Series::new(&name, self.points(index, value));
        self.names().into_iter().enumerate().map(line).collect()
    }

    /// How many times as fast one contender is as another, by their medians, at the varied figure
    /// nearest to this one.
    pub(crate) fn speed(&self, varied: f64, fast: usize, slow: usize) -> Figure {
        let distance = |row: &&(f64, Vec<Outcome>)| (row.0 - varied).abs();
        let nearest = self.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let ratio = |row: &Vec<Outcome>| Figure::ratio(&row[slow].times, &row[fast].times);
        nearest.map_or(Figure::counted(f64::NAN), |(_, row)| ratio(row))
    }

    /// How many times as fast the second contender is as the first.
    pub(crate) fn gain(&self, varied: f64) -> Figure {
        self.speed(varied, 1, 0)
    }

    /// Where the second contender begins to take longer than the first, between two of the figures
    /// that were run: the greatest up to which it surely wins and the smallest that it surely
    /// loses at, as the interval of the crossing. Infinite if it loses at none of them.
    pub(crate) fn crossing(&self) -> Figure {
        let ratio = |row: &(f64, Vec<Outcome>)| Figure::ratio(&row.1[1].times, &row.1[0].times);
        let won = self.rows.iter().take_while(|row| ratio(row).high <= 1.0).last();
        let lost = self.rows.iter().find(|row| ratio(row).low > 1.0);
        let (low, high) = (won.map_or(0.0, |row| row.0), lost.map_or(f64::INFINITY, |row| row.0));
        Figure { value: low, low, high }
    }

    /// The times of a contender at the varied figure nearest to this one.
    pub(crate) fn times(&self, varied: f64, index: usize) -> &[f64] {
        let distance = |row: &&(f64, Vec<Outcome>)| (row.0 - varied).abs();
        let nearest = self.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(&[], |(_, row)| &row[index].times)
    }

    /// A line for each contender under another name.
    pub(crate) fn named_series(&self, names: &[&str]) -> Vec<Series> {
        let line = |(index, name): (usize, &&str)| {
            Series::new(name, self.points(index, |outcome| outcome.median))
        };
        names.iter().enumerate().map(line).collect()
    }

    /// Rows of a file: what was varied, contender, frames, median, least, swaps.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Vec<String>> + '_ {
        let row = |at: f64, outcome: &Outcome| {
            let Outcome { name, median, shortest, swaps, times } = outcome;
            let [median, shortest] = [median, shortest].map(|time| format!("{time:.4}"));
            let frames = times.len().to_string();
            vec![format!("{at}"), name.clone(), frames, median, shortest, format!("{swaps:.0}")]
        };
        self.rows.iter().flat_map(move |(at, list)| list.iter().map(move |one| row(*at, one)))
    }

    /// Writes all figures to a file.
    pub(crate) fn write(&self, lab: &mut Lab, file: &str, varied: &str) -> Result<(), Failure> {
        let rows: Vec<Vec<String>> = self.rows().collect();
        let header = [varied, "contender", "frames", "median_ms", "min_ms", "swaps"];
        lab.csv(file, &header, &rows)
    }
}

#[cfg(test)]
impl Table {
    /// A table of times that were not measured: what was varied, and the frames of each contender.
    pub(crate) fn of(rows: &[(f64, &[&[f64]])]) -> Table {
        let outcome = |times: &&[f64]| Outcome {
            name: "made up".into(),
            times: times.to_vec(),
            median: Sorted::new(times.iter().copied()).median(),
            shortest: Sorted::new(times.iter().copied()).least(),
            swaps: 0.0,
        };
        let row = |(at, lists): &(f64, &[&[f64]])| (*at, lists.iter().map(outcome).collect());
        Table { rows: rows.iter().map(row).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contest_ends_when_its_ratios_are_known_whatever_they_are() {
        let steady = |frames: usize, time: f64| vec![time; frames];
        assert!(enough(&[steady(50, 1.0), steady(50, 3.0)]));
        assert!(!enough(&[steady(25, 1.0), steady(25, 3.0)]), "too few");
        assert!(!enough(&[steady(75, 1.0), steady(75, 3.0)]), "not looked at");
        let noisy: Vec<f64> = (0..50).map(|k| 1.0 + f64::from(k * 7 % 10)).collect();
        assert!(!enough(&[noisy.clone(), steady(50, 1.0)]));
        assert!(enough(&[noisy.clone(), noisy]), "frames that are long for both cancel out");
    }

    #[test]
    fn a_crossing_lies_between_the_last_win_and_the_first_loss() {
        let row = |at, second| (at, [2.0, second]);
        let table = |rows: &[(f64, [f64; 2])]| {
            let outcomes = |pair: &[f64; 2]| pair.map(|time| vec![time; 3]);
            let lists: Vec<(f64, [Vec<f64>; 2])> =
                rows.iter().map(|(at, pair)| (*at, outcomes(pair))).collect();
            let slices: Vec<(f64, [&[f64]; 2])> =
                lists.iter().map(|(at, [a, b])| (*at, [&a[..], &b[..]])).collect();
            let rows: Vec<(f64, &[&[f64]])> =
                slices.iter().map(|(at, pair)| (*at, &pair[..])).collect();
            Table::of(&rows).crossing()
        };
        let crossing = table(&[row(1.0, 1.0), row(2.0, 2.0), row(3.0, 4.0)]);
        assert_eq!((crossing.low, crossing.high), (2.0, 3.0));
        let never = table(&[row(1.0, 1.0), row(2.0, 1.5)]);
        assert_eq!((never.low, never.high), (2.0, f64::INFINITY));
        let at_once = table(&[row(1.0, 3.0), row(2.0, 1.5)]);
        assert_eq!((at_once.low, at_once.high), (0.0, 1.0));
    }
}
