//! `jostle bench --narrow`: the questions of the narrow phase on pairs of shapes, interleaved.
//!
//! A course is a kind of shapes placed in one way. Each question is asked by each method that
//! answers it by steps of its own; where shapes move, with the memory of the frame before and
//! without. All of them see all pairs in one pass before the next pass begins, the order turns by
//! one each pass, and every answer is checked once before anything is timed.

use std::hint::black_box;
use std::time::{Duration, Instant};

use jostle::narrow::{Options, PairCache, Query};
use jostle_scenes::{PairScene, Placing, ShapeKind, Sorted};

use crate::support::failure::Failure;
use crate::support::interrupt;
use crate::support::progress::Progress;

mod agree;
mod ask;
pub mod command;
mod picture;
mod report;

use agree::Truth;
use ask::{Answer, View, Way};

/// A pass is repeated until it takes about this long, so that the clock's grain does not count.
const PASS: Duration = Duration::from_micros(200);

/// Pairs that tell how long a pass will take, and the time after which fewer tell enough.
const TRIALS: usize = 3;
const TRIAL: Duration = Duration::from_millis(100);

/// How the pairs lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Well apart.
    Separated,
    /// Apart or overlapping by very little.
    Touching,
    /// Deep in each other.
    Deep,
    /// Anyhow: half of them touch.
    Scattered,
    /// Drifting and turning slowly from there.
    Moving,
}

impl Case {
    /// All of them.
    pub const ALL: [Case; 5] =
        [Case::Separated, Case::Touching, Case::Deep, Case::Scattered, Case::Moving];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Case::Separated => "separated",
            Case::Touching => "touching",
            Case::Deep => "deep",
            Case::Scattered => "scattered",
            Case::Moving => "moving",
        }
    }
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The kind of shapes.
    pub kind: &'static ShapeKind,
    /// How they lie.
    pub case: Case,
    /// Number of pairs.
    pub pairs: usize,
    /// Number of frames, if they move.
    pub frames: usize,
    /// How far they move in a frame, as a share of their radius.
    pub speed: f64,
    /// The seed of the pairs.
    pub seed: u64,
}

impl Course {
    fn scene(&self) -> PairScene {
        let Course { frames, speed, .. } = *self;
        let placing = match self.case {
            Case::Separated => Placing::Separated,
            Case::Touching => Placing::Touching,
            Case::Deep => Placing::Deep,
            Case::Scattered => Placing::Scattered,
            Case::Moving => Placing::Moving { frames, speed },
        };
        PairScene::new(self.kind, placing, self.pairs, self.seed)
    }

    fn queries(&self) -> usize {
        self.pairs * if self.case == Case::Moving { self.frames } else { 1 }
    }
}

/// One way on one course.
#[derive(Clone, Debug)]
pub struct Row {
    /// The course.
    pub course: Course,
    /// The question, and how it was asked.
    pub way: Way,
    /// Nanoseconds a query, of each pass.
    pub times: Sorted,
    /// Share of the answers that were yes.
    pub hits: f64,
    /// Mean number of support searches; of impacts, of measurements of the distance.
    pub steps: f64,
    /// Answers whose bounds did not meet.
    pub early: usize,
    /// True if the budget of time was used up before the last pass.
    pub cut_short: bool,
}

impl Row {
    /// Half of the passes took no longer.
    pub fn median_ns(&self) -> f64 {
        self.times.median()
    }

    /// The shortest pass.
    pub fn min_ns(&self) -> f64 {
        self.times.least()
    }

    /// Median time of a way with a memory over that of the same way without.
    pub fn cached_over_cold(&self, rows: &[Row]) -> Option<f64> {
        let cold = Way { cached: false, ..self.way };
        let twin = rows.iter().find(|row| row.way == cold).filter(|_| self.way.cached)?;
        Some(self.median_ns() / twin.median_ns())
    }
}

/// What was measured, and the ways that were left out with the time of a pass they would take.
#[derive(Default, Debug)]
pub struct Outcome {
    /// A row for each way.
    pub rows: Vec<Row>,
    /// Ways that take too long.
    pub left_out: Vec<(Way, Duration)>,
}

