//! The narrow phase against parry3d-f64, and against itself without caches.
//!
//! Pairs are random, with about half of them in contact; both libraries answer the same pairs,
//! interleaved, and the ratio is that of the fastest passes. Distances and depths are compared as
//! well, so that nobody wins by being wrong.

use glam::DQuat;
use jostle::narrow::{self, PairCache, Placed, Query};
use jostle::shape::{Pose, Shape};
use parry3d_f64::math::{Pose as ParryPose, Rotation, Vector};
use parry3d_f64::query;
use parry3d_f64::shape as parry;
use std::cell::RefCell;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use clap::{Args, ValueEnum};
use jostle_cli::Failure;
use jostle_cli::support::names;
use jostle_cli::support::text::table;
use jostle_scenes::{PairScene, Placing, ShapeKind, ShapePair, Sorted};

/// The rows of the table: kinds of shapes that both libraries have.
pub const KINDS: [&str; 7] =
    ["hulls-12", "hulls-42", "hulls-162", "hulls-642", "boxes", "capsules", "balls"];

/// Times the narrow phase against parry3d-f64, and its caches against cold starts
#[derive(Args, Debug)]
pub struct NarrowArgs {
    /// One of the tables; both if left out
    #[arg(value_enum)]
    table: Option<Table>,
    /// Only kinds of shapes whose name contains one of these words, as in hulls-42,boxes
    #[arg(long, value_delimiter = ',')]
    kind: Vec<String>,
    /// Pairs of shapes; of pairs that move, a twenty-fifth of them
    #[arg(long, value_parser = names::positive, default_value = "1000")]
    pairs: usize,
    /// Frames of the pairs that move
    #[arg(long, value_parser = names::positive, default_value = "60")]
    frames: usize,
    /// Passes over all pairs
    #[arg(long, value_parser = names::positive, default_value = "21")]
    repeats: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Table {
    /// Against parry3d-f64.
    Parry,
    /// Caches against cold starts.
    Coherent,
}

/// Runs the subcommand.
pub fn run(args: &NarrowArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let named = |kind: &str| args.kind.iter().any(|word| kind.contains(word.as_str()));
    let kinds: Vec<&str> =
        KINDS.into_iter().filter(|kind| args.kind.is_empty() || named(kind)).collect();
    if kinds.is_empty() {
        return Err(Failure::Input(format!("--kind: there are only {}", KINDS.join(", "))));
    }
    if args.table != Some(Table::Coherent) {
        writeln!(out, "against parry3d-f64")?;
        write_rows(&against_parry(&kinds, args.pairs, args.repeats), out)?;
    }
    if args.table != Some(Table::Parry) {
        for speed in [0.01, 0.001] {
            writeln!(out, "caches against cold starts, {speed} of the size a frame")?;
            let pairs = args.pairs.div_ceil(25);
            let rows = coherent(&kinds, speed, pairs, args.frames, args.repeats.div_ceil(2));
            write_rows(&rows, out)?;
        }
    }
    Ok(())
}

fn scene_of(kind: &str, placing: Placing, pairs: usize) -> PairScene {
    let kind = ShapeKind::find(kind).expect("a kind of the table");
    PairScene::new(kind, placing, pairs, 7)
}

/// A shape in the rival's words.
fn rival_shape(shape: &Shape) -> Box<dyn parry::Shape> {
    let vector = |v: glam::DVec3| Vector::new(v.x, v.y, v.z);
    match shape {
        Shape::Sphere { radius } => Box::new(parry::Ball::new(*radius)),
        Shape::Cuboid { half_extents } => Box::new(parry::Cuboid::new(vector(*half_extents))),
        Shape::Capsule { radius, half_height } => {
            Box::new(parry::Capsule::new_y(*half_height, *radius))
        }
        Shape::Hull(hull) => {
            let points: Vec<Vector> = hull.vertices().iter().map(|&point| vector(point)).collect();
            Box::new(parry::ConvexPolyhedron::from_convex_hull(&points).expect("a hull"))
        }
        other => panic!("{} is not in the table", other.kind()),
    }
}

fn rival_pose(pose: &Pose) -> ParryPose {
    let (at, DQuat { x, y, z, w }) = (pose.translation(), pose.rotation());
    ParryPose::from_parts(Vector::new(at.x, at.y, at.z), Rotation::from_xyzw(x, y, z, w))
}

/// Pairs in both libraries.
struct Scene {
    ours: PairScene,
    shapes: Vec<Box<dyn parry::Shape>>,
    poses: Vec<[ParryPose; 2]>,
}

impl Scene {
    fn new(kind: &str, count: usize) -> Scene {
        let ours = scene_of(kind, Placing::Scattered, count);
        let shapes = ours.shapes.iter().map(rival_shape).collect();
        let poses = ours.pairs.iter().map(|pair| pair.frames[0].each_ref().map(rival_pose));
        Scene { shapes, poses: poses.collect(), ours }
    }
}

/// One row: a kind of pair and a question.
#[derive(Clone, Debug)]
pub struct Row {
    /// Kind of shapes.
    pub kind: String,
    /// `distance` or `contact`, or `cached …` for our own caches against none.
    pub question: String,
    /// Share of pairs in contact.
    pub hits: f64,
    /// Nanoseconds a query of ours, fastest pass.
    pub ours: f64,
    /// Nanoseconds a query of the rival, fastest pass.
    pub rival: f64,
    /// Median over the passes of rival time by our time.
    pub median_ratio: f64,
    /// Pairs on which the two differ by more than 1e-4, the accuracy of the rival on capsules.
    pub differing: usize,
}

impl Row {
    /// How many times faster we are, fastest passes compared.
    pub fn ratio(&self) -> f64 {
        self.rival / self.ours
    }
}

/// Times a pass in nanoseconds a query.
fn time(count: usize, mut pass: impl FnMut()) -> f64 {
    let start = Instant::now();
    pass();
    start.elapsed().as_secs_f64() * 1e9 / count as f64
}

/// Runs two passes in turns; the fastest of each and the median ratio.
fn race(
    count: usize,
    repeats: usize,
    mut ours: impl FnMut(),
    mut rival: impl FnMut(),
) -> (f64, f64, f64) {
    let rounds: Vec<(f64, f64)> =
        (0..repeats.max(1)).map(|_| (time(count, &mut ours), time(count, &mut rival))).collect();
    let ours = Sorted::new(rounds.iter().map(|round| round.0));
    let rival = Sorted::new(rounds.iter().map(|round| round.1));
    let ratios = Sorted::new(rounds.iter().map(|(ours, rival)| rival / ours));
    (ours.least(), rival.least(), ratios.median())
}

impl Scene {
    fn our_distance(&self, index: usize) -> f64 {
        let pair = &self.ours.pairs[index];
        let ([a, b], [at_a, at_b]) = (self.ours.shapes_of(pair), &pair.frames[0]);
        narrow::distance(&Placed::new(a, *at_a), &Placed::new(b, *at_b))
    }

