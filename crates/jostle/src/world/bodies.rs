//! [`Bodies`]: shapes and poses by slot, and which of them have moved.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::body::Body;
use super::bounds::Frame;
use super::id::{BodyId, BodyPair};
use super::sweep::Sweep;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::id::{BoxId, Slot};
use crate::narrow::{Placed, Round};
use crate::pair::Pair;
use crate::par::Workers;
use crate::shape::{Pose, Shape};
use glam::DVec3;

/// Boxes that are computed in one go.
const RUN: usize = 256;

/// Poses that are copied in one go.
const COPIED: usize = 1 << 12;

/// Why the answers of a body's pairs are computed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Active {
    /// They are not.
    #[default]
    No,
    /// It moved since the last step, or during it in continuous mode.
    Moved,
    /// It is not what it was: nothing known of its pairs holds.
    Changed,
}

/// What a body is, besides its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Kind {
    pub sensor: bool,
    pub continuous: bool,
    pub asleep: bool,
}

/// Shapes and poses by slot. Slots without a body hold what was last there.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    pub shapes: Vec<Shape>,
    pub poses: Vec<Pose>,
    /// Where the last step left the body.
    pub starts: Vec<Pose>,
    /// Bodies whose boxes and answers are computed again.
    pub active: Vec<Active>,
    pub kinds: Vec<Kind>,
    /// Those that are balls and no sensors: a closed form of a few numbers answers for two of them,
    /// and these are all that it reads.
    pub rounds: Vec<Round>,
    /// Who is, or was last, in a slot: ended pairs still name bodies that are gone.
    pub ids: Vec<BodyId>,
    /// How much larger than their shapes boxes are.
    margins: Vec<f64>,
    /// The slots marked active, each once. Slots and not ids: a slot that is reused before its mark
    /// is gone must be listed for the new body.
    listed: Vec<Slot>,
    /// Where boxes are measured from.
    frame: Frame,
    /// The frame has changed: all boxes are computed again.
    all: bool,
    /// Bodies that sleep.
    asleep: usize,
    moved: Vec<BoxId>,
    renewed: Vec<Aabb>,
    /// Boxes since the last step that rounding shapes.
    coarse: usize,
}

/// What stands in a slot that holds no body.
const NOTHING: Shape = Shape::Sphere { radius: 0.0 };
const NOT_ROUND: Round = Round { center: DVec3::ZERO, radius: f64::NAN };

impl Bodies {
    pub(crate) fn put(&mut self, id: BodyId, body: Body) {
        let slot = id.index();
        while self.shapes.len() <= slot {
            self.shapes.push(NOTHING);
            self.poses.push(Pose::IDENTITY);
            self.starts.push(Pose::IDENTITY);
            self.active.push(Active::No);
            self.kinds.push(Kind::default());
            self.rounds.push(NOT_ROUND);
            self.ids.push(id);
            self.margins.push(0.0);
        }
        self.margins[slot] = self.frame.margin(&body.shape);
        self.shapes[slot] = body.shape;
        self.poses[slot] = body.pose;
        self.starts[slot] = body.pose;
        self.kinds[slot] = Kind { sensor: body.sensor, continuous: body.continuous, asleep: false };
        self.ids[slot] = id;
        self.note_round(slot);
    }

    /// Notes whether a body is a ball. Whatever changes that has its pairs tested again: the
    /// contacts of those that are not are made from it.
    fn note_round(&mut self, slot: usize) {
        let radius = match self.shapes[slot] {
            Shape::Sphere { radius } if !self.kinds[slot].sensor => radius,
            _ => f64::NAN,
        };
        self.rounds[slot] = Round { center: self.poses[slot].translation(), radius };
    }

