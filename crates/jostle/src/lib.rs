//! Jostle tells which of a million moving boxes touch, exactly and in real time.
//!
//! ```text
//! shapes + poses ─► boxes ─► broad phase ─► pair tracker ─► narrow phase ─► touches
//!                                               └─► began / ended events      └─► began / ended
//! ```
//!
//! Most users hold a [`Detector`]: put boxes in, move them, and take a
//! [`step`](Detector::step); it tells which pairs began and which ended, in a fixed order, the
//! same for every algorithm and number of threads. For boxes that do not move, [`overlaps`] and
//! [`overlaps_between`] do it in one call:
//!
//! ```
//! use jostle::{Aabb, overlaps};
//!
//! let boxes = [
//!     Aabb::new([0.0, 0.0, 0.0], [2.0, 2.0, 2.0]),
//!     Aabb::new([2.0, 2.0, 2.0], [3.0, 3.0, 3.0]), // touches the first in a corner
//!     Aabb::new([9.0, 0.0, 0.0], [9.5, 1.0, 1.0]),
//! ];
//! assert_eq!(overlaps(&boxes)?, [(0, 1).into()]);
//! # Ok::<(), jostle::Error>(())
//! ```
//!
//! Users with shapes hold a [`World`]: spheres, boxes, capsules, hulls and others with poses go in,
//! and a [`step`](World::step) tells which touch, how deep, where and along which normal. Single
//! questions about two shapes are in [`narrow`].
//!
//! # Which algorithm
//!
//! [`Algorithm::Auto`] looks at the boxes and chooses; it is the right start, and
//! [`Detector::reason`] says what it chose and why. [`Algorithm`] lists the others, each a
//! module under [`broad`] that tells its idea, its cost and when to choose it.
//!
//! # What is where
//!
//! | to | use |
//! |---|---|
//! | follow moving boxes | [`Detector`], [`Boxes`], [`Filter`], [`Events`] |
//! | find pairs once | [`overlaps`], [`overlaps_between`] |
//! | ask what a ray, a box or a point meets | [`Detector::queries`], [`Queries`], [`Cast`] |
//! | follow moving shapes | [`World`], [`Body`], [`shape`] |
//! | ask about two shapes | [`narrow`] |
//! | ask about triangle meshes | [`mesh`], [`mesh::Mesh`] |
//! | turn a mesh into convex pieces | [`decompose`] |
//! | use several threads | [`Workers`] |
//! | record what happened, and do it again | [`Recorder`], [`recording`] |
//! | compare algorithms, or write one | [`Stepper`], [`BroadPhase`], [`broad`] |
//!
//! # Ids, slots and pairs
//!
//! A [`BoxId`] names one box for good: used after its box was removed it is refused, never
//! mistaken for the next box in the same place. A [`Pair`] names two boxes by their [`Slot`]s,
//! half the size, because pairs are what a step moves most of; [`Boxes::id_at`] and
//! [`Boxes::user_data`] lead from a slot back to the caller's things.
//!
//! # Large coordinates
//!
//! Boxes are f32: at a distance of a million, numbers are 0.06 apart, and a box of a few
//! centimetres is mostly rounding. Nothing is missed, because f64 input is rounded outward, but
//! many pairs are false. [`Boxes::coarse_count`] tells how many boxes that concerns; subtract an
//! origin near the boxes before they are rounded.
//!
//! # Features
//!
//! | feature | does |
//! |---|---|
//! | `parallel` (default) | [`Workers::new`] starts threads, which work beside the calling one. Without it there is always one worker, with the same results to the byte |
//! | `serde` | snapshots: [`Boxes`], [`Pair`], ids, filters and shapes can be written and read; what is read is checked. [`Detector::restore`] and [`World::restore`] continue from one |

#![deny(unsafe_code)]

pub mod broad;
pub mod decompose;
// The benchmarks time these alone; they are no part of the interface.
#[doc(hidden)]
pub mod ds;
pub mod mesh;
pub mod narrow;
pub mod recording;
pub mod shape;
pub mod world;

mod aabb;
mod boxes;
mod clock;
mod detector;
mod error;
mod events;
mod fault;
mod filter;
mod id;
mod journal;
mod one_shot;
mod pair;
mod par;
mod queries;
mod query_cache;
#[allow(unsafe_code, reason = "instruction sets; see the module")]
mod simd;
mod stats;
mod stepper;

/// The linear algebra whose vectors and quaternions shapes and poses are made of.
pub use glam;

pub use aabb::{Aabb, Axis, BoxFault, round_down, round_up};
pub use boxes::{Boxes, Changes, Follower, Stamp};
#[doc(inline)]
pub use broad::{Algorithm, BroadPhase, CloneBroadPhase, Report, UnknownAlgorithm};
pub use detector::Detector;
pub use error::{BoxError, Error, InvalidBox};
pub use events::{Events, PairTracker};
pub use filter::Filter;
pub use id::{BoxId, Slot};
pub use journal::{RecordError, Recorder, StepHash};
pub use one_shot::{overlaps, overlaps_between};
pub use pair::{Lane, LimitReached, Pair, PairBuffer};
pub use par::{Workers, available as available_threads};
pub use queries::{BoxQueries, Cast, Hit, Near, NearPair, Queries};
pub use stats::{StageClock, Stats};
pub use stepper::{StepTime, Stepper};
#[doc(inline)]
pub use world::{Body, BodyId, BodyPair, World, WorldError};

/// The README's example is compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
