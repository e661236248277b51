//! [`Feed`]: frames of a file, of two files, or of a scene, applied to [`Boxes`] one by one.
//!
//! Rows of a file and slots of a scene are called slots here. A slot keeps its box as long as it
//! holds one: a row that is skipped because it is invalid ends its box, a slot that a scene
//! replaces gets another one. As long as neither happens, ids are slots and a frame is one
//! [`Boxes::set_all`].

use std::io::stdin;
use std::path::{Path, PathBuf};

use jostle::{Aabb, BoxId, Boxes, Filter, Pair, Slot};
use jostle_scenes::{FrameReader, Invalid, Scene, SceneSpec};

use super::failure::Failure;
use super::text::count_of;

/// The name of standard input on the command line.
pub const STANDARD: &str = "-";

/// The name of standard input in messages.
const STANDARD_INPUT: &str = "standard input";

/// Frames to come.
#[derive(Debug)]
pub struct Feed {
    name: String,
    origin: Origin,
    frames: usize,
    next: usize,
    slots: Slots,
    /// Boxes of a scene that never move are declared still.
    declares_still: bool,
}

#[derive(Debug)]
enum Origin {
    Scene(Box<Scene>),
    Files(Vec<Part>),
}

/// A file that gives some of the boxes.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    reader: FrameReader,
    boxes: Vec<Aabb>,
    filter: Filter,
    /// Slot of its first row.
    offset: usize,
}

/// A row that was left out of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// The row, and what is wrong with it.
    pub row: usize,
    /// What is wrong with it.
    pub fault: String,
}

impl Feed {
    /// The frames of a scene.
    pub fn scene(spec: &SceneSpec, frames: usize) -> Result<Feed, Failure> {
        let origin = Origin::Scene(Box::new(spec.build()?));
        let (name, slots) = (spec.name.clone(), Slots::default());
        Ok(Feed { name, origin, frames, next: 0, slots, declares_still: true })
    }

    /// The frames of a scene in which every box may pair with every other, at rest or not: the
    /// papers filter nothing.
    pub fn unfiltered(spec: &SceneSpec, frames: usize) -> Result<Feed, Failure> {
        Ok(Feed { declares_still: false, ..Feed::scene(spec, frames)? })
    }

    /// The frames of a file.
    pub fn file(path: &Path, invalid: Invalid) -> Result<Feed, Failure> {
        let part = Part::open(path, invalid, Filter::ALL, 0)?;
        Feed::files(vec![part])
    }

    /// The frames of two files; only boxes of different files pair. The second file's rows count
    /// on from the first one's. A file with one frame stays as it is while a longer one moves.
    pub fn two_files(
        path: &Path,
        with: &Path,
        invalid: impl Fn() -> Invalid,
    ) -> Result<Feed, Failure> {
        if path == with && path == Path::new(STANDARD) {
            return Err(Failure::input("standard input can be one of the two files, not both"));
        }
        let one = Part::open(path, invalid(), Filter::groups(1, 2), 0)?;
        let other = Part::open(with, invalid(), Filter::groups(2, 1), one.reader.boxes())?;
        let (frames, others) = (one.reader.frames(), other.reader.frames());
        if frames != others && frames != 1 && others != 1 {
            return Err(Failure::Input(format!(
                "{} has {} and {} has {}; give the same number, or one frame that stays",
                path.display(),
                count_of(frames as u64, "frame", "frames"),
                with.display(),
                count_of(others as u64, "frame", "frames")
            )));
        }
        Feed::files(vec![one, other])
    }

    fn files(parts: Vec<Part>) -> Result<Feed, Failure> {
        let slots: usize = parts.iter().map(|part| part.reader.boxes()).sum();
        if slots > u32::MAX as usize {
            return Err(jostle::BoxError::Full.into());
        }
        let counts: Vec<usize> = parts.iter().map(|part| part.reader.frames()).collect();
        // A file without frames leaves nothing to pair with.
        let empty = counts.contains(&0);
        let frames = if empty { 0 } else { counts.into_iter().max().unwrap_or(0) };
        let stem = parts[0].path.file_name().unwrap_or_default();
        let name = stem.to_string_lossy().into_owned();
        let (origin, slots) = (Origin::Files(parts), Slots::default());
        Ok(Feed { name, origin, frames, next: 0, slots, declares_still: true })
    }

