//! The paper's division of `bidim-sap` passes the suite as the default one does.

use jostle::broad::bidim_sap::{BidimSap, BidimSapOptions, Division};
use jostle::{BroadPhase, Workers};
use jostle_testkit::suite;

fn trees(workers: &Workers) -> Box<dyn BroadPhase> {
    let options =
        BidimSapOptions { division: Division::Trees, partitions: 5, ..Default::default() };
    Box::new(BidimSap::with_options(workers, options))
}

#[test]
fn step_scripts_and_degenerate_inputs() {
    suite::scripts(&trees).unwrap();
    suite::degenerate_cases(&trees).unwrap();
    suite::limits(&trees).unwrap();
}

#[test]
fn random_histories() {
    suite::histories(&trees, 160, 3).unwrap();
}