    fn their_distance(&self, index: usize) -> f64 {
        let ([a, b], [at_a, at_b]) = (self.their_shapes(index), &self.poses[index]);
        query::distance(at_a, a, at_b, b).map_or(f64::NAN, |found| found.distance)
    }

    fn our_contact(&self, index: usize) -> f64 {
        let pair = &self.ours.pairs[index];
        let ([a, b], [at_a, at_b]) = (self.ours.shapes_of(pair), &pair.frames[0]);
        narrow::contact_within(&Placed::new(a, *at_a), &Placed::new(b, *at_b), 0.0)
            .map_or(0.0, |contact| black_box(contact).depth)
    }

    fn their_contact(&self, index: usize) -> f64 {
        let ([a, b], [at_a, at_b]) = (self.their_shapes(index), &self.poses[index]);
        let found = query::contact(at_a, a, at_b, b, 0.0);
        found.ok().flatten().map_or(0.0, |contact| -black_box(contact).dist)
    }

    #[inline]
    fn their_shapes(&self, index: usize) -> [&dyn parry::Shape; 2] {
        self.ours.pairs[index].shapes.map(|number| &*self.shapes[number])
    }

    fn row(
        &self,
        kind: &str,
        question: &str,
        repeats: usize,
        ours: impl Fn(&Scene, usize) -> f64,
        theirs: impl Fn(&Scene, usize) -> f64,
    ) -> Row {
        let count = self.ours.pairs.len();
        let all = || 0..count;
        let differing = all().filter(|&i| (ours(self, i) - theirs(self, i)).abs() > 1e-4).count();
        let hits = all().filter(|&i| self.our_distance(i) == 0.0).count() as f64 / count as f64;
        let (ours, rival, median_ratio) = race(
            count,
            repeats,
            || all().for_each(|i| _ = black_box(ours(self, i))),
            || all().for_each(|i| _ = black_box(theirs(self, i))),
        );
        let (kind, question) = (kind.to_string(), question.to_string());
        Row { kind, question, hits, ours, rival, median_ratio, differing }
    }
}

/// `distance` and `contact` of every kind against parry3d-f64.
pub fn against_parry(kinds: &[&str], pairs: usize, repeats: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in kinds {
        let scene = Scene::new(kind, pairs);
        let (our, their) = (Scene::our_distance, Scene::their_distance);
        rows.push(scene.row(kind, "distance", repeats, our, their));
        let (our, their) = (Scene::our_contact, Scene::their_contact);
        rows.push(scene.row(kind, "contact", repeats, our, their));
    }
    rows
}

/// One question about a pair in one of its frames, with its memory.
type Ask = fn(&mut Query, &[Placed<'_>; 2], &mut PairCache) -> f64;

fn coherent_distance(query: &mut Query, [a, b]: &[Placed<'_>; 2], cache: &mut PairCache) -> f64 {
    query.distance(a, b, cache)
}

fn coherent_contact(query: &mut Query, [a, b]: &[Placed<'_>; 2], cache: &mut PairCache) -> f64 {
    query.contact_within(a, b, 0.0, cache).map_or(0.0, |contact| contact.depth)
}

fn coherent_intersects(query: &mut Query, [a, b]: &[Placed<'_>; 2], cache: &mut PairCache) -> f64 {
    f64::from(u8::from(query.intersects(a, b, cache).hit))
}

/// Caches against cold starts on pairs that move and turn by about `speed` of their size a frame.
pub fn coherent(
    kinds: &[&str],
    speed: f64,
    pairs: usize,
    frames: usize,
    repeats: usize,
) -> Vec<Row> {
    let questions: [(&str, Ask); 3] = [
        ("cached distance", coherent_distance),
        ("cached contact", coherent_contact),
        ("cached intersects", coherent_intersects),
    ];
    let mut rows = Vec::new();
    for kind in kinds {
        let scene = scene_of(kind, Placing::Moving { frames, speed }, pairs);
        for (question, ask) in questions {
            rows.push(coherent_row(kind, question, &scene, repeats, ask));
        }
    }
    rows
}

fn coherent_row(kind: &str, question: &str, scene: &PairScene, repeats: usize, ask: Ask) -> Row {
    let placed = |pair: &ShapePair, frame: &[Pose; 2]| {
        let [a, b] = scene.shapes_of(pair);
        [Placed::new(a, frame[0]), Placed::new(b, frame[1])]
    };
    let query = RefCell::new(Query::default());
    let warm = |pair: &ShapePair| -> f64 {
        let (query, cache) = (&mut *query.borrow_mut(), &mut PairCache::new());
        pair.frames.iter().map(|frame| ask(query, &placed(pair, frame), cache)).sum()
    };
    let cold = |pair: &ShapePair, ask: Ask| -> f64 {
        let query = &mut *query.borrow_mut();
        let mut answer = |frame| ask(query, &placed(pair, frame), &mut PairCache::none());
        pair.frames.iter().map(&mut answer).sum()
    };
    let pairs = &scene.pairs;
    let count = pairs.iter().map(|pair| pair.frames.len()).sum();
    let differing = pairs.iter().filter(|p| (warm(p) - cold(p, ask)).abs() > 1e-9).count();
    let hits: f64 = pairs.iter().map(|pair| cold(pair, coherent_intersects)).sum();
    let (ours, rival, median_ratio) = race(
        count,
        repeats,
        || pairs.iter().for_each(|pair| _ = black_box(warm(pair))),
        || pairs.iter().for_each(|pair| _ = black_box(cold(pair, ask))),
    );
    let (kind, question) = (kind.to_string(), question.to_string());
    Row { kind, question, hits: hits / count as f64, ours, rival, median_ratio, differing }
}

/// The rows as a table, with the geometric mean of the ratios at the end.
fn write_rows(rows: &[Row], out: &mut dyn Write) -> Result<(), Failure> {
    let cells = rows.iter().map(|row| {
        vec![
            row.kind.clone(),
            row.question.clone(),
            format!("{:.2}", row.hits),
            format!("{:.1}", row.ours),
            format!("{:.1}", row.rival),
            format!("{:.2}", row.ratio()),
            format!("{:.2}", row.median_ratio),
            row.differing.to_string(),
        ]
    });
    let header = ["kind", "question", "hits", "ours ns", "rival ns", "ratio", "median", "differ"];
    write!(out, "{}", table(&header, &cells.collect::<Vec<_>>(), &[0, 1]))?;
    let mean = (rows.iter().map(|row| row.ratio().ln()).sum::<f64>() / rows.len() as f64).exp();
    writeln!(out, "geometric mean of ratios {mean:.2}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_runs_and_hits_about_half() {
        for row in against_parry(&KINDS, 200, 1) {
            assert!((0.3..=0.7).contains(&row.hits), "{row:?}");
            // The rival says that about one in twenty boxes that overlap deeply do so by nothing.
            // The library's own tests settle each such case by a reference.
            let most = if row.kind == "boxes" && row.question == "contact" { 20 } else { 4 };
            assert!(row.differing <= most, "{row:?}");
        }
    }

    #[test]
    fn caches_change_no_answer() {
        for row in coherent(&KINDS, 0.01, 10, 30, 1) {
            assert_eq!(row.differing, 0, "{row:?}");
        }
    }
}
