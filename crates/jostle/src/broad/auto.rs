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
//! - `bvh` for up to some hundred thousand boxes, and when little changed: its cost follows what
//!   moved;
//! - `grid-sweep` for more, when boxes come and go, and when most boxes are declared still and the
//!   others move.
//!
//! The models were fitted to medians over 16 steps of every scene of `jostle bench` with 300 to 400
//! 000 boxes on one thread; only their ratios matter. If an algorithm has made far more tests than
//! its model expects, the tests it counted replace the model (`Known`): crowds in the columns of
//! `grid-sweep` (the `worst` scene: five times the time of `bvh`), and boxes that leap, which spoil
//! the tree of `bvh` (one in two hundred leaping: four times the time of `grid-sweep`). The other
//! algorithms were never the fastest there: `bidim-sap` took about three times as long as the
//! better of the two, `hash-grid` five to eighteen times. The persistent sweeps fall back on
//! `grid-sweep` when most boxes move, so there they take its time and some more; with a tenth
//! moving, `grid-segmented-sap` took four times as long as `bvh`.

use std::fmt;

use crate::boxes::Boxes;
use crate::broad::brute_force::BruteForce;
use crate::broad::bvh::Bvh;
use crate::broad::contract::{BroadPhase, Report};
use crate::broad::grid_sweep::GridSweep;
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
    /// Looks at a set of boxes and its pending changes.
    fn new(boxes: &Boxes) -> Observed {
        let changes = boxes.changes();
        let churned = changes.inserted().len() + changes.removed().len();
        Observed { boxes: boxes.len(), still: boxes.still_count(), changed: changes.len(), churned }
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
    const ALL: [Candidate; 3] = [Candidate::BruteForce, Candidate::GridSweep, Candidate::Bvh];

    /// The name of the algorithm.
    const fn name(self) -> &'static str {
        match self {
            Candidate::BruteForce => "brute-force",
            Candidate::GridSweep => "grid-sweep",
            Candidate::Bvh => "bvh",
        }
    }

    const fn because(self) -> &'static str {
        match self {
            Candidate::BruteForce => "for a few boxes, testing all pairs beats any order",
            Candidate::GridSweep => {
                "so much changed that sorting all boxes into columns beats repairing a tree"
            }
            Candidate::Bvh => "repairing a tree where boxes moved beats starting from scratch",
        }
    }

    fn build(self, workers: &Workers) -> Box<dyn BroadPhase> {
        match self {
            Candidate::BruteForce => Box::new(BruteForce::new(workers)),
            Candidate::GridSweep => Box::new(GridSweep::new(workers)),
            Candidate::Bvh => Box::new(Bvh::new(workers)),
        }
    }

    /// Expected nanoseconds of a step.
    fn cost(self, observed: &Observed, known: &Known) -> f64 {
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
                let each = (3.0 * boxes.max(2.0).log2() - 11.0).max(4.0) + 0.015 * large.powi(4);
                let churn = if observed.churned > 0 { 2.2 * each * boxes } else { 0.0 };
                // A box looked up alone costs as much as seven in the tree's own order.
                let model = (7.0 * changed).min(boxes) * each + churn;
                1_000.0 + model.max(TREE_TEST * known.tree as f64)
            }
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
fn choose(observed: Observed, known: Known) -> Choice {
    let mut ranked = Candidate::ALL.map(|candidate| (candidate.cost(&observed, &known), candidate));
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let [(cost, candidate), (next, runner_up), _] = ranked;
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
    rival: (Candidate, u32),
    /// The tests that the algorithms made when they were last in use.
    known: Known,
    /// How many steps ago the algorithm was last replaced.
    given_up: u32,
}

impl Auto {
    /// A new instance; the algorithms it holds run on `workers`.
    pub fn new(workers: &Workers) -> Auto {
        let chosen = Candidate::GridSweep;
        Auto {
            workers: workers.clone(),
            chosen,
            inner: chosen.build(workers),
            choice: None,
            rival: (chosen, 0),
            known: Known::default(),
            given_up: 0,
        }
    }

    fn consider(&mut self, boxes: &Boxes) {
        let choice = choose(Observed::new(boxes), self.known);
        let wanted = choice.candidate;
        // If nothing changed, every algorithm costs nothing: no reason to replace it.
        let clear = choice.advantage >= ADVANTAGE && !boxes.changes().is_empty();
        if wanted == self.chosen || !clear {
            self.rival.1 = 0;
        } else if self.rival.0 == wanted {
            self.rival.1 += 1;
        } else {
            self.rival = (wanted, 1);
        }
        if self.choice.is_none() || self.rival.1 >= PATIENCE {
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
            Candidate::BruteForce => {}
        }
    }

    fn take(&mut self, wanted: Candidate) {
        if wanted != self.chosen {
            self.inner = wanted.build(&self.workers);
            self.chosen = wanted;
            self.given_up = 0;
        }
        self.rival.1 = 0;
    }
}

impl BroadPhase for Auto {
    fn name(&self) -> &str {
        "auto"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.consider(boxes);
        let report = self.inner.update(boxes, found)?;
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
        self.choice.map(|choice| choice.to_string())
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
        choose(Observed { boxes, still, changed, churned }, Known::default()).candidate
    }

    #[test]
    fn the_measured_cases_are_decided_as_measured() {
        assert_eq!(seen(20, 0, 20, 0), Candidate::BruteForce);
        assert_eq!(seen(300, 0, 300, 0), Candidate::Bvh);
        assert_eq!(seen(30_000, 0, 30_000, 0), Candidate::Bvh);
        assert_eq!(seen(400_000, 0, 400_000, 0), Candidate::Bvh);
        assert_eq!(seen(2_000_000, 0, 2_000_000, 0), Candidate::GridSweep);
        assert_eq!(seen(30_000, 0, 3_000, 0), Candidate::Bvh);
        assert_eq!(seen(30_000, 27_000, 3_000, 0), Candidate::GridSweep);
        assert_eq!(seen(30_000, 0, 3_300, 300), Candidate::GridSweep);
        assert_eq!(seen(1_000_000, 0, 1_000, 0), Candidate::Bvh);
        let observed = Observed { boxes: 2_000_000, still: 0, changed: 2_000_000, churned: 0 };
        let crowded = choose(observed, Known { grid: 2_000_000_000, tree: 0 });
        assert_eq!(crowded.candidate, Candidate::Bvh, "crowds are for the tree");
        let observed = Observed { boxes: 100_000, still: 0, changed: 10_500, churned: 0 };
        assert_eq!(choose(observed, Known::default()).candidate, Candidate::Bvh);
        let spoilt = choose(observed, Known { grid: 700_000, tree: 28_000_000 });
        assert_eq!(spoilt.candidate, Candidate::GridSweep, "boxes that leap spoil the tree");
    }

    #[test]
    fn it_switches_after_some_patience_and_says_why() {
        let mut boxes = Boxes::new();
        let cube = |k: usize| Aabb::new([k as f32; 3], [k as f32 + 1.5; 3]);
        let all: Vec<Aabb> = (0..9000).map(cube).collect();
        let ids = boxes.insert_all(&all, Filter::ALL).unwrap();
        let mut auto = Auto::new(&Workers::one());
        let mut found = PairBuffer::new();
        auto.update(&boxes, &mut found).unwrap();
        boxes.commit();
        assert_eq!(auto.chosen, Candidate::GridSweep);
        for step in 0..PATIENCE as usize {
            assert_eq!(auto.chosen, Candidate::GridSweep);
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
}
