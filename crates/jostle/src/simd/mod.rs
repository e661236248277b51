//! Box-against-many tests. The instruction sets, and all `unsafe` for them, live here.

pub(crate) mod column;
pub(crate) mod endpoint_sort;
pub(crate) mod forward;
pub(crate) mod furthest;
pub(crate) mod node8;
pub(crate) mod prefetch;
pub(crate) mod probe;
pub(crate) mod widest;
pub(crate) mod window;
