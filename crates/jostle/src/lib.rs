//! Jostle tells which of a million moving boxes touch, exactly and in real time.

mod aabb;
pub mod narrow;
pub mod shape;
mod simd;

pub use aabb::{Aabb, Axis, BoxFault, round_down, round_up};
