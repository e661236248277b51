//! `auto`: chooses among the other algorithms by what it sees, and can say why.
//!
//! Before each update it looks at the boxes ([`Observed`]): how many there are, how many are
//! declared still, how many changed, how many came or went. A small model of cost for each
//! candidate ([`Candidate::cost`]) turns that into nanoseconds; the cheapest is the choice. The
//! algorithm it holds is exchanged when another has been cheaper by [`ADVANTAGE`] for
//! [`PATIENCE`] steps in a row. A fresh algorithm reports all pairs, so the tracker sees no
//! difference and no event is lost. The choice depends on counts alone, never on a clock: the
//! same history is decided in the same way everywhere.
//!
//! Candidates are the algorithms that are the fastest somewhere:
//!
//! - `brute-force` for a few dozen boxes;
//! - `grid-sweep` where most of what may move does move: it begins anew each step and keeps only
//!   the boxes declared still;
//! - `bvh` where little changed: its cost follows what moved.
//!
//! The constants of the models are medians over 24 steps of `uniform`, `tenth`, `city`,
//! `campbell` and `churn` with 300, 3 000 and 30 000 boxes on one thread; only their ratios matter.
//! `bidim-sap` and `hash-grid` took 1.3 to 4 times as long as the better of the two on every scene of
//! the lab, the persistent sweeps 1.5 to 20 times, so they are never chosen here.

use std::fmt;

use crate::boxes::Boxes;
use crate::broad::queries::BoxQueries;
use crate::broad::{Algorithm, BroadPhase, Report};
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::stats::Stats;

/// How many steps in a row another algorithm must be the better choice before it is taken:
/// building one anew costs more than a few steps with the second best.
pub const PATIENCE: u32 = 3;

/// How much cheaper another algorithm must be expected to be.
pub const ADVANTAGE: f64 = 1.15;

/// What the choice is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Number of boxes.
    pub boxes: usize,
    /// How many of them are declared still.
    pub still: usize,
    /// How many moved, came or went since the last step.
    pub changed: usize,
    /// How many came or went.
    pub churned: usize,
}

impl Observed {
    /// Looks at a set of boxes and its pending changes.
    pub fn new(boxes: &Boxes) -> Observed {
        let changes = boxes.changes();
        let churned = changes.inserted().len() + changes.removed().len();
        Observed { boxes: boxes.len(), still: boxes.still(), changed: changes.len(), churned }
    }
}

/// An algorithm that is the fastest somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    algorithm: Algorithm,
    because: &'static str,
}

const CANDIDATES: [Candidate; 3] = [
    Candidate {
        algorithm: Algorithm::BruteForce,
        because: "for a few boxes, testing all pairs beats any order",
    },
    Candidate {
        algorithm: Algorithm::GridSweep,
        because: "much changes, and sorting it into columns anew beats mending a tree",
    },
    Candidate {
        algorithm: Algorithm::Bvh,
        because: "little changes, and a tree costs only what changed",
    },
];

impl Candidate {
    /// Expected nanoseconds of a step.
    fn cost(&self, observed: &Observed) -> f64 {
        let boxes = observed.boxes as f64;
        let changed = observed.changed.min(observed.boxes) as f64;
        match self.algorithm {
            Algorithm::BruteForce => 0.9 * boxes * boxes / 2.0,
            Algorithm::GridSweep if observed.still > 0 => {
                9_000.0 + 110.0 * (boxes - observed.still as f64) + 2.0 * boxes
            }
            Algorithm::GridSweep => 9_000.0 + 33.0 * boxes,
            _ => {
                let churn = if observed.churned > 0 { 35.0 * boxes } else { 0.0 };
                // Beyond a third, the tree is read anew as a whole.
                1_000.0 + (170.0 * changed + churn).min((45.0 + boxes.log2()) * boxes)
            }
        }
    }
}

/// An algorithm and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Why it is the right one, without the figures.
    pub because: &'static str,
    /// What was seen.
    pub observed: Observed,
    /// The cheapest other algorithm.
    pub runner_up: Algorithm,
    /// How many times the runner-up's expected cost is this one's.
    pub advantage: f64,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Observed { boxes, still, changed, churned } = self.observed;
        write!(f, "{}: {} ({boxes} boxes, {still} declared still, ", self.algorithm, self.because)?;
        write!(f, "{changed} changed of which {churned} came or went; ")?;
        write!(f, "{} is expected to cost {:.1} times as much)", self.runner_up, self.advantage)
    }
}