    /// The scene's or the file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Ends after at most this many frames.
    pub fn truncate(&mut self, frames: usize) {
        self.frames = self.frames.min(frames);
    }

    /// How many slots a frame has.
    pub fn boxes(&self) -> usize {
        match &self.origin {
            Origin::Scene(scene) => scene.boxes().len(),
            Origin::Files(parts) => parts.iter().map(|part| part.reader.boxes()).sum(),
        }
    }

    /// How many of the slots are the first file's.
    pub fn first_boxes(&self) -> usize {
        match &self.origin {
            Origin::Scene(_) => self.boxes(),
            Origin::Files(parts) => parts[0].reader.boxes(),
        }
    }

    /// Returns true if a file was stored as a sequence, even of one frame; scenes are sequences.
    pub fn is_sequence(&self) -> bool {
        match &self.origin {
            Origin::Scene(_) => true,
            Origin::Files(parts) => parts.iter().any(|part| part.reader.is_sequence()),
        }
    }

    /// The rows that were left out of the last frame.
    pub fn skipped(&self) -> Vec<Skipped> {
        let Origin::Files(parts) = &self.origin else { return Vec::new() };
        let rows = |part: &Part| -> Vec<Skipped> {
            let rows = part.reader.skipped().iter();
            rows.map(|skipped| Skipped {
                path: part.path.clone(),
                row: skipped.row,
                fault: skipped.fault.to_string(),
            })
            .collect()
        };
        parts.iter().flat_map(rows).collect()
    }

    /// Applies the next frame's changes to the boxes; its number, or none after the last.
    pub fn advance(&mut self, boxes: &mut Boxes) -> Result<Option<usize>, Failure> {
        if self.next == self.frames {
            return Ok(None);
        }
        let number = self.next;
        match &mut self.origin {
            Origin::Scene(scene) => {
                if number > 0 {
                    scene.advance();
                }
                let still = scene.still().filter(|_| self.declares_still);
                self.slots.follow_scene(scene, still, number, boxes)?;
            }
            Origin::Files(parts) => {
                for part in parts.iter_mut() {
                    part.read(number)?;
                }
                self.slots.follow_files(parts, number, boxes)?;
            }
        }
        self.next += 1;
        Ok(Some(number))
    }

    /// Pairs of ids as pairs of slots, ascending.
    pub fn in_slots(&self, pairs: &[Pair], out: &mut Vec<(u32, u32)>) {
        out.clear();
        out.extend(pairs.iter().map(|pair| self.slots.pair(*pair)));
        if self.slots.sparse {
            out.sort_unstable();
        }
    }

    /// The row of the box in a slot.
    pub fn slot(&self, slot: Slot) -> u32 {
        if self.slots.sparse { self.slots.of[slot.index()] } else { slot.get() }
    }
}

impl Part {
    /// Opens a file, or standard input if it is called `-`.
    fn open(path: &Path, invalid: Invalid, filter: Filter, offset: usize) -> Result<Part, Failure> {
        let (path, reader) = match path == Path::new(STANDARD) {
            true => {
                (STANDARD_INPUT.into(), FrameReader::from_reader(STANDARD_INPUT, stdin(), invalid)?)
            }
            false => (path.to_owned(), FrameReader::open_with(path, invalid)?),
        };
        Ok(Part { path, reader, boxes: Vec::new(), filter, offset })
    }

    fn read(&mut self, number: usize) -> Result<(), Failure> {
        // The only frame of a file stays when another file goes on.
        if number == 0 || self.reader.frames() > 1 {
            self.reader.next_frame(&mut self.boxes)?;
        }
        Ok(())
    }

    /// Slot, bounds and filter of each valid row.
    fn rows(&self) -> impl Iterator<Item = (usize, Aabb, Filter)> {
        let rows = self.reader.rows();
        self.boxes.iter().enumerate().map(move |(index, &aabb)| {
            let row = rows.map_or(index, |rows| rows[index] as usize);
            (self.offset + row, aabb, self.filter)
        })
    }
}

/// Which box is in which slot.
#[derive(Debug, Default)]
struct Slots {
    /// False as long as ids are slots; the tables below are in use only after that.
    sparse: bool,
    ids: Vec<Option<BoxId>>,
    /// The slot of each id.
    of: Vec<u32>,
    seen: Vec<bool>,
    /// All boxes of a frame, if there are several files.
    joined: Vec<Aabb>,
}

