//! The device passes the suite that every algorithm passes.

mod common;

use common::on_device;
use jostle::{Algorithm, Stepper, Workers};
use jostle_testkit::{hostile, suite};

#[test]
fn step_scripts() {
    suite::scripts(&on_device).unwrap();
}

#[test]
fn degenerate_inputs() {
    suite::degenerate_cases(&on_device).unwrap();
}

#[test]
fn random_histories() {
    suite::histories(&on_device, 64, 7).unwrap();
}

#[test]
fn pair_limits() {
    suite::limits(&on_device).unwrap();
}

#[test]
fn filtered_crowds_are_not_tested_pair_by_pair() {
    suite::filters_cost_nothing(&on_device).unwrap();
}

#[test]
fn hostile_histories_give_the_processors_events() {
    for history in hostile::HISTORIES.iter().chain([&hostile::CALM]) {
        let mut population = history.start(4000);
        let workers = Workers::one();
        let mut device = Stepper::with_broad_phase(on_device(&workers), &workers);
        let mut processor = Stepper::new(Algorithm::GridSweep, &workers);
        for step in 1..6 {
            let (one, other) = (
                device.step(&population.boxes).unwrap(),
                processor.step(&population.boxes).unwrap(),
            );
            assert!(one == other, "{}, step {step}", history.name);
            assert!(device.pairs() == processor.pairs(), "{}, step {step}", history.name);
            device.broad_phase().validate(&population.boxes);
            population.boxes.commit();
            history.step(&mut population, step);
        }
    }
}
