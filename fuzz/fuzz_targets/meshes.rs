//! Tiny meshes out of bytes: every answer about them against loops over their triangles.

#![no_main]

use jostle_testkit::meshes::check_meshes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(fault) = check_meshes(bytes) {
        panic!("{fault}");
    }
});