/// Checks and times all ways on a course. A way that has taken longer than `budget` stops early,
/// and one that would take a tenth of it for a pass does not start.
pub fn measure(
    course: &Course,
    ways: &[Way],
    passes: usize,
    budget: Option<Duration>,
) -> Result<Outcome, Failure> {
    let scene = course.scene();
    let mut outcome = Outcome::default();
    let mut lanes = Vec::new();
    for &way in ways {
        let mut lane = Lane::new(way, &scene);
        match budget.and_then(|budget| lane.too_long(&scene, course.queries(), budget / 10)) {
            Some(expected) => outcome.left_out.push((way, expected)),
            None => lanes.push(lane),
        }
    }
    if !lanes.is_empty() {
        check(course, &scene, &mut lanes)?;
    }
    race(course, &scene, &mut lanes, passes, budget);
    let ran = lanes.into_iter().filter(|lane| !lane.times.is_empty());
    outcome.rows = ran.map(|lane| lane.finish(course)).collect();
    Ok(outcome)
}

/// All lanes answer everything once, and all must agree.
fn check(course: &Course, scene: &PairScene, lanes: &mut [Lane]) -> Result<(), Failure> {
    let views: Vec<View<'_>> = views(scene).map(|(_, view)| view).collect();
    let truths: Vec<Truth> = views.iter().map(Truth::of).collect();
    let name = |query: usize| {
        let (frame, pair) = (query / scene.pairs.len(), query % scene.pairs.len());
        let Course { kind, case, seed, .. } = course;
        let (scene, case) = (kind.name, case.name());
        format!("{scene}, {case}, seed {seed}, pair {pair}, frame {frame}")
    };
    for (query, (truth, pair)) in truths.iter().zip(&scene.pairs).enumerate() {
        if let Some(wrong) = truth.contradicts(pair.touches) {
            return Err(Failure::Check(format!("{}: as placed, {wrong}", name(query))));
        }
    }
    for lane in lanes {
        if interrupt::requested() {
            break;
        }
        let answers = lane.answers(scene);
        for (query, answer) in answers.iter().enumerate() {
            if let Some(wrong) = truths[query].objection(&views[query], answer) {
                let Way { question, .. } = lane.way;
                let how = [question.name(), lane.way.method_name(), lane.way.memory_name()];
                let how = how.join(", ");
                return Err(Failure::Check(format!("{}, {how}: {wrong}", name(query))));
            }
        }
    }
    Ok(())
}

fn race(
    course: &Course,
    scene: &PairScene,
    lanes: &mut [Lane],
    passes: usize,
    budget: Option<Duration>,
) {
    let progress = Progress::new(passes, &format!("{} {}", course.kind.name, course.case.name()));
    for pass in 0..passes {
        for turn in 0..lanes.len() {
            if interrupt::requested() {
                return;
            }
            let lane = &mut lanes[(pass + turn) % lanes.len()];
            if lane.cut_short {
                continue;
            }
            lane.pass(scene, course.queries());
            let over = budget.is_some_and(|budget| lane.spent > budget);
            lane.cut_short = over && pass + 1 < passes;
        }
        progress.step();
    }
}

/// Every pair of the first frame, then of the second, and so on, with the pair's number.
fn views(scene: &PairScene) -> impl Iterator<Item = (usize, View<'_>)> {
    let frames = scene.pairs.first().map_or(0, |pair| pair.frames.len());
    (0..frames).flat_map(move |frame| {
        scene.pairs.iter().enumerate().map(move |(number, pair)| {
            let poses = &pair.frames[frame];
            (number, View { shapes: scene.shapes_of(pair), poses, motions: &pair.motions })
        })
    })
}

/// One way with what it has done.
struct Lane {
    way: Way,
    query: Query,
    caches: Vec<PairCache>,
    /// How often a pass is repeated.
    rounds: usize,
    times: Vec<f64>,
    spent: Duration,
    cut_short: bool,
    hits: usize,
    steps: u64,
    early: usize,
}

impl Lane {
    fn new(way: Way, scene: &PairScene) -> Lane {
        Lane {
            way,
            query: Query::new(Options::default().with_method(way.method)),
            caches: vec![PairCache::new(); scene.pairs.len()],
            rounds: 1,
            times: Vec::new(),
            spent: Duration::ZERO,
            cut_short: false,
            hits: 0,
            steps: 0,
            early: 0,
        }
    }

    /// How long a pass should take if that is too long. A second trial decides, in case the
    /// first one met a busy moment.
    fn too_long(&mut self, scene: &PairScene, queries: usize, limit: Duration) -> Option<Duration> {
        let long = |time: &Duration| *time > limit;
        let first = Some(self.expected(scene, queries)).filter(long)?;
        Some(self.expected(scene, queries).min(first)).filter(long)
    }

