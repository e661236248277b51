//! Jostle tells which of a million moving boxes touch, exactly and in real time.

mod aabb;

pub use aabb::{Aabb, Axis, BoxFault, round_down, round_up};
