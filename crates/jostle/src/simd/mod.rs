//! Box-against-many tests. The instruction sets, and all `unsafe` for them, live here.

pub(crate) mod forward;
