//! [`Bodies`]: shapes and poses by slot, and which of them have moved.

use std::fmt;

use super::BodyId;
use super::sweep::Way;
use crate::aabb::{Aabb, round_down, round_up};
use crate::boxes::Boxes;
use crate::error::BoxError;
use crate::filter::Filter;
use crate::id::BoxId;
use crate::narrow::TOUCH;
use crate::par::Workers;
use crate::shape::{Pose, Shape, ShapeError};

/// Boxes that one task computes.
const RUN: usize = 256;

/// What is put into a [`World`](super::World).
#[derive(Clone, Debug)]
pub struct Body {
    /// Its shape.
    pub shape: Shape,
    /// Where it is.
    pub pose: Pose,
    /// With what it may pair.
    pub filter: Filter,
}

impl Body {
    /// A body that pairs with everything.
    pub fn new(shape: Shape, pose: Pose) -> Body {
        Body { shape, pose, filter: Filter::ALL }
    }

    pub(super) fn check(&self, index: usize) -> Result<(), WorldError> {
        self.shape.check().map_err(|fault| WorldError::Shape { index, fault })
    }

    pub(super) fn bounds(&self) -> Aabb {
        bounds(&self.shape, &self.pose)
    }
}

/// Why a [`World`](super::World) refused a change. It is as it was before.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WorldError {
    /// A shape that was not made by its constructor is wrong.
    Shape {
        /// Place of the body in the batch; 0 where one was given.
        index: usize,
        /// What is wrong with its shape.
        fault: ShapeError,
    },
    /// An id or a batch was refused. Bodies and their boxes have the same ids.
    Body(BoxError),
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::Shape { index, fault } => write!(f, "body {index}: {fault}"),
            WorldError::Body(fault) => fault.fmt(f),
        }
    }
}

impl std::error::Error for WorldError {}

impl From<BoxError> for WorldError {
    fn from(fault: BoxError) -> WorldError {
        WorldError::Body(fault)
    }
}

/// The box of a placed shape, larger by its share of the tolerance of touching.
pub(super) fn bounds(shape: &Shape, pose: &Pose) -> Aabb {
    let aabb = shape.bounds(pose);
    if !shape.is_bounded() {
        // The tolerance refers to the other shape alone, whose box is larger by it.
        return aabb;
    }
    grown(&aabb, TOUCH * shape.bounding_radius())
}

/// A box made larger on all sides, rounded outward.
pub(super) fn grown(aabb: &Aabb, by: f64) -> Aabb {
    Aabb {
        min: aabb.min.map(|bound| round_down(f64::from(bound) - by)),
        max: aabb.max.map(|bound| round_up(f64::from(bound) + by)),
    }
}

/// Shapes and poses by slot. Slots without a body hold what was last there.
#[derive(Default)]
pub(super) struct Bodies {
    pub shapes: Vec<Shape>,
    pub poses: Vec<Pose>,
    /// Where the last step left the body.
    pub starts: Vec<Pose>,
    /// Whether the body moved since the last step, or swept a way in it: then its box and its
    /// answers are renewed.
    pub active: Vec<bool>,
    /// The slots marked active, each once.
    listed: Vec<BodyId>,
    ids: Vec<BoxId>,
    renewed: Vec<Aabb>,
}

/// What stands in a slot that holds no body.
const NOTHING: Shape = Shape::Sphere { radius: 0.0 };

impl Bodies {
    pub fn put(&mut self, id: BodyId, body: Body) {
        let slot = id.index();
        while self.shapes.len() <= slot {
            self.shapes.push(NOTHING);
            self.poses.push(Pose::IDENTITY);
            self.starts.push(Pose::IDENTITY);
            self.active.push(false);
        }
        self.shapes[slot] = body.shape;
        self.poses[slot] = body.pose;
        self.starts[slot] = body.pose;
    }

    /// Lets go of a removed body's shape. Its mark stays until the step ends; it does no harm.
    pub fn clear(&mut self, id: BodyId) {
        self.shapes[id.index()] = NOTHING;
    }

    pub fn set_pose(&mut self, id: BodyId, pose: Pose) {
        if self.poses[id.index()] != pose {
            self.poses[id.index()] = pose;
            self.mark(id);
        }
    }

    pub fn teleport(&mut self, id: BodyId, pose: Pose) {
        self.set_pose(id, pose);
        self.starts[id.index()] = pose;
    }

    fn mark(&mut self, id: BodyId) {
        if !std::mem::replace(&mut self.active[id.index()], true) {
            self.listed.push(id);
        }
    }

    /// The way of a body since the last step.
    pub fn way(&self, slot: usize) -> Way {
        Way::new(&self.shapes[slot], &self.starts[slot], &self.poses[slot])
    }

    /// Gives the boxes of active bodies their new bounds. Doing it twice does nothing more, so a
    /// step that fails later can be taken again.
    pub fn renew_boxes(&mut self, boxes: &mut Boxes, continuous: bool, workers: &Workers) {
        let mut ids = std::mem::take(&mut self.ids);
        let mut renewed = std::mem::take(&mut self.renewed);
        ids.clear();
        ids.extend(self.listed.iter().copied().filter(|&id| boxes.contains(id)));
        renewed.resize(ids.len(), Aabb::default());
        workers.for_each_chunk(&mut renewed, RUN, |run, chunk| {
            for (place, aabb) in chunk.iter_mut().enumerate() {
                *aabb = self.renewed_box(ids[run * RUN + place].index(), continuous);
            }
        });
        boxes.set_many(&ids, &renewed).expect("these boxes exist and shapes have valid bounds");
        (self.ids, self.renewed) = (ids, renewed);
    }

    fn renewed_box(&self, slot: usize, continuous: bool) -> Aabb {
        let shape = &self.shapes[slot];
        if continuous && self.starts[slot] != self.poses[slot] {
            self.way(slot).bounds(shape)
        } else {
            bounds(shape, &self.poses[slot])
        }
    }

    /// Where the bodies are now is where the next step starts. In continuous mode those that swept
    /// a way stay active for one more step, which gives them back the box of their place.
    pub fn end_step(&mut self, continuous: bool) {
        let (poses, starts, active) = (&self.poses, &mut self.starts, &mut self.active);
        self.listed.retain(|id| {
            let slot = id.index();
            let swept = std::mem::replace(&mut starts[slot], poses[slot]) != poses[slot];
            active[slot] = continuous && swept;
            active[slot]
        });
    }
}
