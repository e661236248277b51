//! `jostle explain`: why boxes are fast or slow to pair, and which algorithm `auto` takes.

use std::io::{Write, stdout};

use clap::Args;
use jostle::{Algorithm, Boxes, Detector, Error, Pair};
use serde_json::{Value, json};

use crate::support::device::Device;
use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::interrupt;
use crate::support::names;
use crate::support::progress::Progress;
use crate::support::source::SourceArgs;
use crate::support::text::{brief, count_of, grouped, milliseconds, rounded_ms, wrapped};

mod look;

use look::{Look, centre};

/// Frames of a scene unless said otherwise.
const FRAMES: usize = 10;

/// How many of the boxes with the most pairs are named.
const WORST: usize = 5;

/// Above this many pairs they are estimated, not counted.
const MOST_PAIRS: usize = 50_000_000;

/// The largest box is far larger than the rest if it is this many times the median.
const LARGE: f64 = 20.0;

/// Above this many pairs a box the answer itself is the work.
const CROWDED: f64 = 50.0;

const EXAMPLES: &str = "\
Bounds, sizes, pairs and cells are those of the last frame; motion is over all frames.

Examples:
  jostle explain boxes.npy
  jostle explain --scene city --n 20000
  jostle explain sequence.npy --json";

/// Tells what the boxes look like, what makes them slow, and which algorithm suits them
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Lets auto choose a GPU as well: cpu, gpu, or a GPU's number or name (see jostle devices)
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<(), Failure> {
    let mut feed = args.source.open(FRAMES)?;
    let (device, workers) = (Device::open(&args.device)?, names::workers(0)?);
    let mut detector = Detector::with_workers(Algorithm::Auto, workers.clone());
    if !device.is_cpu() {
        detector.set_broad_phase(device.build(Algorithm::Auto, &workers));
    }
    detector.set_pair_limit(MOST_PAIRS);
    let mut motion = Motion::default();
    let mut crowded = None;
    let progress = Progress::new(feed.frames(), &format!("explain {}", feed.name()));
    while feed.advance(detector.boxes_mut())?.is_some() {
        motion.follow(detector.boxes());
        crowded = match detector.step() {
            Ok(_) => None,
            Err(Error::TooManyPairs { estimate, .. }) => Some(estimate.unwrap_or(u64::MAX)),
            Err(error) => return Err(error.into()),
        };
        progress.step();
        // With too many pairs the changes stay pending, and the next frame tells no more.
        if crowded.is_some() || interrupt::requested() {
            break;
        }
    }
    drop(progress);
    let look = Look::new(detector.boxes());
    let pairs = Pairs::new(&feed, &detector, crowded);
    let device = device.name();
    let told = Told { feed: &feed, detector: &detector, look, motion, pairs, device };
    if args.json {
        writeln!(stdout(), "{}", told.object())?;
        return Ok(());
    }
    stdout().write_all(told.text().as_bytes())?;
    Ok(())
}

/// What moves from frame to frame.
#[derive(Default)]
struct Motion {
    before: Vec<jostle::Aabb>,
    frames: usize,
    moved: usize,
    inserted: usize,
    removed: usize,
    distance: f64,
    boxes: usize,
}

impl Motion {
    /// Call before the step, while the changes are pending.
    fn follow(&mut self, boxes: &Boxes) {
        let changes = boxes.changes();
        if self.frames > 0 {
            self.moved += changes.moved().len();
            self.inserted += changes.inserted().len();
            self.removed += changes.removed().len();
            self.boxes += boxes.len();
            for id in changes.moved() {
                let (old, new) = (&self.before[id.index()], &boxes.aabbs()[id.index()]);
                let way = (0..3).map(|axis| (centre(new, axis) - centre(old, axis)).powi(2));
                let way = way.sum::<f64>().sqrt();
                self.distance += if way.is_finite() { way } else { 0.0 };
            }
        }
        self.frames += 1;
        self.before.clear();
        self.before.extend_from_slice(boxes.aabbs());
    }

    fn share(&self) -> f64 {
        self.moved as f64 / self.boxes.max(1) as f64
    }

    fn mean_distance(&self) -> f64 {
        self.distance / self.moved.max(1) as f64
    }

    fn per_frame(&self, count: usize) -> f64 {
        count as f64 / (self.frames.max(2) - 1) as f64
    }
}

/// The pairs of the last frame.
struct Pairs {
    count: u64,
    /// True if there are too many to hold.
    estimated: bool,
    /// Slot and number of pairs of the boxes with the most.
    worst: Vec<(u32, u32)>,
}

