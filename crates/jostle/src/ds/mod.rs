//! Data structures that know nothing about collision.

pub mod pair_sort;
pub mod radix_sort;
pub mod regions;
pub mod succ_tree;
