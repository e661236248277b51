//! [`Stage`]: the boxes or bodies on show, the broad phase that follows them, and another one on
//! the same motion if one is wanted.

use std::collections::BTreeSet;
use std::time::Duration;

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape};
use jostle::{
    Aabb, Algorithm, Body, BodyId, BoxId, Detector, Filter, Slot, Stepper, Workers, World,
};

use crate::Setup;
use crate::error::ViewError;
use crate::source::{Row, Rows};

/// Shapes of a world, by turns.
const SHAPES: usize = 6;

/// Boxes that a user threw are taken away beyond this distance.
const FAR: f32 = 1e6;

/// Boxes alone, or bodies with shapes.
enum Cast {
    Boxes(Box<Detector>),
    Bodies(Box<World>),
}

/// Something that a user added and that moves on its own.
struct Thrown {
    slot: Slot,
    velocity: [f32; 3],
}

/// The second broad phase.
pub(crate) struct Second {
    pub(crate) algorithm: Algorithm,
    pub(crate) stepper: Stepper,
}

/// See the [module](self).
pub(crate) struct Stage {
    cast: Cast,
    pub(crate) algorithm: Algorithm,
    threads: usize,
    /// The box of each row, and which birth of the row it is.
    members: Vec<Option<(Slot, u32)>>,
    /// Rows whose box a user removed, with the birth that is gone.
    hidden: BTreeSet<(usize, u32)>,
    thrown: Vec<Thrown>,
    pub(crate) second: Option<Second>,
    /// Why the last step was refused.
    pub(crate) refused: Option<String>,
    pub(crate) step_time: Duration,
    turn: f64,
}

impl Stage {
    pub(crate) fn new(setup: &Setup, shapes: bool) -> Result<Stage, ViewError> {
        let workers = Workers::new(setup.threads)?;
        let cast = match shapes {
            true => Cast::Bodies(Box::new(World::with_workers(setup.algorithm, workers))),
            false => Cast::Boxes(Box::new(Detector::with_workers(setup.algorithm, workers))),
        };
        Ok(Stage {
            cast,
            algorithm: setup.algorithm,
            threads: setup.threads,
            members: Vec::new(),
            hidden: BTreeSet::new(),
            thrown: Vec::new(),
            second: None,
            refused: None,
            step_time: Duration::ZERO,
            turn: 0.0,
        })
    }

    pub(crate) fn detector(&self) -> &Detector {
        match &self.cast {
            Cast::Boxes(detector) => detector,
            Cast::Bodies(world) => world.detector(),
        }
    }

    pub(crate) fn world(&self) -> Option<&World> {
        match &self.cast {
            Cast::Boxes(_) => None,
            Cast::Bodies(world) => Some(world),
        }
    }

