//! [`BodyId`]: names a body.

use crate::id::BoxId;

/// Names a body: the id of its box.
pub type BodyId = BoxId;
