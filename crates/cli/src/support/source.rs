//! Where boxes come from on the command line: a file, or a scene by name.

use std::path::PathBuf;

use clap::Args;
use jostle_scenes::{Invalid, SceneSpec, parse_count};

use crate::support::failure::Failure;
use crate::support::feed::Feed;
use crate::support::names;

/// A file of boxes, or a scene.
#[derive(Args, Clone, Debug)]
pub struct SourceArgs {
    /// A file of boxes; - reads standard input
    #[arg(value_name = "IN", conflicts_with = "scene")]
    pub input: Option<PathBuf>,
    /// A scene by name, see `jostle scene --list`
    #[arg(long, value_name = "NAME")]
    pub scene: Option<String>,
    /// Number of boxes in the scene
    #[arg(long, value_parser = parse_count, default_value = "2000")]
    pub n: usize,
    /// Number of frames; of a file, at most this many
    #[arg(long, value_parser = names::positive)]
    pub frames: Option<usize>,
    /// The scene's seed
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// A parameter of the scene
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl SourceArgs {
    /// Opens it; a scene has `frames` frames unless said otherwise.
    pub fn open(&self, frames: usize) -> Result<Feed, Failure> {
        match (&self.input, &self.scene) {
            (Some(path), _) => {
                let mut feed = Feed::file(path, Invalid::Refuse)?;
                feed.truncate(self.frames.unwrap_or(usize::MAX));
                Ok(feed)
            }
            (None, Some(name)) => {
                let spec = spec(name, self.n, self.seed, &self.set)?;
                Feed::scene(&spec, self.frames.unwrap_or(frames))
            }
            (None, None) => Err(Failure::input("give a file, or a scene with --scene NAME")),
        }
    }
}

/// A scene's recipe with parameters as `key=value`.
pub fn spec(name: &str, n: usize, seed: u64, set: &[String]) -> Result<SceneSpec, Failure> {
    let mut spec = SceneSpec::new(name, n, seed);
    for text in set {
        spec = spec.parse_param(text)?;
    }
    Ok(spec)
}
