//! Reads bytes as a history of operations and runs every algorithm through it beside the model.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run history
//! ```

#![no_main]

use jostle::{Algorithm, Workers};
use jostle_testkit::{history, replay::Replay};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let ops = history::from_bytes(bytes);
    for &algorithm in Algorithm::ALL {
        let build = |workers: &Workers| algorithm.build(workers);
        if let Err(failure) = Replay::new(&build, 1).run(&ops) {
            panic!("{algorithm}: {failure}");
        }
    }
});
