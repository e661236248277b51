//! `auto`: chooses among the other algorithms by what it sees, and can say why.
//!
//! Before each update it looks at the boxes (`Observed`): how many there are, how many are
//! declared still, how many changed, how many were inserted or removed. A small cost model for each
//! candidate turns that into nanoseconds; the cheapest is the choice. The algorithm in use is
//! replaced when another has been cheaper by `ADVANTAGE` for `PATIENCE` steps in a row. A new
//! algorithm reports all pairs first, so the tracker sees no difference and no event is lost. The
//! choice depends on counts alone, never on a clock: the same history is decided the same way
//! everywhere.
//!
//! The candidates are the algorithms that are the fastest somewhere:
//!
//! - `brute-force` for a few dozen boxes;
//! - `bvh` when boxes move, few or all of them: its cost follows what moved;
//! - `grid-sweep` when boxes come and go, and when most boxes are declared still and the others
//!   move.
//!
//! A [`Rival`], a broad phase elsewhere such as on a GPU, is one more candidate if it is given,
//! with a cost model of its own. If it fails, the processor takes over within the same step.
//!
//! The models were fitted to medians over 16 steps of every scene of `jostle bench` with 300 to
//! 400 000 boxes on one thread; only their ratios matter. With 10 million boxes that all move,
//! `bvh` takes 34 ns a box and `grid-sweep` 44 (`jostle bench --scene uniform --n 10M --threads
//! 1`). If an algorithm has made far more tests than its model expects, the tests it counted
//! replace the model (`Known`): crowds in the columns of `grid-sweep` (the `worst` scene: five
//! times the time of `bvh`), and boxes that leap, which spoil the tree of `bvh` (one in two hundred
//! leaping: four times the time of `grid-sweep`). The other algorithms were never the fastest
//! there: `bidim-sap` took about three times as long as the better of the two; `hash-grid` takes
//! 1.5 to 2.4 times as long as `bvh` (on `sizes`, `uniform` and `tenth`). The persistent sweeps
//! fall back on `grid-sweep` when most boxes move, so there they take its time and some more; with
//! a tenth moving, `grid-segmented-sap` took four times as long as `bvh`.

use std::fmt;

use crate::boxes::Boxes;
use crate::broad::brute_force::BruteForce;
use crate::broad::bvh::Bvh;
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::grid_sweep::GridSweep;
use crate::broad::sketch::Sketch;
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::queries::BoxQueries;
use crate::stats::Stats;

/// How many steps in a row another algorithm must be the better choice before it is taken:
/// building it costs more than a few steps with the second best.
const PATIENCE: u32 = 3;

/// How much cheaper another algorithm must be expected to be.
const ADVANTAGE: f64 = 1.15;

/// What the choice is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Observed {
    /// Number of boxes.
    boxes: usize,
    /// How many of them are declared still.
    still: usize,
    /// How many moved, were inserted or removed since the last step.
    changed: usize,
    /// How many were inserted or removed.
    churned: usize,
}

impl Observed {
    /// Looks at a set of boxes and its pending changes. Before the `first` update all boxes are
    /// new; what counts are the steps to come, in which those move that are not declared still.
    fn new(boxes: &Boxes, first: bool) -> Observed {
        let changes = boxes.changes();
        if first {
            let (boxes, still) = (boxes.len(), boxes.still_count());
            return Observed { boxes, still, changed: boxes - still, churned: 0 };
        }
        let churned = changes.inserted().len() + changes.removed().len();
        Observed { boxes: boxes.len(), still: boxes.still_count(), changed: changes.len(), churned }
    }
}

/// A broad phase elsewhere that [`Auto`] may choose as well, and what its steps are expected to
/// cost.
#[derive(Clone, Debug)]
pub struct Rival {
    /// The broad phase, to be cloned.
    pub broad: Box<dyn BroadPhase>,
    /// What reports call it.
    pub name: String,
    /// Nanoseconds of any step.
    pub fixed: f64,
    /// Nanoseconds for each box.
    pub per_box: f64,
    /// Nanoseconds for each box that changed.
    pub per_change: f64,
}