impl Slots {
    fn follow_scene(
        &mut self,
        scene: &Scene,
        still: Option<&[bool]>,
        number: usize,
        boxes: &mut Boxes,
    ) -> Result<(), Failure> {
        let filter = |slot: usize| match still {
            Some(still) if still[slot] => Filter::STILL,
            _ => Filter::ALL,
        };
        let alive = scene.alive();
        let all_alive = alive.is_none_or(|alive| alive.iter().all(|&lives| lives));
        if number == 0 && all_alive {
            let filters: Vec<Filter> = (0..scene.boxes().len()).map(filter).collect();
            boxes.insert_each(scene.boxes(), &filters)?;
            return Ok(());
        }
        let changes = scene.changes();
        if !self.sparse && all_alive && changes.removed.is_empty() {
            return Ok(boxes.set_all(scene.boxes())?);
        }
        let lives = |slot: &usize| alive.is_none_or(|alive| alive[*slot]);
        let present = (0..scene.boxes().len()).filter(lives);
        let present = present.map(|slot| (slot, scene.boxes()[slot], filter(slot)));
        self.follow(scene.boxes().len(), changes.removed, present, boxes)
    }

    fn follow_files(
        &mut self,
        parts: &[Part],
        number: usize,
        boxes: &mut Boxes,
    ) -> Result<(), Failure> {
        let slots = parts.iter().map(|part| part.reader.boxes()).sum();
        let whole = parts.iter().all(|part| part.reader.rows().is_none());
        if self.sparse || !whole {
            let rows = parts.iter().flat_map(|part| part.rows());
            return self.follow(slots, &[], rows, boxes);
        }
        if number == 0 {
            for part in parts {
                boxes.insert_all(&part.boxes, part.filter)?;
            }
            return Ok(());
        }
        if let [only] = parts {
            return Ok(boxes.set_all(&only.boxes)?);
        }
        self.joined.clear();
        parts.iter().for_each(|part| self.joined.extend_from_slice(&part.boxes));
        Ok(boxes.set_all(&self.joined)?)
    }

    /// Ends the boxes of `removed` slots and of those not `present`, moves the others, and adds
    /// what is new.
    fn follow(
        &mut self,
        slots: usize,
        removed: &[u32],
        present: impl Iterator<Item = (usize, Aabb, Filter)>,
        boxes: &mut Boxes,
    ) -> Result<(), Failure> {
        self.become_sparse(slots, boxes);
        for &slot in removed {
            if let Some(id) = self.ids[slot as usize].take() {
                boxes.remove(id)?;
            }
        }
        self.seen.clear();
        self.seen.resize(slots, false);
        for (slot, aabb, filter) in present {
            self.seen[slot] = true;
            match self.ids[slot] {
                Some(id) => boxes.set(id, aabb)?,
                None => self.add(slot, aabb, filter, boxes)?,
            }
        }
        for (slot, id) in self.ids.iter_mut().enumerate() {
            if let (false, Some(gone)) = (self.seen[slot], *id) {
                boxes.remove(gone)?;
                *id = None;
            }
        }
        Ok(())
    }

    fn become_sparse(&mut self, slots: usize, boxes: &Boxes) {
        if !self.sparse {
            self.sparse = true;
            // Before the first frame no slot holds a box.
            self.ids = (0..slots as u32).map(|slot| boxes.id_at(slot.into())).collect();
            self.of = (0..slots as u32).collect();
        }
    }

    fn add(
        &mut self,
        slot: usize,
        aabb: Aabb,
        filter: Filter,
        boxes: &mut Boxes,
    ) -> Result<(), Failure> {
        let id = boxes.insert(aabb, filter)?;
        self.ids[slot] = Some(id);
        if self.of.len() <= id.index() {
            self.of.resize(id.index() + 1, 0);
        }
        self.of[id.index()] = slot as u32;
        Ok(())
    }

    fn pair(&self, pair: Pair) -> (u32, u32) {
        if !self.sparse {
            return pair.into();
        }
        let (one, other) = (self.of[pair.a().index()], self.of[pair.b().index()]);
        (one.min(other), one.max(other))
    }
}