    /// The box of a body that is not in the world yet.
    pub(crate) fn bounds(&self, body: &Body) -> Aabb {
        self.frame.bounds(&body.shape, &body.pose, self.frame.margin(&body.shape))
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
        for (margin, shape) in self.margins.iter_mut().zip(&self.shapes) {
            *margin = frame.margin(shape);
        }
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
            active: vec![Active::No; slots],
            kinds: vec![Kind::default(); slots],
            rounds: vec![NOT_ROUND; slots],
            ids: (0..slots).map(id).collect(),
            margins: vec![0.0; slots],
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
        (shape, pose, kind): (Shape, Pose, Kind),
        start: Pose,
        active: Active,
    ) {
        let k = slot.index();
        self.margins[k] = self.frame.margin(&shape);
        (self.shapes[k], self.poses[k], self.starts[k]) = (shape, pose, start);
        self.kinds[k] = kind;
        self.asleep += usize::from(kind.asleep);
        self.note_round(k);
        let fits = || self.all || boxes.aabbs()[k].same(&self.renewed_box(k, false));
        if active == Active::Changed {
            self.mark(self.ids[k], active);
        } else if active == Active::Moved || start != pose || !fits() {
            self.mark(self.ids[k], Active::Moved);
        }
    }

    pub(crate) fn pair(&self, pair: Pair) -> BodyPair {
        BodyPair::new(self.ids[pair.a().index()], self.ids[pair.b().index()])
    }

    /// Has everything tested again in the next step.
    pub(crate) fn mark_all(&mut self, boxes: &Boxes) {
        boxes.ids().for_each(|id| self.mark(BodyId::new(id), Active::Changed));
    }

    /// Lets go of a removed body's shape. Its mark stays until the step ends; it does no harm.
    pub(crate) fn clear(&mut self, id: BodyId) {
        self.set_asleep(id.index(), false);
        self.shapes[id.index()] = NOTHING;
    }

    pub(crate) fn set_pose(&mut self, id: BodyId, pose: Pose) {
        let slot = id.index();
        if self.poses[slot] != pose {
            self.poses[slot] = pose;
            self.rounds[slot].center = pose.translation();
            self.mark(id, Active::Moved);
            self.set_asleep(slot, false);
        }
    }

    pub(crate) fn teleport(&mut self, id: BodyId, pose: Pose) {
        self.set_pose(id, pose);
        self.starts[id.index()] = pose;
    }

    pub(crate) fn set_shape(&mut self, id: BodyId, shape: Shape) {
        let slot = id.index();
        self.margins[slot] = self.frame.margin(&shape);
        self.shapes[slot] = shape;
        self.note_round(slot);
        self.mark(id, Active::Changed);
        self.set_asleep(slot, false);
    }

    pub(crate) fn set_sensor(&mut self, id: BodyId, sensor: bool) {
        if std::mem::replace(&mut self.kinds[id.index()].sensor, sensor) != sensor {
            self.note_round(id.index());
            self.mark(id, Active::Changed);
        }
    }

    pub(crate) fn set_asleep(&mut self, slot: usize, asleep: bool) {
        if std::mem::replace(&mut self.kinds[slot].asleep, asleep) != asleep {
            self.asleep = if asleep { self.asleep + 1 } else { self.asleep - 1 };
        }
    }

    /// Returns true if some body sleeps.
    pub(crate) fn any_asleep(&self) -> bool {
        self.asleep > 0
    }

    fn mark(&mut self, id: BodyId, why: Active) {
        let active = &mut self.active[id.index()];
        if *active == Active::No {
            self.listed.push(id.slot());
        }
        if *active != Active::Changed {
            *active = why;
        }
    }

    /// Returns true if some body is active.
    pub(crate) fn any_active(&self) -> bool {
        !self.listed.is_empty()
    }

