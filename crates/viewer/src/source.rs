//! [`Source`]: where moving boxes come from, frame by frame.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use jostle::recording::{Call, Recording, RecordingError};
use jostle::{Aabb, Boxes, Filter};
use jostle_scenes::{FrameReader, Invalid, Scene, SceneSpec};
use serde_json::{Value, json};

use crate::error::ViewError;

/// One row of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) aabb: Aabb,
    pub(crate) filter: Filter,
    /// Another number is another box.
    pub(crate) birth: u32,
}

/// A frame: for each row a box, or none.
pub(crate) type Rows = Vec<Option<Row>>;

/// Frames in order.
pub(crate) enum Source {
    Scene {
        spec: SceneSpec,
        scene: Box<Scene>,
        begun: bool,
        births: Vec<u32>,
    },
    File {
        path: PathBuf,
        reader: Box<FrameReader>,
        boxes: Vec<Aabb>,
    },
    Recording {
        path: PathBuf,
        recording: Box<Recording<BufReader<File>>>,
        boxes: Box<Boxes>,
        steps: u64,
    },
}

impl Source {
    pub(crate) fn scene(spec: &SceneSpec) -> Result<Source, ViewError> {
        let scene = Box::new(spec.build()?);
        Ok(Source::Scene { spec: spec.clone(), scene, begun: false, births: vec![0; spec.n] })
    }

    pub(crate) fn file(path: PathBuf) -> Result<Source, ViewError> {
        let reader = Box::new(open_file(&path)?);
        Ok(Source::File { path, reader, boxes: Vec::new() })
    }

    /// Reads it once to know its length.
    pub(crate) fn recording(path: PathBuf) -> Result<Source, ViewError> {
        let mut whole = open_recording(&path)?;
        while let Ok(Some(_)) = whole.next_call() {}
        let steps = whole.steps();
        let recording = Box::new(open_recording(&path)?);
        Ok(Source::Recording { path, recording, boxes: Box::default(), steps })
    }

    /// Back to before the first frame.
    pub(crate) fn restart(&mut self) -> Result<(), ViewError> {
        *self = match self {
            Source::Scene { spec, .. } => Source::scene(spec)?,
            Source::File { path, .. } => Source::file(path.clone())?,
            Source::Recording { path, steps, .. } => Source::Recording {
                recording: Box::new(open_recording(path)?),
                path: path.clone(),
                boxes: Box::default(),
                steps: *steps,
            },
        };
        Ok(())
    }

    /// Number of frames, if there is an end.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Source::Scene { .. } => None,
            Source::File { reader, .. } => Some(reader.frames() as u64),
            Source::Recording { steps, .. } => Some(*steps),
        }
    }

    /// What it is, for the page.
    pub(crate) fn about(&self) -> Value {
        match self {
            Source::Scene { spec, scene, .. } => {
                let values = scene
                    .info()
                    .params
                    .iter()
                    .map(|param| (param.name.to_owned(), json!(scene.param(param.name))));
                let values: serde_json::Map<String, Value> = values.collect();
                json!({"kind": "scene", "name": spec.name, "n": spec.n, "seed": spec.seed,
                       "params": values})
            }
            Source::File { path, .. } => json!({"kind": "file", "name": name_of(path)}),
            Source::Recording { path, .. } => json!({"kind": "recording", "name": name_of(path)}),
        }
    }

    /// Goes on to the next frame and writes it; false after the last.
    pub(crate) fn advance(&mut self, rows: &mut Rows) -> Result<bool, ViewError> {
        match self {
            Source::Scene { scene, begun, births, .. } => {
                if *begun {
                    scene.advance();
                }
                *begun = true;
                scene_rows(scene, births, rows);
                Ok(true)
            }
            Source::File { reader, boxes, .. } => {
                if reader.next_frame(boxes).map_err(ViewError::new)?.is_none() {
                    return Ok(false);
                }
                rows.clear();
                rows.resize(reader.boxes(), None);
                for (place, &aabb) in boxes.iter().enumerate() {
                    let row = reader.rows().map_or(place, |rows| rows[place] as usize);
                    rows[row] = Some(Row { aabb, filter: Filter::ALL, birth: 0 });
                }
                Ok(true)
            }
            Source::Recording { recording, boxes, .. } => {
                if !next_step(recording, boxes)? {
                    return Ok(false);
                }
                rows.clear();
                rows.resize(boxes.slots(), None);
                for id in boxes.ids() {
                    let (aabb, filter) = (boxes.aabbs()[id.index()], boxes.filters()[id.index()]);
                    rows[id.index()] = Some(Row { aabb, filter, birth: id.generation() });
                }
                Ok(true)
            }
        }
    }
}

fn scene_rows(scene: &Scene, births: &mut [u32], rows: &mut Rows) {
    for &slot in scene.changes().inserted {
        births[slot as usize] += 1;
    }
    rows.clear();
    rows.extend(scene.boxes().iter().enumerate().map(|(slot, &aabb)| {
        let still = scene.still().is_some_and(|still| still[slot]);
        let filter = if still { Filter::STILL } else { Filter::ALL };
        let alive = scene.alive().is_none_or(|alive| alive[slot]);
        alive.then_some(Row { aabb, filter, birth: births[slot] })
    }));
}

/// Does the calls up to the next step; false at the end, whether it was ended or cut off.
fn next_step(
    recording: &mut Recording<BufReader<File>>,
    boxes: &mut Boxes,
) -> Result<bool, ViewError> {
    loop {
        match recording.next_call() {
            Ok(Some(call)) => {
                call.apply(boxes).map_err(ViewError::new)?;
                if matches!(call, Call::Step(_)) {
                    boxes.commit();
                    return Ok(true);
                }
            }
            Ok(None) | Err(RecordingError::CutOff { .. }) => return Ok(false),
            Err(error) => return Err(ViewError::new(error)),
        }
    }
}

fn open_file(path: &Path) -> Result<FrameReader, ViewError> {
    FrameReader::open_with(path, Invalid::Skip).map_err(ViewError::new)
}

fn open_recording(path: &Path) -> Result<Recording<BufReader<File>>, ViewError> {
    let failed = |error| ViewError::new(format!("{}: {error}", path.display()));
    Recording::open(path).map_err(failed)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
