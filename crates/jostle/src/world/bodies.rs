//! [`Bodies`]: shapes and poses by slot, and which of them have moved.

use super::body::Body;
use super::bounds::Frame;
use super::id::{BodyId, BodyPair};
use super::sweep::Sweep;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::id::{BoxId, Slot};
use crate::narrow::Placed;
use crate::pair::Pair;
use crate::par::Workers;
use crate::shape::{Pose, Shape};

/// Boxes that are computed in one go.
const RUN: usize = 256;

/// Shapes and poses by slot. Slots without a body hold what was last there.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    pub shapes: Vec<Shape>,
    pub poses: Vec<Pose>,
    /// Where the last step left the body.
    pub starts: Vec<Pose>,
    /// Marks bodies that moved since the last step, or during it in continuous mode: their boxes
    /// and answers are computed again.
    pub active: Vec<bool>,
    /// Who is, or was last, in a slot: ended pairs still name bodies that are gone.
    pub ids: Vec<BodyId>,
    /// The slots marked active, each once. Slots and not ids: a slot that is reused before its mark
    /// is gone must be listed for the new body.
    listed: Vec<Slot>,
    /// Where boxes are measured from.
    frame: Frame,
    /// The frame has changed: all boxes are computed again.
    all: bool,
    moved: Vec<BoxId>,
    renewed: Vec<Aabb>,
    /// Boxes since the last step that rounding shapes.
    coarse: usize,
}

/// What stands in a slot that holds no body.
const NOTHING: Shape = Shape::Sphere { radius: 0.0 };

impl Bodies {
    pub(crate) fn put(&mut self, id: BodyId, body: Body) {
        let slot = id.index();
        while self.shapes.len() <= slot {
            self.shapes.push(NOTHING);
            self.poses.push(Pose::IDENTITY);
            self.starts.push(Pose::IDENTITY);
            self.active.push(false);
            self.ids.push(id);
        }
        self.shapes[slot] = body.shape;
        self.poses[slot] = body.pose;
        self.starts[slot] = body.pose;
        self.ids[slot] = id;
    }

    /// The box of a body that is not in the world yet.
    pub(crate) fn bounds(&self, body: &Body) -> Aabb {
        self.frame.bounds(&body.shape, &body.pose)
    }

    /// Notes boxes that are being inserted.
    pub(crate) fn count_coarse(&mut self, boxes: &[Aabb]) {
        self.coarse += boxes.iter().filter(|aabb| aabb.is_coarse()).count();
    }

    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Measures boxes from elsewhere, from the next step on.
    pub(crate) fn set_frame(&mut self, frame: Frame) {
        self.all |= self.frame != frame;
        self.frame = frame;
    }

    /// Returns true if the frame has changed since the last step.
    #[cfg(feature = "serde")]
    pub(crate) fn renews_all(&self) -> bool {
        self.all
    }

    /// As many empty slots as there are boxes, to be filled by [`Bodies::restore`].
    #[cfg(feature = "serde")]
    pub(crate) fn restored(boxes: &Boxes, frame: Frame, all: bool) -> Bodies {
        let slots = boxes.slots();
        let id = |slot| BodyId::new(boxes.last_id(Slot::new(slot as u32)));
        let inserted = boxes.changes().inserted().iter();
        Bodies {
            shapes: vec![NOTHING; slots],
            poses: vec![Pose::IDENTITY; slots],
            starts: vec![Pose::IDENTITY; slots],
            active: vec![false; slots],
            ids: (0..slots).map(id).collect(),
            frame,
            all,
            coarse: inserted.filter(|slot| boxes.aabbs()[slot.index()].is_coarse()).count(),
            ..Bodies::default()
        }
    }