impl Pairs {
    fn new(feed: &Feed, detector: &Detector, crowded: Option<u64>) -> Pairs {
        if let Some(estimate) = crowded {
            return Pairs { count: estimate, estimated: true, worst: Vec::new() };
        }
        let pairs = detector.pairs();
        let worst = worst(pairs, detector.boxes().slots());
        let worst = worst.into_iter().map(|(id, count)| (feed.slot(jostle::Slot::new(id)), count));
        Pairs { count: pairs.len() as u64, estimated: false, worst: worst.collect() }
    }
}

/// The ids with the most pairs, and how many they have.
fn worst(pairs: &[Pair], slots: usize) -> Vec<(u32, u32)> {
    let mut counts = vec![0u32; slots];
    for pair in pairs {
        counts[pair.a().index()] += 1;
        counts[pair.b().index()] += 1;
    }
    let mut order: Vec<u32> = (0..slots as u32).filter(|&id| counts[id as usize] > 0).collect();
    order.sort_unstable_by_key(|&id| (std::cmp::Reverse(counts[id as usize]), id));
    order.truncate(WORST);
    order.into_iter().map(|id| (id, counts[id as usize])).collect()
}

struct Told<'a> {
    feed: &'a Feed,
    detector: &'a Detector,
    look: Look,
    motion: Motion,
    pairs: Pairs,
    device: String,
}