impl Rival {
    fn cost(&self, observed: &Observed) -> f64 {
        let (boxes, changed) = (observed.boxes as f64, observed.changed as f64);
        self.fixed + self.per_box * boxes + self.per_change * changed
    }
}

/// An algorithm that is the fastest somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Candidate {
    /// `brute-force`.
    BruteForce,
    /// `grid-sweep`.
    GridSweep,
    /// `bvh`.
    Bvh,
    /// The [`Rival`].
    Rival,
}

/// Nanoseconds of a test in a crowded column.
const COLUMN_TEST: f64 = 0.35;

/// Nanoseconds of a test in a tree that is much searched.
const TREE_TEST: f64 = 0.45;

/// For how many steps the tests of an algorithm are remembered after it was replaced.
const MEMORY: u32 = 1024;

/// How many tests the algorithms made on such boxes; 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// Tests of `grid-sweep`.
    grid: u64,
    /// Tests of `bvh`.
    tree: u64,
}

impl Candidate {
    const ALL: [Candidate; 4] =
        [Candidate::BruteForce, Candidate::GridSweep, Candidate::Bvh, Candidate::Rival];

    /// The name of the algorithm.
    const fn name(self) -> &'static str {
        match self {
            Candidate::BruteForce => "brute-force",
            Candidate::GridSweep => "grid-sweep",
            Candidate::Bvh => "bvh",
            Candidate::Rival => "device",
        }
    }

    const fn because(self) -> &'static str {
        match self {
            Candidate::BruteForce => "for a few boxes, testing all pairs beats any order",
            Candidate::GridSweep => {
                "so much changed that sorting all boxes into columns beats repairing a tree"
            }
            Candidate::Bvh => "repairing a tree where boxes moved beats starting from scratch",
            Candidate::Rival => "there are enough boxes to pay for its fixed cost",
        }
    }

    fn build(self, workers: &Workers, rival: Option<&Rival>) -> Box<dyn BroadPhase> {
        match (self, rival) {
            (Candidate::BruteForce, _) => Box::new(BruteForce::new(workers)),
            (Candidate::Bvh, _) => Box::new(Bvh::new(workers)),
            (Candidate::Rival, Some(rival)) => rival.broad.clone(),
            (Candidate::GridSweep, _) | (Candidate::Rival, None) => {
                Box::new(GridSweep::new(workers))
            }
        }
    }

    /// Expected nanoseconds of a step.
    fn cost(self, observed: &Observed, known: &Known, rival: Option<&Rival>) -> f64 {
        let boxes = observed.boxes as f64;
        let changed = observed.changed.min(observed.boxes) as f64;
        // Doublings beyond what fits the nearer caches.
        let large = (boxes / 30_000.0).log2().max(0.0);
        match self {
            Candidate::BruteForce => 0.45 * boxes * boxes,
            Candidate::GridSweep => {
                let model = match (observed.churned > 0, observed.still > 0) {
                    (true, _) => (65.0 + 3.0 * large) * boxes,
                    (false, true) => (175.0 + 28.0 * large) * (boxes - observed.still as f64),
                    (false, false) => (45.0 + 3.0 * large) * boxes,
                };
                9_000.0 + model.max(COLUMN_TEST * known.grid as f64)
            }
            Candidate::Bvh => {
                let each = (3.0 * boxes.max(2.0).log2() - 11.0).max(4.0);
                let churn = if observed.churned > 0 { 2.2 * each * boxes } else { 0.0 };
                // A box looked up alone costs as much as seven in the tree's own order.
                let model = (7.0 * changed).min(boxes) * each + churn;
                1_000.0 + model.max(TREE_TEST * known.tree as f64)
            }
            Candidate::Rival => rival.map_or(f64::INFINITY, |rival| rival.cost(observed)),
        }
    }
}

