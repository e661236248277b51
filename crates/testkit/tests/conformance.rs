//! Every algorithm passes the suite; broken ones do not.

use jostle::{Algorithm, Boxes, BroadPhase, Error, PairBuffer, Report, Stats, Workers};
use jostle_testkit::{Build, large, suite};

/// Runs one part of the suite for every algorithm, and says which one failed.
fn for_every_algorithm(part: impl Fn(Build<'_>) -> Result<(), String>) {
    let mut failures = Vec::new();
    for &algorithm in Algorithm::ALL {
        if let Err(failure) = part(&|workers| algorithm.build(workers)) {
            failures.push(format!("{algorithm}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn step_scripts() {
    for_every_algorithm(suite::scripts);
}

#[test]
fn degenerate_inputs() {
    for_every_algorithm(suite::degenerate_cases);
}

#[test]
fn random_histories() {
    for_every_algorithm(|build| suite::histories(build, 160, 1));
}

#[test]
fn random_histories_at_extreme_scales() {
    for_every_algorithm(|build| suite::extreme_histories(build, 160, 1));
}

#[test]
fn pair_limits() {
    for_every_algorithm(suite::limits);
}

#[test]
fn one_rule_for_the_limit() {
    for_every_algorithm(|build| suite::limit_rule(build, 40, 1));
}

/// All but the brute-force oracle, which would take minutes.
#[test]
fn worlds_above_every_threshold() {
    for &algorithm in Algorithm::ALL {
        if algorithm != Algorithm::BruteForce {
            large::run(&|workers| algorithm.build(workers))
                .unwrap_or_else(|failure| panic!("{algorithm}: {failure}"));
        }
    }
}

#[test]
fn excluded_pairs() {
    for_every_algorithm(suite::exclusions);
}

#[test]
fn filtered_crowds_are_not_tested_pair_by_pair() {
    for &algorithm in Algorithm::ALL {
        if algorithm != Algorithm::BruteForce {
            let build = |workers: &Workers| algorithm.build(workers);
            suite::filters_cost_nothing(&build).unwrap_or_else(|f| panic!("{algorithm}: {f}"));
        }
    }
}

/// An oracle with one thing wrong.
#[derive(Clone, Debug)]
struct Broken {
    inner: Box<dyn BroadPhase>,
    fault: Fault,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    LosesTheLastPair,
    ReportsPairsOfTheFirstBoxAlways,
    IgnoresTouching,
    ForgetsFilters,
    NeverRefuses,
}

impl BroadPhase for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let mut truth = PairBuffer::with_limit(found.limit());
        match self.fault {
            Fault::ForgetsFilters => {
                let mut bare = Boxes::new();
                for aabb in boxes.aabbs() {
                    let shown = if aabb.check().is_ok() {
                        *aabb
                    } else {
                        jostle::Aabb::point([f32::MAX; 3])
                    };
                    bare.insert(shown, jostle::Filter::ALL)?;
                }
                self.inner.update(&bare, &mut truth)?;
            }
            Fault::NeverRefuses => {
                truth.set_limit(usize::MAX);
                found.set_limit(usize::MAX);
                self.inner.update(boxes, &mut truth)?;
            }
            _ => drop(self.inner.update(boxes, &mut truth)?),
        }
        let mut pairs: Vec<_> = truth.iter().collect();
        match self.fault {
            Fault::LosesTheLastPair => drop(pairs.pop()),
            Fault::IgnoresTouching => pairs.retain(|pair| {
                let (a, b) = (boxes.aabbs()[pair.a().index()], boxes.aabbs()[pair.b().index()]);
                (0..3).all(|k| a.min[k] < b.max[k] && b.min[k] < a.max[k])
            }),
            Fault::ReportsPairsOfTheFirstBoxAlways => {
                let known = |slot: u32| boxes.is_live(slot.into());
                if known(0) && known(1) && !pairs.contains(&(0, 1).into()) {
                    pairs.push((0, 1).into());
                }
            }
            _ => {}
        }
        for pair in pairs {
            found.lane().push(pair.a().get(), pair.b().get())?;
        }
        Ok(Report::Full)
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }
}

#[test]
fn the_suite_catches_broken_algorithms() {
    for fault in [
        Fault::LosesTheLastPair,
        Fault::ReportsPairsOfTheFirstBoxAlways,
        Fault::IgnoresTouching,
        Fault::ForgetsFilters,
        Fault::NeverRefuses,
    ] {
        let build = |workers: &Workers| {
            let inner = Algorithm::SortSweep.build(workers);
            Box::new(Broken { inner, fault }) as Box<dyn BroadPhase>
        };
        assert!(suite::run(&build).is_err(), "the suite lets pass: {fault:?}");
    }
    let sound = |workers: &Workers| Algorithm::SortSweep.build(workers);
    suite::run(&sound).unwrap();
}
