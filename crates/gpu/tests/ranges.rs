//! Budgets: whatever fits or does not fit, no pair is lost; what cannot be done is an error that
//! says how much is needed, and the next step continues.

mod common;

use common::{gpu, with_budget};
use jostle::{Aabb, Algorithm, Detector, Error, Filter, Workers};
use jostle_gpu::{GpuOptions, GpuSweep};
use jostle_scenes::SceneSpec;
use jostle_testkit::suite;

const MEBIBYTE: u64 = 1 << 20;

fn frames(name: &str, boxes: usize, frames: usize) -> Vec<Vec<Aabb>> {
    let mut scene = SceneSpec::new(name, boxes, 3).build().unwrap();
    (0..frames)
        .map(|_| {
            let now = scene.boxes().to_vec();
            scene.advance();
            now
        })
        .collect()
}

/// Plays frames on the device with a budget and on the processor; returns the ranges of each step.
fn play(frames: &[Vec<Aabb>], budget: u64) -> Vec<f64> {
    let options = GpuOptions { budget: Some(budget), ..GpuOptions::default() };
    let broad = Box::new(GpuSweep::with_options(gpu(), options));
    let mut device = Detector::with_broad_phase(broad, Workers::one());
    let mut processor = Detector::new(Algorithm::GridSweep);
    for detector in [&mut device, &mut processor] {
        detector.boxes_mut().insert_all(&frames[0], Filter::ALL).unwrap();
    }
    let mut ranges = Vec::new();
    for frame in frames {
        for detector in [&mut device, &mut processor] {
            detector.boxes_mut().set_all(frame).unwrap();
        }
        let (one, other) = (device.step().unwrap(), processor.step().unwrap());
        assert!(one == other, "budget {budget}");
        assert_eq!(device.pairs(), processor.pairs(), "budget {budget}");
        assert!(device.stats().bytes as u64 <= budget, "{} of {budget}", device.stats().bytes);
        ranges.push(device.stats().count("ranges").unwrap());
    }
    ranges
}

#[test]
fn a_tiny_budget_makes_ranges_and_loses_nothing() {
    let crowd = frames("worst", 3000, 3);
    let loose = frames("uniform", 3000, 3);
    let mut seen = Vec::new();
    // The boxes and tables take some 230 kB; the crowd has all its boxes in one column.
    for budget in [64 * MEBIBYTE, 440_000, 380_000, 360_000] {
        seen.extend(play(&crowd, budget));
    }
    for budget in [64 * MEBIBYTE, 320_000, 290_000, 260_000] {
        seen.extend(play(&loose, budget));
    }
    seen.sort_by(f64::total_cmp);
    seen.dedup();
    assert!(seen.len() >= 4, "0, few and many ranges: {seen:?}");
}

#[test]
fn the_suite_passes_in_ranges() {
    // The smallest sets take some 55 kB with a hundred pairs; with more, the steps go in ranges.
    let build = with_budget(60_000);
    suite::histories(&build, 6, 3).unwrap();
}

#[test]
fn a_budget_below_the_least_is_refused_with_the_least() {
    let options = GpuOptions { budget: Some(100_000), ..GpuOptions::default() };
    let broad = Box::new(GpuSweep::with_options(gpu(), options));
    let mut detector = Detector::with_broad_phase(broad, Workers::one());
    let boxes = frames("uniform", 3000, 1).remove(0);
    detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
    let error = detector.step().unwrap_err();
    assert!(matches!(error, Error::Device(_)), "{error:?}");
    assert!(error.to_string().contains("the budget is 100000; raise it"), "{error}");
    assert_eq!(detector.boxes().changes().inserted().len(), 3000, "changes stay pending");
    detector.set_algorithm(Algorithm::GridSweep);
    assert!(!detector.step().unwrap().began.is_empty());
}

#[test]
fn a_budget_too_small_for_one_cell_is_refused_and_the_processor_continues() {
    // All boxes in one column: their entries cannot be cut into ranges.
    let boxes = vec![Aabb::new([0.0; 3], [1.0; 3]); 3000];
    let mut told = Vec::new();
    for budget in (150_000..340_000).step_by(10_000) {
        let options = GpuOptions { budget: Some(budget), ..GpuOptions::default() };
        let broad = Box::new(GpuSweep::with_options(gpu(), options));
        let mut detector = Detector::with_broad_phase(broad, Workers::one());
        let ids = detector.boxes_mut().insert_all(&boxes[..20], Filter::ALL).unwrap();
        let began = match detector.step() {
            Ok(events) => events.began.len(),
            Err(_) => continue,
        };
        assert_eq!(began, 190);
        detector.boxes_mut().remove_all(&ids).unwrap();
        detector.boxes_mut().insert_all(&boxes, Filter::STILL).unwrap();
        let Err(error) = detector.step() else { break };
        told.push(error.to_string());
        detector.set_algorithm(Algorithm::Bvh);
        let events = detector.step().unwrap();
        assert_eq!((events.began.len(), events.ended.len()), (0, 190), "budget {budget}");
    }
    assert!(told.iter().any(|error| error.contains("one column of the grid")), "{told:?}");
}
