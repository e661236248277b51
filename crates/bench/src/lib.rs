//! Jostle beside its rivals: the same frames, one after the other in one run, the same number of
//! pairs demanded of everyone. See the `rivals` binary.

#![forbid(unsafe_code)]

pub mod contest;
pub mod core_costs;
pub mod narrow;
pub mod rivals;
pub mod structures;