    /// The detector, if there are boxes alone.
    pub(crate) fn plain(&mut self) -> Option<&mut Detector> {
        match &mut self.cast {
            Cast::Boxes(detector) => Some(detector),
            Cast::Bodies(_) => None,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Replaces the algorithm; no event is lost.
    pub(crate) fn set_algorithm(&mut self, algorithm: Algorithm) {
        self.algorithm = algorithm;
        match &mut self.cast {
            Cast::Boxes(detector) => detector.set_algorithm(algorithm),
            Cast::Bodies(world) => world.set_algorithm(algorithm),
        }
    }

    /// Runs on another number of threads from here on; no event is lost.
    pub(crate) fn set_threads(&mut self, threads: usize) -> Result<(), ViewError> {
        let (workers, algorithm) = (Workers::new(threads)?, self.algorithm);
        match &mut self.cast {
            Cast::Boxes(detector) if detector.recorder().is_some() => {
                return Err(ViewError::new("end the recording before changing the threads"));
            }
            Cast::Boxes(detector) => {
                let (boxes, pairs) = (detector.boxes().clone(), detector.pairs().to_vec());
                **detector = Detector::restore(algorithm, workers, boxes, &pairs)?;
            }
            Cast::Bodies(world) => **world = World::restore(algorithm, workers, world.snapshot())?,
        }
        self.threads = threads;
        Ok(())
    }

    /// Runs a second algorithm on the same boxes, or none.
    pub(crate) fn set_second(&mut self, algorithm: Option<Algorithm>) -> Result<(), ViewError> {
        let workers = Workers::new(self.threads)?;
        self.second = match (&self.cast, algorithm) {
            (_, None) => None,
            (Cast::Bodies(_), Some(_)) => {
                return Err(ViewError::new("a second algorithm follows boxes alone, not bodies"));
            }
            (Cast::Boxes(detector), Some(algorithm)) => {
                let mut stepper = Stepper::new(algorithm, &workers);
                stepper.restore_pairs(detector.boxes(), detector.pairs())?;
                Some(Second { algorithm, stepper })
            }
        };
        Ok(())
    }

    /// Makes the members what a frame says, except what the user removed, and moves what was
    /// thrown.
    pub(crate) fn follow(&mut self, rows: &Rows) -> Result<(), ViewError> {
        self.turn += 0.03;
        self.members.resize(self.members.len().max(rows.len()), None);
        let (mut ids, mut places) = (Vec::new(), Vec::new());
        for number in 0..self.members.len() {
            let row = rows.get(number).copied().flatten();
            let row = row.filter(|row| !self.hidden.contains(&(number, row.birth)));
            match (self.members[number], row) {
                (Some((slot, birth)), Some(row)) if birth == row.birth => {
                    ids.push(slot);
                    places.push((number, row));
                }
                (old, new) => {
                    if let Some((slot, _)) = old {
                        self.take(slot)?;
                    }
                    self.members[number] = match new {
                        Some(row) => Some((self.put(number, &row)?, row.birth)),
                        None => None,
                    };
                }
            }
        }
        self.place(&ids, &places)?;
        self.move_thrown()
    }

    /// Moves many at once.
    fn place(&mut self, slots: &[Slot], places: &[(usize, Row)]) -> Result<(), ViewError> {
        let turn = self.turn;
        match &mut self.cast {
            Cast::Boxes(detector) => {
                let boxes = detector.boxes_mut();
                let ids: Vec<BoxId> = slots.iter().filter_map(|&slot| boxes.id_at(slot)).collect();
                let aabbs: Vec<Aabb> = places.iter().map(|(_, row)| row.aabb).collect();
                boxes.set_many(&ids, &aabbs)?;
            }
            Cast::Bodies(world) => {
                let ids: Vec<BodyId> = slots.iter().filter_map(|&slot| world.id_at(slot)).collect();
                let poses: Result<Vec<Pose>, _> =
                    places.iter().map(|(number, row)| pose(*number, &row.aabb, turn)).collect();
                world.set_poses(&ids, &poses.map_err(ViewError::new)?)?;
            }
        }
        Ok(())
    }

    fn put(&mut self, number: usize, row: &Row) -> Result<Slot, ViewError> {
        Ok(match &mut self.cast {
            Cast::Boxes(detector) => detector.insert(row.aabb, row.filter)?.slot(),
            Cast::Bodies(world) => {
                let pose = pose(number, &row.aabb, self.turn).map_err(ViewError::new)?;
                let mut body = Body::new(shape(number, &row.aabb).map_err(ViewError::new)?, pose);
                body.filter = row.filter;
                world.insert(body)?.slot()
            }
        })
    }

    fn take(&mut self, slot: Slot) -> Result<(), ViewError> {
        match &mut self.cast {
            Cast::Boxes(detector) => {
                if let Some(id) = detector.boxes().id_at(slot) {
                    detector.remove(id)?;
                }
            }
            Cast::Bodies(world) => {
                if let Some(id) = world.id_at(slot) {
                    world.remove(id)?;
                }
            }
        }
        Ok(())
    }

    fn move_thrown(&mut self) -> Result<(), ViewError> {
        for Thrown { slot, velocity } in std::mem::take(&mut self.thrown) {
            let old = self.detector().boxes().aabbs()[slot.index()];
            let shifted = |bound: [f32; 3]| std::array::from_fn(|k| bound[k] + velocity[k]);
            let aabb = Aabb::new(shifted(old.min), shifted(old.max));
            if aabb.check().is_err() || aabb.max.iter().any(|bound| bound.abs() > FAR) {
                self.take(slot)?;
                continue;
            }
            let row = Row { aabb, filter: Filter::ALL, birth: 0 };
            self.place(&[slot], &[(slot.index(), row)])?;
            self.thrown.push(Thrown { slot, velocity });
        }
        Ok(())
    }

    /// Adds a box of the user's, which moves by its velocity in every step.
    pub(crate) fn throw(&mut self, aabb: Aabb, velocity: [f32; 3]) -> Result<Slot, ViewError> {
        let number = self.detector().boxes().len();
        let slot = self.put(number, &Row { aabb, filter: Filter::ALL, birth: 0 })?;
        self.thrown.push(Thrown { slot, velocity });
        Ok(slot)
    }

    /// Removes a box; a box of the source does not come back until it restarts.
    pub(crate) fn remove(&mut self, slot: Slot) -> Result<(), ViewError> {
        if !self.detector().boxes().is_live(slot) {
            return Err(ViewError::new(format!("there is no box {slot}")));
        }
        self.take(slot)?;
        self.thrown.retain(|thrown| thrown.slot != slot);
        let at = self.members.iter().position(|member| member.is_some_and(|(one, _)| one == slot));
        if let Some((_, birth)) = at.and_then(|number| self.members[number].take()) {
            self.hidden.insert((at.unwrap_or(0), birth));
        }
        Ok(())
    }

    /// Finds the pairs. A refusal is kept to be shown.
    pub(crate) fn step(&mut self) {
        let boxes = match &self.cast {
            Cast::Boxes(detector) => detector.boxes(),
            Cast::Bodies(world) => world.detector().boxes(),
        };
        if let Some(second) = &mut self.second {
            // It is refused if the first is.
            let _ = second.stepper.step(boxes);
        }
        let start = std::time::Instant::now();
        let done = match &mut self.cast {
            Cast::Boxes(detector) => detector.step().map(|_| ()),
            Cast::Bodies(world) => world.step().map(|_| ()),
        };
        self.step_time = start.elapsed();
        self.refused = done.err().map(|error| error.to_string());
    }
}

fn centre(aabb: &Aabb) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|k| {
        (f64::from(aabb.min[k]) + f64::from(aabb.max[k])) / 2.0
    }))
}

/// In the middle of its box, turned a little further in every step.
fn pose(number: usize, aabb: &Aabb, turn: f64) -> Result<Pose, jostle::shape::PoseError> {
    let tilt = number as f64 * 0.7;
    let axis = DVec3::new(tilt.sin(), 1.0, tilt.cos()).normalize();
    Pose::new(DQuat::from_axis_angle(axis, turn * (1.0 + (number % 3) as f64)), centre(aabb))
}

/// A shape about as large as its box.
fn shape(number: usize, aabb: &Aabb) -> Result<Shape, jostle::shape::ShapeError> {
    let half = std::array::from_fn(|k| f64::from(aabb.extent(k)) / 2.0);
    let half = DVec3::from_array(half);
    let round = half.min_element();
    match number % SHAPES {
        0 => Shape::sphere(round),
        1 => Shape::cuboid(half),
        2 => Shape::capsule(round / 2.0, round / 2.0),
        3 => Shape::cylinder(round * 0.7, round),
        4 => Shape::cone(round, round),
        _ => Shape::hull(&DVec3::AXES.map(|axis| [axis * half, -axis * half]).concat()),
    }
}