/// An algorithm and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Choice {
    /// The algorithm.
    candidate: Candidate,
    /// What was seen.
    observed: Observed,
    /// The next cheapest algorithm.
    runner_up: Candidate,
    /// How many times as much the runner-up is expected to cost.
    advantage: f64,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Observed { boxes, still, changed, churned } = self.observed;
        let (name, because) = (self.candidate.name(), self.candidate.because());
        write!(f, "{name}: {because} (")?;
        // Without boxes there is nothing to count and no cost to compare.
        match boxes {
            0 => return write!(f, "no boxes)"),
            1 => write!(f, "1 box, ")?,
            _ => write!(f, "{boxes} boxes, ")?,
        }
        write!(f, "{still} declared still, {changed} changed, {churned} of them came or went; ")?;
        let (next, times) = (self.runner_up.name(), self.advantage);
        match times < 100.0 {
            true => write!(f, "{next} is expected to cost {times:.1} times as much)"),
            // Of a few boxes, fixed costs decide, and the figure means nothing.
            false => write!(f, "{next} is expected to cost over 100 times as much)"),
        }
    }
}

/// The best algorithm for what was observed and is known, and why.
fn choose(observed: Observed, known: Known, rival: Option<&Rival>) -> Choice {
    let cost = |candidate: Candidate| candidate.cost(&observed, &known, rival);
    let mut ranked = Candidate::ALL.map(|candidate| (cost(candidate), candidate));
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let [(cost, candidate), (next, runner_up), ..] = ranked;
    Choice { candidate, observed, runner_up, advantage: next / cost.max(1.0) }
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Auto {
    workers: Workers,
    chosen: Candidate,
    inner: Box<dyn BroadPhase>,
    /// The choice that led to the algorithm in use; none before the first update.
    choice: Option<Choice>,
    /// The other algorithm that the models prefer, and for how many steps in a row.
    preferred: (Candidate, u32),
    /// The tests that the algorithms made when they were last in use.
    known: Known,
    /// How many steps ago the algorithm was last replaced.
    given_up: u32,
    rival: Option<Rival>,
    /// Why there is no rival any more.
    fault: Option<String>,
}

impl Auto {
    /// A new instance; the algorithms it holds run on `workers`.
    pub fn new(workers: &Workers) -> Auto {
        let chosen = Candidate::GridSweep;
        Auto {
            workers: workers.clone(),
            chosen,
            inner: chosen.build(workers, None),
            choice: None,
            preferred: (chosen, 0),
            known: Known::default(),
            given_up: 0,
            rival: None,
            fault: None,
        }
    }

    /// As [`Auto::new`], with a broad phase elsewhere to choose from as well.
    pub fn with_rival(workers: &Workers, rival: Rival) -> Auto {
        Auto { rival: Some(rival), ..Auto::new(workers) }
    }

    /// Goes on with the processor after the rival failed, in the same step.
    fn give_rival_up(
        &mut self,
        boxes: &Boxes,
        found: &mut PairBuffer,
        fault: String,
    ) -> Result<Report, Error> {
        (self.rival, self.fault) = (None, Some(fault));
        found.clear();
        let choice = choose(Observed::new(boxes, self.choice.is_none()), self.known, None);
        self.take(choice.candidate);
        self.choice = Some(choice);
        self.inner.update(boxes, found)
    }

    fn consider(&mut self, boxes: &Boxes) {
        let choice =
            choose(Observed::new(boxes, self.choice.is_none()), self.known, self.rival.as_ref());
        let wanted = choice.candidate;
        // If nothing changed, every algorithm costs nothing: no reason to replace it.
        let clear = choice.advantage >= ADVANTAGE && !boxes.changes().is_empty();
        if wanted == self.chosen || !clear {
            self.preferred.1 = 0;
        } else if self.preferred.0 == wanted {
            self.preferred.1 += 1;
        } else {
            self.preferred = (wanted, 1);
        }
        if self.choice.is_none() || self.preferred.1 >= PATIENCE {
            self.take(wanted);
        }
        if wanted == self.chosen || self.choice.is_none() {
            self.choice = Some(choice);
        }
    }

    /// Notes the tests of the algorithm in use, and forgets those of the others after a while.
    fn note_tests(&mut self) {
        self.given_up = self.given_up.saturating_add(1);
        if self.given_up > MEMORY {
            self.known = Known::default();
        }
        match self.chosen {
            Candidate::GridSweep => self.known.grid = self.inner.tests(),
            Candidate::Bvh => self.known.tree = self.inner.tests(),
            Candidate::BruteForce | Candidate::Rival => {}
        }
    }

    fn take(&mut self, wanted: Candidate) {
        if wanted != self.chosen {
            self.inner = wanted.build(&self.workers, self.rival.as_ref());
            self.chosen = wanted;
            self.given_up = 0;
        }
        self.preferred.1 = 0;
    }
}

impl BroadPhase for Auto {
    fn name(&self) -> &str {
        "auto"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.consider(boxes);
        let report = match self.inner.update(boxes, found) {
            Err(Error::Device(fault)) if self.chosen == Candidate::Rival => {
                self.give_rival_up(boxes, found, fault)?
            }
            other => other?,
        };
        self.note_tests();
        Ok(report)
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        self.inner.queries()
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }

    fn tests(&self) -> u64 {
        self.inner.tests()
    }

    fn reason(&self) -> Option<String> {
        let reason = self.choice?.to_string();
        let reason = match &self.rival {
            Some(rival) => reason.replace("device", &rival.name),
            None => reason,
        };
        Some(match &self.fault {
            Some(fault) => format!("{reason}; without the device: {fault}"),
            None => reason,
        })
    }

    fn sketch(&self, boxes: &Boxes, sketch: &mut Sketch) {
        self.inner.sketch(boxes, sketch);
    }

    fn validate(&self, boxes: &Boxes) {
        self.inner.validate(boxes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Filter};

    fn seen(boxes: usize, still: usize, changed: usize, churned: usize) -> Candidate {
        choose(Observed { boxes, still, changed, churned }, Known::default(), None).candidate
    }

    #[test]
    fn the_measured_cases_are_decided_as_measured() {
        assert_eq!(seen(20, 0, 20, 0), Candidate::BruteForce);
        assert_eq!(seen(300, 0, 300, 0), Candidate::Bvh);
        assert_eq!(seen(30_000, 0, 30_000, 0), Candidate::Bvh);
        assert_eq!(seen(400_000, 0, 400_000, 0), Candidate::Bvh);
        assert_eq!(seen(10_000_000, 0, 10_000_000, 0), Candidate::Bvh);
        assert_eq!(seen(30_000, 0, 3_000, 0), Candidate::Bvh);
        assert_eq!(seen(30_000, 27_000, 3_000, 0), Candidate::GridSweep);
        assert_eq!(seen(30_000, 0, 3_300, 300), Candidate::GridSweep);
        assert_eq!(seen(1_000_000, 0, 1_000, 0), Candidate::Bvh);
        let observed = Observed { boxes: 2_000_000, still: 0, changed: 2_000_000, churned: 0 };
        let crowded = choose(observed, Known { grid: 2_000_000_000, tree: 0 }, None);
        assert_eq!(crowded.candidate, Candidate::Bvh, "crowds are for the tree");
        let observed = Observed { boxes: 100_000, still: 0, changed: 10_500, churned: 0 };
        assert_eq!(choose(observed, Known::default(), None).candidate, Candidate::Bvh);
        let spoilt = choose(observed, Known { grid: 700_000, tree: 28_000_000 }, None);
        assert_eq!(spoilt.candidate, Candidate::GridSweep, "boxes that leap spoil the tree");
    }

    #[test]
    fn it_switches_after_some_patience_and_says_why() {
        let mut boxes = Boxes::new();
        let cube = |k: usize| Aabb::new([k as f32; 3], [k as f32 + 1.5; 3]);
        let all: Vec<Aabb> = (0..9000).map(cube).collect();
        let ids = boxes.insert_all(&all[..9], Filter::ALL).unwrap();
        let mut auto = Auto::new(&Workers::one());
        let mut found = PairBuffer::new();
        auto.update(&boxes, &mut found).unwrap();
        boxes.commit();
        assert_eq!(auto.chosen, Candidate::BruteForce, "the first step is built for those to come");
        // While boxes come, another algorithm is preferred than afterwards.
        boxes.insert_all(&all[9..], Filter::ALL).unwrap();
        found.clear();
        auto.update(&boxes, &mut found).unwrap();
        boxes.commit();
        for step in 0..PATIENCE as usize {
            assert_eq!(auto.chosen, Candidate::BruteForce);
            boxes.set(ids[0], cube(step + 100)).unwrap();
            found.clear();
            auto.update(&boxes, &mut found).unwrap();
            boxes.commit();
        }
        assert_eq!(auto.chosen, Candidate::Bvh);
        assert!(auto.reason().unwrap().starts_with("bvh: repairing"), "{:?}", auto.reason());
        for _ in 0..2 * PATIENCE {
            auto.update(&boxes, &mut found).unwrap();
            boxes.commit();
        }
        assert_eq!(auto.chosen, Candidate::Bvh, "no change is no reason to switch");
    }

    /// Fails from a number of updates on.
    #[derive(Clone, Debug)]
    struct Elsewhere {
        broad: GridSweep,
        left: u32,
    }

    impl BroadPhase for Elsewhere {
        fn name(&self) -> &str {
            "elsewhere"
        }

        fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
            let report = self.broad.update(boxes, found)?;
            self.left = self.left.checked_sub(1).ok_or_else(|| Error::Device("lost".into()))?;
            Ok(report)
        }

        fn stats(&self) -> Stats {
            self.broad.stats()
        }
    }

    #[test]
    fn a_rival_is_chosen_by_its_model_and_given_up_when_it_fails() {
        let workers = Workers::one();
        let broad = Box::new(Elsewhere { broad: GridSweep::new(&workers), left: 2 });
        let rival =
            Rival { broad, name: "the tube".into(), fixed: 1e5, per_box: 2.0, per_change: 1.0 };
        let mut stepper =
            crate::Stepper::with_broad_phase(Box::new(Auto::with_rival(&workers, rival)), &workers);
        let mut truth = crate::Stepper::new(crate::Algorithm::BruteForce, &workers);
        let cube = |k: usize, step: usize| {
            let at = (k * 7 % 1500 + step) as f32;
            Aabb::new([at; 3], [at + 2.5; 3])
        };
        let mut boxes = Boxes::new();
        let all: Vec<Aabb> = (0..9000).map(|k| cube(k, 0)).collect();
        boxes.insert_all(&all, Filter::ALL).unwrap();
        let mut reasons = Vec::new();
        for step in 0..5 {
            let all: Vec<Aabb> = (0..9000).map(|k| cube(k, step * (k % 3))).collect();
            boxes.set_all(&all).unwrap();
            assert_eq!(stepper.step(&boxes).unwrap(), truth.step(&boxes).unwrap(), "step {step}");
            boxes.commit();
            reasons.push(stepper.reason().unwrap());
        }
        assert!(reasons[1].starts_with("the tube: there are enough boxes"), "{reasons:?}");
        assert!(reasons[2].ends_with("without the device: lost"), "{reasons:?}");
        let few = Observed { boxes: 200, still: 0, changed: 200, churned: 0 };
        let broad = Box::new(Elsewhere { broad: GridSweep::new(&workers), left: 0 });
        let rival = Rival { broad, name: String::new(), fixed: 1e5, per_box: 2.0, per_change: 1.0 };
        assert_eq!(choose(few, Known::default(), Some(&rival)).candidate, Candidate::Bvh);
    }
}
