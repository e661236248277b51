//! The papers' systems as printed, where the library does something else.
//!
//! They are what the papers' claims are about, so the experiments compare them with each other and
//! with the library. Each is exact: the broad phases pass the conformance suite, with the
//! departures that exactness needs named in their heads.

pub(crate) mod chunked_list;
pub(crate) mod control_bits;
pub(crate) mod five_cells;
pub(crate) mod liu_sweep;
pub(crate) mod narrow;
pub(crate) mod pair_manager;
pub(crate) mod plain_octree;
pub(crate) mod reporting;
pub(crate) mod swap_sap;
pub(crate) mod vector_sap;
pub(crate) mod vector_sort;

#[cfg(test)]
mod conformance;
