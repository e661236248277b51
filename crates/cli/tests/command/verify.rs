//! `jostle verify`, and that it finds what is broken on purpose.

use crate::common::Bench;
use jostle::{Algorithm, Boxes, BroadPhase, Error, PairBuffer, Report, Stats, Workers};
use jostle_cli::Failure;
use jostle_cli::support::feed::Feed;
use jostle_cli::verify::{Contender, verify};
use jostle_scenes::{Scene, SceneSpec};

#[test]
fn every_scene_passes_at_two_thousand_boxes() {
    let bench = Bench::new();
    let text = bench.ok(&["verify", "--n", "2000", "--frames", "20"]);
    for scene in Scene::list() {
        assert!(text.contains(&format!("ok {}: 20 frames", scene.name)), "{text}");
    }
}

#[test]
fn the_higher_rung_of_the_ladder_passes() {
    let bench = Bench::new();
    let text = bench.ok(&["verify", "--scene", "churn", "--n", "6000", "--frames", "4"]);
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("sort-sweep, itself checked on 1000 boxes"), "{text}");
    let one = [
        "verify",
        "--scene",
        "uniform",
        "--n",
        "3000",
        "--frames",
        "2",
        "--algorithm",
        "sort-sweep",
    ];
    bench.ok(&one);
}

#[test]
fn a_file_passes_on_several_thread_counts() {
    let bench = Bench::new();
    bench.ok(&["scene", "sizes", "--n", "1000", "--frames", "5", "-o", "s.npy"]);
    let text = bench.ok(&["verify", "s.npy", "--threads", "1,2", "--algorithm", "auto"]);
    assert!(text.contains("auto, auto on 2 threads"), "{text}");
}

/// A wrong broad phase: the right one, and then something done to its answer.
#[derive(Clone, Debug)]
struct Broken {
    inner: Box<dyn BroadPhase>,
    step: usize,
    spoil: fn(usize, &Boxes, &PairBuffer) -> Answer,
}

/// What a spoiled update says: its pairs, those that ended, and how to read them.
type Answer = (Vec<(u32, u32)>, Vec<(u32, u32)>, Report);

impl BroadPhase for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.inner.update(boxes, found)?;
        self.step += 1;
        let (pairs, ended, report) = (self.spoil)(self.step, boxes, found);
        found.clear();
        for (a, b) in pairs {
            found.lane().push(a, b)?;
        }
        found.ended_mut().extend(ended.into_iter().map(jostle::Pair::from));
        Ok(report)
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

fn couples(found: &PairBuffer) -> Vec<(u32, u32)> {
    found.iter().map(|pair| pair.into()).collect()
}

fn outcome(spoil: fn(usize, &Boxes, &PairBuffer) -> Answer, n: usize) -> String {
    let spec = SceneSpec::new("uniform", n, 3).param("density", 0.35);
    let mut feed = Feed::scene(&spec, 6).unwrap();
    let contender = Contender::custom("broken", move |workers: &Workers| {
        Box::new(Broken { inner: Algorithm::SortSweep.build(workers), step: 0, spoil })
    });
    match verify(&mut feed, &[contender]) {
        Err(failure @ Failure::Check(_)) => {
            assert_eq!(failure.report(), 1);
            let Failure::Check(message) = failure else { unreachable!() };
            message
        }
        other => panic!("a broken broad phase passed: {other:?}"),
    }
}

#[test]
fn a_right_broad_phase_in_the_same_dress_passes() {
    let spec = SceneSpec::new("uniform", 500, 3).param("density", 0.35);
    let contender = Contender::custom("right", |workers: &Workers| {
        let spoil =
            |_: usize, _: &Boxes, found: &PairBuffer| (couples(found), vec![], Report::Full);
        Box::new(Broken { inner: Algorithm::SortSweep.build(workers), step: 0, spoil })
    });
    let verified = verify(&mut Feed::scene(&spec, 6).unwrap(), &[contender]).unwrap();
    assert_eq!(verified.frames, 6);
    assert!(verified.pairs > 100 && verified.began > 100);
}

#[test]
fn a_missing_pair_is_named_with_its_boxes() {
    for n in [500, 2500] {
        let message = outcome(
            |step, _, found| {
                let mut pairs = couples(found);
                if step == 3 {
                    pairs.pop();
                }
                (pairs, vec![], Report::Full)
            },
            n,
        );
        assert!(
            message.contains("broken on uniform, frame 2: pairs: 1 missing, 0 extra"),
            "{message}"
        );
        assert!(message.contains("missing ") && message.contains(": min ["), "{message}");
    }
}

#[test]
fn an_extra_pair_is_found() {
    let message = outcome(
        |_, _, found| {
            let mut pairs = couples(found);
            let far = (1..500).find(|&other| !pairs.contains(&(0, other))).unwrap();
            pairs.push((0, far));
            (pairs, vec![], Report::Full)
        },
        500,
    );
    assert!(message.contains("frame 0: pairs: 0 missing, 1 extra"), "{message}");
}

#[test]
fn an_end_that_never_began_is_an_answer_not_a_crash() {
    let message = outcome(
        |step, _, found| match step {
            1 => (couples(found), vec![], Report::Full),
            _ => (vec![], vec![(0, 499)], Report::Delta),
        },
        500,
    );
    assert!(message.contains("frame 1: it panicked: pair 0-499 was reported ended"), "{message}");
}

#[test]
fn a_pair_that_does_not_end_with_its_boxes_is_found() {
    let message = outcome(
        |_, boxes, found| {
            let pairs = couples(found);
            // At the end all boxes are gone, and this one says nothing of it.
            if boxes.is_empty() {
                (vec![], vec![], Report::Delta)
            } else {
                (pairs, vec![], Report::Full)
            }
        },
        500,
    );
    assert!(message.contains("frame 6: pairs: 0 missing"), "{message}");
    assert!(message.contains("removed"), "{message}");
}
