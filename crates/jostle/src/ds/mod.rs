//! Data structures that know nothing about collision.

pub(crate) mod pair_sort;
pub mod radix_sort;
pub(crate) mod regions;
pub(crate) mod spill;
pub mod succ_tree;
pub mod xxh64;
