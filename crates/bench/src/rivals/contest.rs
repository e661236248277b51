//! A contest: every contestant sees the same frames, frame by frame in turn, so that a slow
//! moment of the machine hits all alike. Who reports another number of pairs than our own
//! tracker is named and left out of the ratios.

use std::time::{Duration, Instant};

use jostle::{Aabb, Algorithm, Detector, Error, Filter, Workers};

use jostle_scenes::Sorted;

use super::libraries::{Rival, exact};

/// What is measured of one contestant.
#[derive(Clone, Debug)]
pub struct Score {
    /// Who.
    pub name: String,
    /// True for an algorithm of ours.
    pub ours: bool,
    /// Time to find the pairs, frame by frame.
    pub finding: Vec<Duration>,
    /// Ours: the same with taking in the boxes and the sorted events. Rivals: as `finding`.
    pub whole: Vec<Duration>,
    /// First frame in which the number of pairs was another, and that number.
    pub differs: Option<(usize, usize)>,
}

impl Score {
    fn new(name: String, ours: bool) -> Score {
        Score { name, ours, finding: Vec::new(), whole: Vec::new(), differs: None }
    }

    /// Times in milliseconds, without the first frame, in which everyone builds.
    pub fn later(times: &[Duration]) -> Sorted {
        let later = times.iter().skip(usize::from(times.len() > 1));
        Sorted::new(later.map(|time| 1e3 * time.as_secs_f64()))
    }
}

enum Contestant {
    Ours(Box<Detector>),
    Theirs(Box<dyn Rival>),
}

/// The contestants and their scores so far.
pub struct Contest {
    contestants: Vec<(Contestant, Score)>,
    reference: Detector,
    pairs: Vec<(u32, u32)>,
    before: Vec<Aabb>,
    frames: usize,
    /// Overlapping pairs in each frame.
    pub counts: Vec<usize>,
}

impl Contest {
    /// A contest of some of our algorithms on `threads` threads and some rivals.
    pub fn new(
        algorithms: &[Algorithm],
        threads: usize,
        rivals: Vec<Box<dyn Rival>>,
    ) -> Result<Contest, Error> {
        let mut contestants = Vec::new();
        for &algorithm in algorithms {
            let detector = Detector::with_workers(algorithm, Workers::new(threads)?);
            let score = Score::new(format!("jostle {algorithm}"), true);
            contestants.push((Contestant::Ours(Box::new(detector)), score));
        }
        for rival in rivals {
            let score = Score::new(rival.name(), false);
            contestants.push((Contestant::Theirs(rival), score));
        }
        Ok(Contest {
            contestants,
            reference: Detector::new(Algorithm::Auto),
            pairs: Vec::new(),
            before: Vec::new(),
            frames: 0,
            counts: Vec::new(),
        })
    }

    /// Shows a frame to everyone.
    pub fn frame(&mut self, boxes: &[Aabb]) -> Result<(), Error> {
        let moved: Vec<u32> = (0..boxes.len() as u32)
            .filter(|&k| self.before.get(k as usize).is_none_or(|b| !b.same(&boxes[k as usize])))
            .collect();
        take_in(&mut self.reference, boxes)?;
        self.reference.step()?;
        let expected = self.reference.pair_count();
        // Who comes first finds the caches full of what the last one left, so all take turns at it;
        // and who comes after an algorithm that shares its code finds that in the caches, so they
        // come in one order and in the other.
        let count = self.contestants.len();
        for turn in 0..count {
            let turn = if self.frames / count % 2 == 0 { turn } else { count - turn };
            let (contestant, score) = &mut self.contestants[(self.frames + turn) % count];
            let count = match contestant {
                Contestant::Ours(detector) => time_ours(detector, boxes, score)?,
                Contestant::Theirs(rival) => {
                    self.pairs.clear();
                    time_theirs(rival.as_mut(), boxes, &moved, &mut self.pairs, score)
                }
            };
            if count != expected && score.differs.is_none() {
                score.differs = Some((self.frames, count));
            }
        }
        self.before.clear();
        self.before.extend_from_slice(boxes);
        self.counts.push(expected);
        self.frames += 1;
        Ok(())
    }

    /// What was measured.
    pub fn scores(&self) -> Vec<Score> {
        self.contestants.iter().map(|(_, score)| score.clone()).collect()
    }
}

fn take_in(detector: &mut Detector, boxes: &[Aabb]) -> Result<(), Error> {
    if detector.boxes().is_empty() && !boxes.is_empty() {
        detector.boxes_mut().insert_all(boxes, Filter::ALL)?;
    }
    Ok(detector.boxes_mut().set_all(boxes)?)
}

fn time_ours(detector: &mut Detector, boxes: &[Aabb], score: &mut Score) -> Result<usize, Error> {
    let start = Instant::now();
    take_in(detector, boxes)?;
    detector.step()?;
    score.whole.push(start.elapsed());
    score.finding.push(detector.step_time().update);
    // Not `pairs`: the set is brought up to date within the steps, so that they are charged for it.
    Ok(detector.pair_count())
}

fn time_theirs(
    rival: &mut dyn Rival,
    boxes: &[Aabb],
    moved: &[u32],
    pairs: &mut Vec<(u32, u32)>,
    score: &mut Score,
) -> usize {
    let start = Instant::now();
    rival.frame(boxes, moved, pairs);
    let time = start.elapsed();
    score.whole.push(time);
    score.finding.push(time);
    rival.held().map_or(pairs.len(), |held| exact(boxes, &held).len())
}