    pub(crate) fn placed(&self, slot: usize) -> Placed<'_> {
        Placed::new(&self.shapes[slot], self.poses[slot])
    }

    /// The motion of a body since the last step; none for a body that is not continuous, which
    /// stands where it is.
    pub(crate) fn sweep(&self, slot: usize, continuous: bool) -> Sweep {
        let moves = continuous || self.kinds[slot].continuous;
        let start = if moves { &self.starts[slot] } else { &self.poses[slot] };
        Sweep::new(&self.shapes[slot], start, &self.poses[slot])
    }

    /// Gives the boxes of active bodies their new bounds, and returns how many of the new boxes
    /// are coarse. Doing it twice does nothing more, so a step that fails later can be taken again.
    pub(crate) fn renew_boxes(
        &mut self,
        boxes: &mut Boxes,
        continuous: bool,
        workers: &Workers,
    ) -> usize {
        let most = 2 * self.listed.len() > boxes.len();
        if boxes.is_dense() && (self.all || most) {
            return self.renew_all(boxes, continuous, workers);
        }
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
        let coarse = AtomicUsize::new(self.coarse);
        workers.for_each_chunk(&mut renewed, RUN, |run, chunk| {
            let mut rounded = 0;
            for (place, aabb) in chunk.iter_mut().enumerate() {
                *aabb = self.renewed_box(moved[run * RUN + place].index(), continuous);
                rounded += usize::from(aabb.is_coarse());
            }
            coarse.fetch_add(rounded, Ordering::Relaxed);
        });
        boxes.set_many(&moved, &renewed).expect("these boxes exist and shapes have valid bounds");
        (self.moved, self.renewed) = (moved, renewed);
        coarse.into_inner()
    }

    /// The same where most bodies have moved and every slot holds one: the boxes are written on
    /// all workers, and no id is looked up.
    fn renew_all(&mut self, boxes: &mut Boxes, continuous: bool, workers: &Workers) -> usize {
        let mut renewed = std::mem::take(&mut self.renewed);
        renewed.resize(boxes.len(), Aabb::default());
        let coarse = AtomicUsize::new(self.coarse);
        let old = boxes.aabbs();
        workers.for_each_chunk(&mut renewed, RUN, |run, chunk| {
            let mut rounded = 0;
            for (slot, aabb) in (run * RUN..).zip(chunk) {
                if self.all || self.active[slot] != Active::No {
                    *aabb = self.renewed_box(slot, continuous);
                    rounded += usize::from(aabb.is_coarse());
                } else {
                    *aabb = old[slot];
                }
            }
            coarse.fetch_add(rounded, Ordering::Relaxed);
        });
        boxes.set_all(&renewed).expect("shapes have valid bounds");
        self.renewed = renewed;
        coarse.into_inner()
    }

    fn renewed_box(&self, slot: usize, continuous: bool) -> Aabb {
        let (shape, margin) = (&self.shapes[slot], self.margins[slot]);
        let sweeps = continuous || self.kinds[slot].continuous;
        if sweeps && self.starts[slot] != self.poses[slot] {
            self.sweep(slot, continuous).bounds(shape, &self.frame, margin)
        } else {
            self.frame.bounds(shape, &self.poses[slot], margin)
        }
    }

    /// Where the bodies are now is where the next step starts. In continuous mode those that moved
    /// stay active for one more step, which gives them back the box of their place.
    pub(crate) fn end_step(&mut self, continuous: bool, workers: &Workers) {
        (self.all, self.coarse) = (false, 0);
        let Bodies { poses, starts, active, kinds, listed, .. } = self;
        // If many have moved and none goes on moving, all are copied: bodies that are not listed
        // are where they started anyway.
        let many = 4 * listed.len() > poses.len();
        if many && !continuous && !kinds.iter().any(|kind| kind.continuous) {
            workers.for_each_chunk(starts, COPIED, |run, starts| {
                starts.copy_from_slice(&poses[run * COPIED..][..starts.len()]);
            });
            active.fill(Active::No);
            listed.clear();
            return;
        }
        listed.retain(|slot| {
            let slot = slot.index();
            let swept = std::mem::replace(&mut starts[slot], poses[slot]) != poses[slot];
            let stays = (continuous || kinds[slot].continuous) && swept;
            active[slot] = if stays { Active::Moved } else { Active::No };
            stays
        });
    }
}
