//! libjostle: Jostle for C and C++.
//!
//! Thin: every answer is the library's. `include/jostle.h` is made of the comments here by cbindgen
//! and is what users read; `tests/header.rs` checks that it is current.
//!
//! | file | holds |
//! |---|---|
//! | `status.rs` | codes, the last error of a thread, the border that no panic crosses |
//! | `memory.rs` | all that is done with the caller's pointers |
//! | `handles.rs` | numbers that stand for objects, so that a wrong one is refused |
//! | `types.rs` | plain structs |
//! | `detector.rs`, `queries.rs`, `one_shot.rs` | boxes |
//! | `shape.rs`, `narrow.rs` | shapes and questions about pairs of them |
//!
//! **Handles are numbers, not pointers.** An object is found by its number and the generation of
//! its place, as a box is by its id: a handle that was freed, or never was one, is refused whenever
//! it is used, not only in debug builds. Each call holds a reference to its objects, so another
//! thread may free them meanwhile. The lookup costs some 20 ns.
//!
//! **Unsafe code** is in `memory.rs`, which turns pointers and lengths into slices and back. A call
//! does so first and has no other `unsafe` block.

#![deny(unsafe_code)]
// C's names.
#![allow(non_camel_case_types)]
// What has to hold of pointers is the same for all functions and is said once in the header.
#![allow(clippy::missing_safety_doc)]
// Exporting a name is called unsafe; the names have a prefix that nobody else has.
#![allow(unsafe_code, reason = "no_mangle, and functions that take pointers")]

pub mod detector;
mod handles;
mod memory;
pub mod narrow;
pub mod one_shot;
pub mod queries;
pub mod shape;
pub mod status;
pub mod types;

use std::ffi::c_char;

/// The version of this interface. It grows when something that compiled programs rely on changes;
/// compare it with the one that the library reports.
pub const JOSTLE_ABI_VERSION: u32 = 1;

/// The id of no box.
pub const JOSTLE_NO_ID: u64 = u64::MAX;

/// The owner of a box that belongs to nobody.
pub const JOSTLE_NOBODY: u32 = u32::MAX;

/// The version of the interface that the library was built with.
#[unsafe(no_mangle)]
pub extern "C" fn jostle_abi_version() -> u32 {
    JOSTLE_ABI_VERSION
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn jostle_version() -> *const c_char {
    const TEXT: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    TEXT.as_ptr().cast()
}
