//! Vector instructions. All `unsafe` for them lives here.

pub(crate) mod endpoint_sort;
