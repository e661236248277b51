//! The papers' broad phases against the suite that the library's pass.

use jostle::{BroadPhase, Workers};
use jostle_testkit::{Build, suite};

use super::control_bits::{ControlBits, Rules};
use super::liu_sweep::{LiuOptions, LiuSweep, Straddlers, SweepAxis};
use super::pair_manager::Store;
use super::plain_octree::PlainOctree;
use super::swap_sap::SwapSap;
use super::vector_sap::{Method, VectorSap};

/// Scripts, degenerate inputs, random histories, and the limit on pairs. What the suite asks about
/// thousands of filtered boxes is the library's promise and not the papers'.
fn conform(build: Build<'_>, histories: u32) {
    suite::scripts(build).unwrap();
    suite::degenerate_cases(build).unwrap();
    suite::histories(build, histories, 11).unwrap();
    suite::extreme_histories(build, histories, 11).unwrap();
    suite::limits(build).unwrap();
}

#[test]
fn insertion_sort_with_every_pair_manager() {
    for store in Store::ALL {
        conform(&move |_: &Workers| Box::new(SwapSap::new(store)) as Box<dyn BroadPhase>, 24);
    }
}

#[test]
fn vector_sort_with_a_worker_for_each_axis() {
    for (store, method) in [(Store::KeyMap, Method::Between), (Store::BitTable, Method::All)] {
        let build = move |workers: &Workers| -> Box<dyn BroadPhase> {
            Box::new(VectorSap::new(workers, store, method))
        };
        conform(&build, 24);
    }
}

#[test]
fn an_octree_that_is_not_loose() {
    conform(&|_: &Workers| Box::new(PlainOctree::default()) as Box<dyn BroadPhase>, 32);
}

#[test]
fn liu_s_sweep_with_each_of_its_ideas() {
    for (axis, straddlers, bits, per_cell) in [
        (SweepAxis::Coordinate, Straddlers::Copied, false, 4),
        (SweepAxis::Coordinate, Straddlers::Copied, true, 9),
        (SweepAxis::Coordinate, Straddlers::Apart, true, 3),
        (SweepAxis::Principal, Straddlers::Copied, true, 3),
        (SweepAxis::Principal, Straddlers::Apart, false, 2),
        (SweepAxis::Principal, Straddlers::Apart, true, 5),
    ] {
        let options = LiuOptions { axis, straddlers, bits, per_cell };
        conform(&move |_: &Workers| Box::new(LiuSweep::new(options)) as Box<dyn BroadPhase>, 16);
    }
}

#[test]
fn a_grid_with_control_bits_and_without() {
    for rules in [Rules::EXACT, Rules::WITHOUT_BITS] {
        conform(&move |_: &Workers| Box::new(ControlBits::new(rules)) as Box<dyn BroadPhase>, 24);
    }
}
