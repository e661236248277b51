//! Reads bytes as a history of bodies and runs two worlds through it.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run world
//! ```

#![no_main]

use jostle_testkit::bodies;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(failure) = bodies::check_world(bytes) {
        panic!("{failure}");
    }
});