    /// Fills a slot. A body counts as moved if it says so, or if its box is not what an unmoved
    /// body has.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(
        &mut self,
        boxes: &Boxes,
        slot: Slot,
        (shape, pose): (Shape, Pose),
        start: Pose,
        moved: bool,
    ) {
        let k = slot.index();
        (self.shapes[k], self.poses[k], self.starts[k]) = (shape, pose, start);
        let fits = || self.all || boxes.aabbs()[k].same(&self.renewed_box(k, false));
        if moved || start != pose || !fits() {
            self.mark(self.ids[k]);
        }
    }

    pub(crate) fn pair(&self, pair: Pair) -> BodyPair {
        BodyPair::new(self.ids[pair.a().index()], self.ids[pair.b().index()])
    }

    /// Has everything tested again in the next step.
    pub(crate) fn mark_all(&mut self, boxes: &Boxes) {
        boxes.ids().for_each(|id| self.mark(BodyId::new(id)));
    }

    /// Lets go of a removed body's shape. Its mark stays until the step ends; it does no harm.
    pub(crate) fn clear(&mut self, id: BodyId) {
        self.shapes[id.index()] = NOTHING;
    }

    pub(crate) fn set_pose(&mut self, id: BodyId, pose: Pose) {
        if self.poses[id.index()] != pose {
            self.poses[id.index()] = pose;
            self.mark(id);
        }
    }

    pub(crate) fn teleport(&mut self, id: BodyId, pose: Pose) {
        self.set_pose(id, pose);
        self.starts[id.index()] = pose;
    }

    fn mark(&mut self, id: BodyId) {
        if !std::mem::replace(&mut self.active[id.index()], true) {
            self.listed.push(id.slot());
        }
    }

    /// Returns true if some body is active.
    pub(crate) fn any_active(&self) -> bool {
        !self.listed.is_empty()
    }

    pub(crate) fn placed(&self, slot: usize) -> Placed<'_> {
        Placed::new(&self.shapes[slot], self.poses[slot])
    }

    /// The motion of a body since the last step.
    pub(crate) fn sweep(&self, slot: usize) -> Sweep {
        Sweep::new(&self.shapes[slot], &self.starts[slot], &self.poses[slot])
    }

    /// Gives the boxes of active bodies their new bounds, and returns how many of the new boxes
    /// are coarse. Doing it twice does nothing more, so a step that fails later can be taken again.
    pub(crate) fn renew_boxes(
        &mut self,
        boxes: &mut Boxes,
        continuous: bool,
        workers: &Workers,
    ) -> usize {
        let mut moved = std::mem::take(&mut self.moved);
        let mut renewed = std::mem::take(&mut self.renewed);
        moved.clear();
        if self.all {
            moved.extend(boxes.ids());
        } else {
            let listed = self.listed.iter().map(|slot| self.ids[slot.index()].box_id());
            moved.extend(listed.filter(|&id| boxes.contains(id)));
        }
        renewed.resize(moved.len(), Aabb::default());
        workers.for_each_chunk(&mut renewed, RUN, |run, chunk| {
            for (place, aabb) in chunk.iter_mut().enumerate() {
                *aabb = self.renewed_box(moved[run * RUN + place].index(), continuous);
            }
        });
        boxes.set_many(&moved, &renewed).expect("these boxes exist and shapes have valid bounds");
        let coarse = renewed.iter().filter(|aabb| aabb.is_coarse()).count();
        (self.moved, self.renewed) = (moved, renewed);
        coarse + self.coarse
    }

    fn renewed_box(&self, slot: usize, continuous: bool) -> Aabb {
        let shape = &self.shapes[slot];
        if continuous && self.starts[slot] != self.poses[slot] {
            self.sweep(slot).bounds(shape, &self.frame)
        } else {
            self.frame.bounds(shape, &self.poses[slot])
        }
    }

    /// Where the bodies are now is where the next step starts. In continuous mode those that moved
    /// stay active for one more step, which gives them back the box of their place.
    pub(crate) fn end_step(&mut self, continuous: bool) {
        (self.all, self.coarse) = (false, 0);
        let (poses, starts, active) = (&self.poses, &mut self.starts, &mut self.active);
        self.listed.retain(|slot| {
            let slot = slot.index();
            let swept = std::mem::replace(&mut starts[slot], poses[slot]) != poses[slot];
            active[slot] = continuous && swept;
            active[slot]
        });
    }
}
