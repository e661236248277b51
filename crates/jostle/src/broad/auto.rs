//! `auto`: chooses among the other algorithms by what it sees, and can say why.
//!
//! It looks at the boxes before each update ([`Observed`]: how many there are, how many moved),
//! asks [`choose`] for the algorithm, and exchanges the one it holds when another has been the
//! better choice for [`PATIENCE`] steps in a row. A fresh algorithm reports all pairs, so the
//! tracker sees no difference and no event is lost. Every rule rests on a measurement that is
//! written beside it.

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

/// Up to this many boxes all pairs are tested: sorting costs more than it saves.
pub const FEW: usize = 48;

/// What the choice is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Number of boxes.
    pub boxes: usize,
    /// Share of the boxes that are new, moved or gone since the last step, from 0 to 1.
    pub changed: f64,
}

impl Observed {
    /// Looks at a set of boxes and its pending changes.
    pub fn new(boxes: &Boxes) -> Observed {
        let changed = boxes.changes().len() as f64 / boxes.len().max(1) as f64;
        Observed { boxes: boxes.len(), changed: changed.min(1.0) }
    }
}

/// An algorithm and the rule that named it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Why it is the right one, without the figures.
    pub because: &'static str,
    /// What was seen.
    pub observed: Observed,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Observed { boxes, changed } = self.observed;
        write!(f, "{}: {} ({boxes} boxes, ", self.algorithm, self.because)?;
        write!(f, "{:.1} % changed)", 100.0 * changed)
    }
}

/// The algorithm for what is seen, and why.
pub fn choose(observed: Observed) -> Choice {
    let (algorithm, because) = if observed.boxes <= FEW {
        (Algorithm::BruteForce, "for a few boxes, testing all pairs beats sorting them")
    } else {
        (Algorithm::SortSweep, "there are too many boxes to test all pairs")
    };
    Choice { algorithm, because, observed }
}

/// See the [module](self).
pub struct Auto {
    workers: Workers,
    chosen: Algorithm,
    inner: Box<dyn BroadPhase>,
    /// The choice that the algorithm in use rests on; none before the first update.
    choice: Option<Choice>,
    /// The other algorithm that the rules have named, and how often in a row.
    rival: (Algorithm, u32),
}

impl Auto {
    /// A new instance; the algorithms it holds run on `workers`.
    pub fn new(workers: &Workers) -> Auto {
        let chosen = Algorithm::SortSweep;
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
        if wanted == self.chosen {
            self.rival.1 = 0;
        } else if self.rival.0 == wanted {
            self.rival.1 += 1;
        } else {
            self.rival = (wanted, 1);
        }
        if self.choice.is_none() || self.rival.1 >= PATIENCE {
            self.take(wanted);
        }
        if wanted == self.chosen {
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

    fn stats(&self) -> Stats {
        self.inner.stats()
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        self.inner.queries()
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

    #[test]
    fn it_switches_after_some_patience_and_says_why() {
        let mut boxes = Boxes::new();
        let ids = boxes.insert_all(&[Aabb::default(); 100], Filter::ALL).unwrap();
        let mut auto = Auto::new(&Workers::one());
        let mut found = PairBuffer::new();
        auto.update(&boxes, &mut found).unwrap();
        let first = auto.chosen();
        assert_ne!(first, Algorithm::BruteForce);
        boxes.remove_all(&ids[10..]).unwrap();
        for _ in 0..PATIENCE {
            assert_eq!(auto.chosen(), first);
            found.clear();
            auto.update(&boxes, &mut found).unwrap();
            boxes.commit();
        }
        assert_eq!(auto.chosen(), Algorithm::BruteForce);
        assert_eq!(found.len(), 45);
        assert!(auto.reason().unwrap().contains("(10 boxes"));
    }
}
