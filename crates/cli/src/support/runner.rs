//! [`Runner`]: a [`Stepper`] with a name for reports, on boxes that several runners share.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jostle::{Algorithm, Boxes, BroadPhase, Error, Stepper, Workers};

/// One broad phase with its tracker, and what it is called.
#[derive(Debug)]
pub struct Runner {
    /// What it is called in reports.
    pub name: String,
    stepper: Stepper,
}

impl std::ops::Deref for Runner {
    type Target = Stepper;

    fn deref(&self) -> &Stepper {
        &self.stepper
    }
}

impl Runner {
    /// A runner for an algorithm of the library.
    pub fn new(algorithm: Algorithm, workers: &Workers) -> Runner {
        Runner::with_broad_phase(algorithm.name(), algorithm.build(workers), workers)
    }

    /// A runner for any broad phase.
    pub fn with_broad_phase(name: &str, broad: Box<dyn BroadPhase>, workers: &Workers) -> Runner {
        Runner { name: name.to_owned(), stepper: Stepper::with_broad_phase(broad, workers) }
    }

    /// The stepper, to set it up.
    pub fn stepper_mut(&mut self) -> &mut Stepper {
        &mut self.stepper
    }

    /// Follows the boxes' pending changes. The caller commits the boxes after all runners.
    pub fn step(&mut self, boxes: &Boxes) -> Result<(), Error> {
        self.stepper.step(boxes).map(|_| ())
    }

    /// As [`Runner::step`], but a panic of the algorithm is returned as an error.
    pub fn guarded_step(&mut self, boxes: &Boxes, validate: bool) -> Result<(), String> {
        let work = AssertUnwindSafe(|| {
            let done = self.step(boxes).map_err(|error| error.to_string());
            if validate && done.is_ok() {
                self.stepper.validate(boxes);
            }
            done
        });
        catch_unwind(work).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("it panicked: {}", text.unwrap_or("without a message")))
        })
    }

    /// Number of threads it may use.
    pub fn threads(&self) -> usize {
        self.stepper.workers().count()
    }
}