/// The algorithm for what is seen, and why.
pub fn choose(observed: Observed) -> Choice {
    let mut ranked = CANDIDATES.map(|candidate| (candidate.cost(&observed), candidate));
    ranked.sort_by(|one, other| one.0.total_cmp(&other.0));
    let [(cost, best), (next, runner_up), _] = ranked;
    Choice {
        algorithm: best.algorithm,
        because: best.because,
        observed,
        runner_up: runner_up.algorithm,
        advantage: next / cost.max(1.0),
    }
}

/// See the [module](self).
pub struct Auto {
    workers: Workers,
    chosen: Algorithm,
    inner: Box<dyn BroadPhase>,
    /// The choice that the algorithm in use rests on; none before the first update.
    choice: Option<Choice>,
    /// The other algorithm that the models have named, and how often in a row.
    rival: (Algorithm, u32),
}

impl Auto {
    /// A new instance; the algorithms it holds run on `workers`.
    pub fn new(workers: &Workers) -> Auto {
        let chosen = Algorithm::GridSweep;
        Auto {
            workers: workers.clone(),
            chosen,
            inner: chosen.build(workers),
            choice: None,
            rival: (chosen, 0),
        }
    }

    /// The algorithm in use.
    pub fn chosen(&self) -> Algorithm {
        self.chosen
    }

    fn consider(&mut self, boxes: &Boxes) {
        let choice = choose(Observed::new(boxes));
        let wanted = choice.algorithm;
        // Where nothing changed, every algorithm costs nothing: no reason to exchange it.
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

    fn take(&mut self, wanted: Algorithm) {
        if wanted != self.chosen {
            self.inner = wanted.build(&self.workers);
            self.chosen = wanted;
        }
        self.rival.1 = 0;
    }
}

impl BroadPhase for Auto {
    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.consider(boxes);
        self.inner.update(boxes, found)
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        self.inner.queries()
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
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

    fn seen(boxes: usize, still: usize, changed: usize, churned: usize) -> Algorithm {
        choose(Observed { boxes, still, changed, churned }).algorithm
    }

    #[test]
    fn the_measured_cases_are_decided_as_measured() {
        assert_eq!(seen(20, 0, 20, 0), Algorithm::BruteForce);
        assert_eq!(seen(300, 0, 300, 0), Algorithm::Bvh);
        assert_eq!(seen(30_000, 0, 30_000, 0), Algorithm::GridSweep);
        assert_eq!(seen(30_000, 0, 3_000, 0), Algorithm::Bvh);
        assert_eq!(seen(30_000, 27_000, 3_000, 0), Algorithm::GridSweep);
        assert_eq!(seen(30_000, 0, 3_300, 300), Algorithm::GridSweep);
        assert_eq!(seen(1_000_000, 0, 1_000, 0), Algorithm::Bvh);
    }

    #[test]
    fn it_switches_after_some_patience_and_says_why() {
        let mut boxes = Boxes::new();
        let cube = |k: usize| Aabb::new([k as f32; 3], [k as f32 + 1.5; 3]);
        let all: Vec<Aabb> = (0..2000).map(cube).collect();
        let ids = boxes.insert_all(&all, Filter::ALL).unwrap();
        let mut auto = Auto::new(&Workers::one());
        let mut found = PairBuffer::new();
        auto.update(&boxes, &mut found).unwrap();
        boxes.commit();
        assert_eq!(auto.chosen(), Algorithm::GridSweep);
        for step in 0..PATIENCE as usize {
            assert_eq!(auto.chosen(), Algorithm::GridSweep);
            boxes.set(ids[0], cube(step + 100)).unwrap();
            found.clear();
            auto.update(&boxes, &mut found).unwrap();
            boxes.commit();
        }
        assert_eq!(auto.chosen(), Algorithm::Bvh);
        assert!(auto.reason().unwrap().starts_with("bvh: little changes"), "{:?}", auto.reason());
        for _ in 0..2 * PATIENCE {
            auto.update(&boxes, &mut found).unwrap();
            boxes.commit();
        }
        assert_eq!(auto.chosen(), Algorithm::Bvh, "no change is no reason to switch");
    }
}