impl Told<'_> {
    fn per_box(&self) -> f64 {
        2.0 * self.pairs.count as f64 / self.look.boxes.max(1) as f64
    }

    fn object(&self) -> Value {
        let (look, motion) = (&self.look, &self.motion);
        let axes: Vec<Value> = look
            .axes
            .iter()
            .map(|axis| {
                json!({"low": axis.low, "high": axis.high, "spread": axis.spread,
                    "mean_extent": axis.mean_extent, "met": axis.met, "flat": axis.is_flat()})
            })
            .collect();
        let worst: Vec<Value> = self
            .pairs
            .worst
            .iter()
            .map(|&(row, count)| json!({"row": row, "pairs": count}))
            .collect();
        let (sizes, cells) = (&look.sizes, &look.cells);
        json!({
            "name": self.feed.name(), "frames": motion.frames, "boxes": look.boxes,
            "still": look.still, "infinite": look.infinite, "flat_boxes": look.flat_boxes,
            "duplicates": look.duplicates, "axes": axes,
            "sizes": {"min": sizes.min, "median": sizes.median, "p99": sizes.p99,
                "max": sizes.max, "mean": sizes.mean},
            "density": look.density,
            "pairs": self.pairs.count, "pairs_estimated": self.pairs.estimated,
            "pairs_per_box": self.per_box(), "worst": worst,
            "cells": {"edge": cells.edge, "occupied": cells.occupied, "share": cells.share,
                "mean": cells.mean, "fullest": cells.fullest},
            "motion": {"moved_share": motion.share(), "mean_distance": motion.mean_distance(),
                "inserted_per_frame": motion.per_frame(motion.inserted),
                "removed_per_frame": motion.per_frame(motion.removed)},
            "slow": self.findings(), "reason": self.detector.reason(), "device": self.device,
            "ms": rounded_ms(milliseconds(self.detector.step_time().update)),
        })
    }

    fn text(&self) -> String {
        let mut lines = vec![("boxes", self.boxes_line())];
        if self.look.boxes > 0 {
            lines.extend(["axis x", "axis y", "axis z"].into_iter().zip(self.axis_lines()));
            lines.push(("sizes", self.sizes_line()));
            lines.push(("density", self.cells_line()));
        }
        if self.motion.frames > 0 {
            lines.extend(self.pair_lines());
            lines.push(("motion", self.motion_line()));
            lines.extend(self.findings().into_iter().map(|finding| ("slow", finding)));
        }
        lines.push(match self.detector.reason() {
            Some(reason) => ("choice", format!("auto takes {reason}")),
            None => ("choice", "none: there is no frame to look at".into()),
        });
        lines.iter().map(|(label, text)| wrapped(&format!("{label:<11}"), text)).collect()
    }

    /// What makes these boxes slow to pair, in words.
    fn findings(&self) -> Vec<String> {
        let (look, sizes) = (&self.look, &self.look.sizes);
        let boxes = look.boxes.max(1) as f64;
        let percent = |part: f64| brief(part / boxes * 100.0);
        let met = look.axes.iter().map(|axis| axis.met).fold(f64::INFINITY, f64::min);
        let worst = self.pairs.worst.first().copied().unwrap_or_default();
        let unmarked = (1.0 - self.motion.share()) * boxes - look.still as f64;
        let mut list = Vec::new();
        if look.boxes > 100 && met > boxes / 20.0 {
            let share = percent(met);
            list.push(format!(
                "on every axis a plane meets at least {share} % of the boxes: \
                 a sweep along one tests many pairs in vain"
            ));
        }
        if sizes.max > LARGE * sizes.median.max(f64::MIN_POSITIVE) && sizes.max > 0.0 {
            list.push(
                "a few boxes are far larger than the rest: no single cell size suits all".into(),
            );
        }
        if look.boxes > 100 && f64::from(worst.1) > boxes / 10.0 {
            let share = percent(f64::from(worst.1));
            list.push(format!("row {} alone overlaps {share} % of the boxes", worst.0));
        }
        if self.per_box() > CROWDED {
            list.push(
                "the answer itself is large: filters that forbid pairs nobody needs would help \
                 most"
                    .into(),
            );
        }
        let coarse = self.detector.boxes().coarse_count();
        if coarse > 0 {
            let share = percent(coarse as f64);
            list.push(format!(
                "{share} % of the boxes are so small for their distance from the origin that \
                 rounding to f32 shapes them, and many pairs may be false: subtract an origin \
                 near the boxes"
            ));
        }
        if self.motion.frames > 1 && look.boxes > 0 && unmarked > boxes / 2.0 {
            let share = percent(unmarked);
            list.push(format!(
                "{share} % of the boxes rest without being declared still: pairs among them are \
                 kept up to date for nothing if nobody needs them"
            ));
        }
        list
    }

    fn boxes_line(&self) -> String {
        let look = &self.look;
        let mut parts = vec![count_of(look.boxes as u64, "box", "boxes")];
        let kinds = [
            (look.still, "still"),
            (look.infinite, "infinite"),
            (look.flat_boxes, "without volume"),
            (look.duplicates, "equal to another"),
        ];
        let kinds = kinds.iter().filter(|(count, _)| *count > 0);
        parts.extend(kinds.map(|(count, name)| format!("{} {name}", grouped(*count as u64))));
        let frames = count_of(self.motion.frames as u64, "frame", "frames");
        format!("{}: {}, {frames}", self.feed.name(), parts.join(", "))
    }

    /// A line for each of x, y and z.
    fn axis_lines(&self) -> Vec<String> {
        let widest = self.look.axes.iter().map(|axis| axis.spread).fold(0.0, f64::max);
        let line = |axis: &look::AxisLook| {
            let remark = match axis.spread {
                _ if axis.is_flat() => ", flat: a sweep along it separates nothing",
                spread if spread == widest => ", the widest",
                _ => "",
            };
            format!(
                "{} to {}, spread {}, a plane across meets {} {}{remark}",
                brief(axis.low),
                brief(axis.high),
                brief(axis.spread),
                brief(axis.met),
                if axis.met == 1.0 { "box" } else { "boxes" }
            )
        };
        self.look.axes.iter().map(line).collect()
    }

    fn sizes_line(&self) -> String {
        let sizes = &self.look.sizes;
        let ratio = match sizes.median > 0.0 {
            true => format!(", the largest {} times the median", brief(sizes.max / sizes.median)),
            false => String::new(),
        };
        format!(
            "longest edge {} least, {} median, {} p99, {} most{ratio}",
            brief(sizes.min),
            brief(sizes.median),
            brief(sizes.p99),
            brief(sizes.max)
        )
    }

    fn cells_line(&self) -> String {
        let cells = &self.look.cells;
        let density = match self.look.density {
            Some(density) => format!("{} of the volume is filled", brief(density)),
            None => "the bounds have no volume".into(),
        };
        if cells.occupied == 0 {
            return density;
        }
        format!(
            "{density}; cells of the mean size: {} of them hold boxes, {} each, the fullest {}",
            format_args!("{} %", brief(cells.share * 100.0)),
            brief(cells.mean),
            grouped(cells.fullest as u64)
        )
    }

    fn pair_lines(&self) -> Vec<(&'static str, String)> {
        let about = if self.pairs.estimated { "about " } else { "" };
        let count = count_of(self.pairs.count, "pair", "pairs");
        let mut lines = vec![("pairs", format!("{about}{count}, {} a box", brief(self.per_box())))];
        if !self.pairs.worst.is_empty() {
            let worst = self.pairs.worst.iter().map(|&(row, count)| {
                format!("row {row} ({})", count_of(u64::from(count), "pair", "pairs"))
            });
            lines.push(("most", worst.collect::<Vec<_>>().join(", ")));
        }
        lines
    }

    fn motion_line(&self) -> String {
        let motion = &self.motion;
        if motion.frames < 2 {
            return "one frame".into();
        }
        let mean = self.look.sizes.mean;
        let way = match mean > 0.0 && motion.moved > 0 {
            true => format!(", by {} mean sizes each", brief(motion.mean_distance() / mean)),
            false => String::new(),
        };
        let (came, went) = (motion.per_frame(motion.inserted), motion.per_frame(motion.removed));
        let churn = match motion.inserted + motion.removed {
            0 => String::new(),
            _ => format!("; {} come and {} go a frame", brief(came), brief(went)),
        };
        format!("{} % of the boxes move a frame{way}{churn}", brief(motion.share() * 100.0))
    }
}
