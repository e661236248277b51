//! No step costs much more than a rebuild on the same boxes, whatever they do. Counted in tests
//! and swaps, which are the same in every run.

use jostle::{Algorithm, PairBuffer, Workers};
use jostle_testkit::hostile::{CALM, HISTORIES, History, PERSISTENT};

const BOXES: usize = 5000;

/// Runs a history and compares the number of pairs; returns the most work of a step beyond twice
/// that of a rebuild, per box, and how many steps were followed.
fn excess(history: &History, algorithm: Algorithm) -> (f64, usize) {
    let workers = Workers::one();
    let mut population = history.start(BOXES);
    let mut running = algorithm.build(&workers);
    let mut found = PairBuffer::new();
    let (mut most, mut followed, mut pairs) = (0.0f64, 0, 0usize);
    for step in 0..16 {
        if step > 0 {
            history.step(&mut population, step);
        }
        found.clear();
        let report = running.update(&population.boxes, &mut found).unwrap();
        let stats = running.stats();
        if report == jostle::Report::Full {
            pairs = found.len();
        } else {
            pairs = pairs + found.len() - found.ended().len();
            followed += 1;
        }
        let mut fresh = algorithm.build(&workers);
        found.clear();
        fresh.update(&population.boxes, &mut found).unwrap();
        assert_eq!(pairs, found.len(), "{algorithm}, {}, step {step}", history.name);
        let more = (stats.tests + stats.swaps) as f64 - 2.0 * fresh.stats().tests as f64;
        most = most.max(more / (BOXES / history.fewer) as f64);
        population.boxes.commit();
    }
    (most, followed)
}

#[test]
fn a_hostile_step_costs_little_more_than_a_rebuild() {
    for algorithm in PERSISTENT {
        for history in HISTORIES {
            let (most, _) = excess(history, algorithm);
            // The finder counts some ten tests for each box in addition to those it makes.
            assert!(most < 60.0, "{algorithm}, {}: {most:.0} tests a box more", history.name);
        }
    }
}

#[test]
fn calm_steps_are_followed() {
    for algorithm in PERSISTENT {
        let (_, followed) = excess(&CALM, algorithm);
        assert!(followed >= 10, "{algorithm} followed {followed} of 15 steps");
    }
}

/// In turns of five: a leap of all boxes must not keep the quiet steps from being followed.
#[test]
fn quiet_steps_between_leaps_are_followed() {
    let history = HISTORIES.iter().find(|history| history.name.starts_with("quiet")).unwrap();
    for algorithm in PERSISTENT {
        let (_, followed) = excess(history, algorithm);
        assert!(followed >= 9, "{algorithm} followed {followed} of 12 quiet steps");
    }
}
