//! Part of Jostle.

pub mod narrow;
