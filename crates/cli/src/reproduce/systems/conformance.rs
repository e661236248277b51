//! The papers' broad phases against the suite that the library's pass.

use jostle::{BroadPhase, Workers};
use jostle_testkit::{Build, suite};

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
