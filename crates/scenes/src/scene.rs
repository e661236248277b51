//! [`Scene`]: a world of boxes that moves on from frame to frame, and [`SceneSpec`], its recipe.

use crate::catalog::{self, SceneError, SceneInfo, Values};
use crate::motion::{self, Motion};
use jostle::Aabb;

/// The largest number of boxes a scene can hold.
pub const MAX_BOXES: usize = 1 << 28;

/// What is needed to build a scene again: equal recipes give equal bytes on every machine.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneSpec {
    /// The scene's name, see [`Scene::list`].
    pub name: String,
    /// The number of boxes.
    pub n: usize,
    /// The seed of everything random in it.
    pub seed: u64,
    /// Parameters that differ from their defaults.
    pub params: Vec<(String, f64)>,
}

impl SceneSpec {
    /// A scene with default parameters.
    pub fn new(name: &str, n: usize, seed: u64) -> SceneSpec {
        SceneSpec { name: name.to_owned(), n, seed, params: Vec::new() }
    }

    /// The same with a parameter set. Names and values are checked when it is built.
    pub fn param(mut self, name: &str, value: f64) -> SceneSpec {
        self.params.push((name.to_owned(), value));
        self
    }

    /// The same with a parameter set from text: `density=0.35`, or by the name of a choice,
    /// `kind=giant`.
    pub fn parse_param(self, text: &str) -> Result<SceneSpec, SceneError> {
        let scene = catalog::find_scene(&self.name)?;
        let Some((name, value)) = text.split_once('=') else {
            return Err(SceneError::NotAParam { text: text.to_owned() });
        };
        let param = scene.find_param(name.trim())?;
        let value = param.parse(scene.name, value.trim())?;
        Ok(self.param(param.name, value))
    }

    /// Builds the scene at frame 0.
    pub fn build(&self) -> Result<Scene, SceneError> {
        let params: Vec<_> = self.params.iter().map(|(name, value)| (&name[..], *value)).collect();
        Scene::new(&self.name, self.n, self.seed, &params)
    }
}

/// What came and went in the step that led to a frame. Apply `removed` first: a slot in both
/// lists was replaced by a new box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes<'a> {
    /// Slots whose box is gone.
    pub removed: &'a [u32],
    /// Slots that hold a new box.
    pub inserted: &'a [u32],
}

/// The visible part of a scene; the motions write it.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) number: u64,
    pub(crate) world: Aabb,
    pub(crate) boxes: Vec<Aabb>,
    pub(crate) still: Option<Vec<bool>>,
    pub(crate) alive: Option<Vec<bool>>,
    pub(crate) removed: Vec<u32>,
    pub(crate) inserted: Vec<u32>,
}

/// A world of `n` boxes at one moment.
///
/// A scene holds one frame, so a run of any length takes the memory of one.
///
/// ```
/// use jostle_scenes::Scene;
///
/// let mut scene = Scene::new("uniform", 1000, 7, &[("density", 0.35)])?;
/// for _ in 0..10 {
///     assert!(scene.boxes().iter().all(|aabb| scene.world().contains(aabb)));
///     scene.advance();
/// }
/// # Ok::<(), jostle_scenes::SceneError>(())
/// ```
pub struct Scene {
    values: Values,
    frame: Frame,
    motion: Box<dyn Motion>,
}

impl Scene {
    /// Every scene, with its parameters.
    pub fn list() -> &'static [SceneInfo] {
        catalog::SCENES
    }

    /// Builds a scene at frame 0. Parameters not given keep their defaults; of one given twice
    /// the last counts.
    pub fn new(
        name: &str,
        n: usize,
        seed: u64,
        params: &[(&str, f64)],
    ) -> Result<Scene, SceneError> {
        let values = Values::new(catalog::find_scene(name)?, params)?;
        if n > MAX_BOXES {
            return Err(SceneError::TooMany { n });
        }
        let (frame, motion) = motion::build(&values, n, seed);
        Ok(Scene { values, frame, motion })
    }

    /// The scene's entry in the list.
    pub fn info(&self) -> &'static SceneInfo {
        self.values.info
    }

    /// The value in force of a parameter; `None` if the scene has none of that name.
    pub fn param(&self, name: &str) -> Option<f64> {
        self.values.find(name)
    }

    /// The number of the frame, from 0.
    pub fn frame(&self) -> u64 {
        self.frame.number
    }

    /// The region in which the boxes stay.
    pub fn world(&self) -> Aabb {
        self.frame.world
    }

    /// The boxes, one per slot; always `n` of them, all valid.
    ///
    /// A slot without a living box (see [`alive`](Scene::alive)) holds a point outside the world
    /// that touches nothing, so that the slice has the same pairs as the living boxes alone.
    pub fn boxes(&self) -> &[Aabb] {
        &self.frame.boxes
    }

    /// Which slots hold boxes that never move as long as they live; `None` where all may move.
    pub fn still(&self) -> Option<&[bool]> {
        self.frame.still.as_deref()
    }

    /// Which slots hold a box at present; `None` where all do, always.
    pub fn alive(&self) -> Option<&[bool]> {
        self.frame.alive.as_deref()
    }

    /// What came and went in the step that led to this frame; empty at frame 0.
    pub fn changes(&self) -> Changes<'_> {
        Changes { removed: &self.frame.removed, inserted: &self.frame.inserted }
    }

    /// Goes on to the next frame.
    pub fn advance(&mut self) {
        self.frame.number += 1;
        self.frame.removed.clear();
        self.frame.inserted.clear();
        self.motion.advance(&mut self.frame);
    }
}

impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene")
            .field("name", &self.info().name)
            .field("boxes", &self.boxes().len())
            .field("frame", &self.frame())
            .finish_non_exhaustive()
    }
}
