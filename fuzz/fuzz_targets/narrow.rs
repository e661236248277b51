//! Reads bytes as a pair of shapes and asks every question about it.
//!
//! ```text
//! RUSTC_BOOTSTRAP=1 cargo fuzz run narrow
//! ```

#![no_main]

use jostle_testkit::bodies;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(failure) = bodies::check_pair(bytes) {
        panic!("{failure}");
    }
});
