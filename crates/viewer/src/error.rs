//! [`ViewError`]: why something cannot be shown.

use std::fmt;

/// Why something cannot be shown, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewError(String);

impl ViewError {
    pub(crate) fn new(what: impl fmt::Display) -> ViewError {
        ViewError(what.to_string())
    }
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ViewError {}

impl From<jostle::Error> for ViewError {
    fn from(error: jostle::Error) -> ViewError {
        ViewError::new(error)
    }
}

impl From<jostle::BoxError> for ViewError {
    fn from(error: jostle::BoxError) -> ViewError {
        ViewError::new(error)
    }
}

impl From<jostle::WorldError> for ViewError {
    fn from(error: jostle::WorldError) -> ViewError {
        ViewError::new(error)
    }
}

impl From<jostle_scenes::SceneError> for ViewError {
    fn from(error: jostle_scenes::SceneError) -> ViewError {
        ViewError::new(error)
    }
}
