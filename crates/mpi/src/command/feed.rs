//! Frames for the ranks of a job: slices of a file, or a scene that every rank builds itself.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use jostle::{Aabb, Filter};
use jostle_mpi::{Communicator, DistributedDetector, Error, GlobalId, agree_on_error};
use jostle_scenes::{FileError, FrameReader, Scene, SceneSpec};

use super::Failure;

/// A file of which every rank reads its own rows.
pub(crate) struct SlicedFile {
    path: PathBuf,
    pub(crate) frames: usize,
    pub(crate) boxes: usize,
    pub(crate) sequence: bool,
    first_row: usize,
    rows: Receiver<Result<Vec<Aabb>, FileError>>,
}

impl SlicedFile {
    /// Opens the file on all ranks; they must see the same shape. From then on a thread reads this
    /// rank's rows of the next frame while the current one is worked on, so a rank never holds
    /// more than its share of two frames.
    pub(crate) fn open<C: Communicator>(comm: &C, path: &Path) -> Result<SlicedFile, Failure> {
        let opened = FrameReader::open(path).map_err(|error| file_error(comm, error));
        let mut reader = agree_on_error(comm, opened)?;
        let (frames, boxes) = (reader.frames(), reader.boxes());
        agree_on_shape(comm, path, frames, boxes)?;
        let (rank, ranks) = (comm.rank(), comm.size());
        let rows = boxes * rank / ranks..boxes * (rank + 1) / ranks;
        let (first_row, sequence) = (rows.start, reader.is_sequence());
        reader.restrict_rows(rows);
        let (sender, rows) = sync_channel(1);
        std::thread::spawn(move || {
            for _ in 0..frames {
                let mut boxes = Vec::new();
                let read = reader.next_frame(&mut boxes).map(|_| boxes);
                let failed = read.is_err();
                // The receiver goes away if the command ends early.
                if sender.send(read).is_err() || failed {
                    return;
                }
            }
        });
        Ok(SlicedFile { path: path.to_owned(), frames, boxes, sequence, first_row, rows })
    }

    /// This rank's rows of the next frame; an error on one rank is one on all.
    pub(crate) fn next<C: Communicator>(&mut self, comm: &C) -> Result<Vec<Aabb>, Failure> {
        let read = match self.rows.recv() {
            Ok(read) => read.map_err(|error| file_error(comm, error)),
            Err(_) => Err(Error::File {
                rank: comm.rank(),
                reason: format!("{}: the reader ended early", self.path.display()),
            }),
        };
        Ok(agree_on_error(comm, read)?)
    }

    /// Gives this rank's rows of a frame to the detector. Rows are ids.
    pub(crate) fn apply<C: Communicator>(
        &self,
        frame: usize,
        boxes: &[Aabb],
        detector: &mut DistributedDetector<C>,
    ) {
        if frame > 0 {
            return detector.set_all(boxes);
        }
        let ids: Vec<GlobalId> =
            (0..boxes.len()).map(|row| GlobalId((self.first_row + row) as u64)).collect();
        detector.insert(&ids, boxes, &[Filter::ALL]);
    }
}

fn file_error(comm: &impl Communicator, error: FileError) -> Error {
    Error::File { rank: comm.rank(), reason: error.to_string() }
}

/// Ranks on different machines may see different files under one name.
fn agree_on_shape(
    comm: &impl Communicator,
    path: &Path,
    frames: usize,
    boxes: usize,
) -> Result<(), Failure> {
    let shape = format!("({frames}, {boxes}, 6)");
    let shapes = comm.all_gather(shape.as_bytes());
    let Some(other) = shapes.iter().position(|shape| *shape != shapes[0]) else { return Ok(()) };
    let text = |rank: usize| String::from_utf8_lossy(&shapes[rank]).into_owned();
    Err(Failure::Input(format!(
        "{}: rank 0 sees the shape {} and rank {other} sees {}; give all ranks the same file",
        path.display(),
        text(0),
        text(other)
    )))
}

/// A scene that all ranks build and each feeds its part of. Scenes are deterministic, so nothing
/// is sent for them.
pub(crate) struct SceneFeed {
    scene: Scene,
    /// The id of the box in each slot; a slot that gets another box gets another id.
    pub(crate) ids: Vec<Option<GlobalId>>,
    next_id: u64,
    /// What came and went with the last frame, on all ranks.
    pub(crate) inserted: Vec<u32>,
    pub(crate) removed: Vec<GlobalId>,
}

impl SceneFeed {
    pub(crate) fn new(spec: &SceneSpec) -> Result<SceneFeed, Failure> {
        let scene = spec.build().map_err(Failure::input)?;
        let ids = vec![None; scene.boxes().len()];
        Ok(SceneFeed { scene, ids, next_id: 0, inserted: Vec::new(), removed: Vec::new() })
    }

    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }

    pub(crate) fn filter(&self, slot: usize) -> Filter {
        match self.scene.still() {
            Some(still) if still[slot] => Filter::STILL,
            _ => Filter::ALL,
        }
    }

    /// Goes on to the next frame; the first one is where the scene starts.
    pub(crate) fn advance(&mut self, first: bool) {
        self.inserted.clear();
        self.removed.clear();
        if !first {
            self.scene.advance();
            for &slot in self.scene.changes().removed {
                self.removed.extend(self.ids[slot as usize].take());
            }
        }
        for slot in 0..self.ids.len() {
            let alive = self.scene.alive().is_none_or(|alive| alive[slot]);
            match (self.ids[slot], alive) {
                (None, true) => {
                    self.ids[slot] = Some(GlobalId(self.next_id));
                    self.next_id += 1;
                    self.inserted.push(slot as u32);
                }
                (Some(id), false) => {
                    self.removed.push(id);
                    self.ids[slot] = None;
                }
                _ => {}
            }
        }
    }

    /// Gives this rank's part of the frame to the detector: new boxes by slot, moves and removals
    /// where boxes are owned.
    pub(crate) fn apply<C: Communicator>(&self, detector: &mut DistributedDetector<C>) {
        let mut slot_of = std::collections::BTreeMap::new();
        let dense = self.next_id as usize == self.ids.len();
        if !dense {
            let known = self.ids.iter().enumerate().filter_map(|(slot, id)| Some(((*id)?, slot)));
            slot_of.extend(known);
        }
        let slot = |id: GlobalId| {
            if dense { Some(id.0 as usize) } else { slot_of.get(&id).copied() }
        };
        let boxes = self.scene.boxes();
        let moved: Vec<Aabb> = detector
            .ids()
            .iter()
            // A box that goes away with this frame keeps its bounds until then.
            .map(|&id| match slot(id) {
                Some(slot) => boxes[slot],
                None => detector.get(id).expect("an owned box has bounds"),
            })
            .collect();
        detector.set_all(&moved);
        let gone: Vec<GlobalId> =
            self.removed.iter().copied().filter(|&id| detector.owns(id)).collect();
        detector.remove(&gone);
        let (rank, ranks) = (detector.communicator().rank(), detector.communicator().size());
        let mine = |slot: &&u32| **slot as usize * ranks / boxes.len() == rank;
        let slots: Vec<usize> = self.inserted.iter().filter(mine).map(|&s| s as usize).collect();
        let ids: Vec<GlobalId> = slots.iter().filter_map(|&slot| self.ids[slot]).collect();
        let bounds: Vec<Aabb> = slots.iter().map(|&slot| boxes[slot]).collect();
        let filters: Vec<Filter> = slots.iter().map(|&slot| self.filter(slot)).collect();
        detector.insert(&ids, &bounds, &filters);
    }
}
