//! What several algorithms use that is no algorithm itself.

pub(crate) mod axes;
pub(crate) mod groups;
pub(crate) mod scratch_pool;
pub(crate) mod tasks;
pub(crate) mod uniform_grid;