    /// How long a pass should take, from a few pairs.
    fn expected(&mut self, scene: &PairScene, queries: usize) -> Duration {
        let (start, mut asked) = (Instant::now(), 0.0f64);
        for (number, view) in views(scene).take(TRIALS) {
            black_box(self.way.ask(&view, &mut self.query, &mut self.caches[number]));
            asked += 1.0;
            if start.elapsed() > TRIAL {
                break;
            }
        }
        let share = queries as f64 / asked.max(1.0);
        Duration::from_secs_f64(start.elapsed().as_secs_f64() * share)
    }

    /// Answers everything once and counts.
    fn answers(&mut self, scene: &PairScene) -> Vec<Answer> {
        let (way, start) = (self.way, Instant::now());
        self.caches.iter_mut().for_each(PairCache::clear);
        let ask = |(number, view)| way.ask(&view, &mut self.query, &mut self.caches[number]);
        let answers: Vec<Answer> = views(scene).map(ask).collect();
        let rounds = PASS.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-7);
        self.rounds = rounds.clamp(1.0, 1000.0) as usize;
        self.spent += start.elapsed();
        self.hits = answers.iter().filter(|answer| answer.hit).count();
        self.early = answers.iter().filter(|answer| answer.early).count();
        self.steps = answers.iter().map(|answer| u64::from(answer.steps)).sum();
        answers
    }

    /// Answers everything as often as a pass needs to take its time.
    fn pass(&mut self, scene: &PairScene, queries: usize) {
        let way = self.way;
        let start = Instant::now();
        for _ in 0..self.rounds {
            if way.cached {
                self.caches.iter_mut().for_each(PairCache::clear);
            }
            for (number, view) in views(scene) {
                black_box(way.ask(&view, &mut self.query, &mut self.caches[number]));
            }
        }
        let time = start.elapsed();
        self.spent += time;
        self.times.push(time.as_secs_f64() * 1e9 / (self.rounds * queries) as f64);
    }

    fn finish(self, course: &Course) -> Row {
        let queries = course.queries() as f64;
        Row {
            course: *course,
            way: self.way,
            times: Sorted::new(self.times),
            hits: self.hits as f64 / queries,
            steps: self.steps as f64 / queries,
            early: self.early,
            cut_short: self.cut_short,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ask::Question;
    use super::*;
    use jostle::narrow::Method;

    fn course(case: Case) -> Course {
        let kind = ShapeKind::find("boxes").unwrap();
        Course { kind, case, pairs: 6, frames: 4, speed: 0.01, seed: 1 }
    }

    fn ways(case: Case) -> Vec<Way> {
        let methods = [Method::Auto, Method::GjkEpa, Method::GjkSat];
        Way::of(course(case).kind, case, &Question::ALL, &methods)
    }

    #[test]
    fn every_way_gets_a_row_with_a_time_for_each_pass() {
        for case in Case::ALL {
            let outcome = measure(&course(case), &ways(case), 3, None).unwrap();
            assert_eq!(outcome.rows.len(), ways(case).len());
            assert!(outcome.rows.iter().all(|row| row.times.values().len() == 3 && !row.cut_short));
            assert!(outcome.rows.iter().all(|row| row.min_ns() > 0.0));
        }
    }

    #[test]
    fn a_budget_of_nothing_leaves_everything_out() {
        let ways = ways(Case::Deep);
        let outcome = measure(&course(Case::Deep), &ways, 3, Some(Duration::ZERO)).unwrap();
        assert!(outcome.rows.is_empty());
        assert_eq!(outcome.left_out.len(), ways.len());
    }

    #[test]
    fn a_contradiction_is_a_failed_check_that_names_the_pair() {
        let course = course(Case::Touching);
        let mut scene = course.scene();
        let lanes = || ways(Case::Touching).into_iter().map(|way| Lane::new(way, &scene));
        let mut lanes: Vec<Lane> = lanes().collect();
        assert!(check(&course, &scene, &mut lanes).is_ok());
        scene.pairs[4].touches = !scene.pairs[4].touches;
        let failed = check(&course, &scene, &mut lanes);
        let Err(Failure::Check(message)) = failed else { panic!("{failed:?}") };
        assert!(message.starts_with("boxes, touching, seed 1, pair 4, frame 0: "), "{message}");
    }

    #[test]
    fn frames_come_one_after_the_other() {
        let scene = course(Case::Moving).scene();
        let numbers: Vec<usize> = views(&scene).map(|(number, _)| number).collect();
        assert_eq!(numbers.len(), course(Case::Moving).queries());
        assert_eq!(numbers[..8], [0, 1, 2, 3, 4, 5, 0, 1]);
    }
}
