//! The command as its users run it, one file a subject.

mod common;

mod bad_input;
mod bench_narrow;
mod bench_world;
mod commands;
mod contacts;
#[cfg(feature = "gpu")]
mod device;
mod meshes;
mod pairs;
mod readme;
mod recordings;
mod shared_data;
mod verify;
