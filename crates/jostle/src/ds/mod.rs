//! Structures that know nothing of collision.

pub mod pair_sort;
