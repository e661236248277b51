//! A viewer for moving boxes: a small server, and a page that shows what it is told.
//!
//! ```text
//! scene, file, recording, world ─► Source ─► Stage (detector) ─► frame (bytes) ─► watch ─► clients
//!                                              ▲ commands (JSON, bounded) ◄─────────────────┘
//! ```
//!
//! One thread moves the boxes and finds the pairs (`simulation`); it publishes the newest frame,
//! and a client that is slow misses frames instead of delaying others. A second thread serves
//! (`server`). Everything a client sends is bounded and checked; nothing of it names a file.

#![forbid(unsafe_code)]
// The header of a frame is one large object.
#![recursion_limit = "256"]

mod command;
mod error;
mod export;
mod frame;
mod guard;
mod inspect;
mod page;
mod server;
mod simulation;
mod source;
mod stage;

use std::net::SocketAddr;
use std::path::PathBuf;

use jostle::Algorithm;
use jostle_scenes::SceneSpec;

pub use error::ViewError;
pub use export::export;
pub use server::Viewer;

/// What is shown.
#[derive(Clone, Debug)]
pub enum Show {
    /// The boxes of a scene.
    Scene(SceneSpec),
    /// The frames of a file of boxes.
    File(PathBuf),
    /// The boxes of a recording, as they were.
    Recording(PathBuf),
    /// Shapes in the boxes of a scene, and where they touch.
    World(SceneSpec),
}

/// How it begins.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Number of threads.
    pub threads: usize,
    /// Whether it runs at once.
    pub playing: bool,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { algorithm: Algorithm::Auto, threads: 1, playing: true }
    }
}

/// The address on the loopback interface with a port that is free.
pub fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// The README's example is compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
