//! Box-against-many tests. The instruction sets, and all `unsafe` for them, live here.

pub(crate) mod column;
pub(crate) mod prefetch;

pub(crate) mod node8;

pub(crate) mod forward;
