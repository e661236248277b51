//! `verlet`: lists of the pairs that are near each other, tested again from step to step.
//!
//! # Idea
//!
//! Molecular dynamics keeps, for each particle, the neighbours within a distance a little above the
//! one that counts, and looks for neighbours again only when something may have moved through that
//! skin (Verlet, *Computer Experiments on Classical Fluids*, 1967). Here every box is grown by a
//! skin, the pairs of grown boxes are the candidates, and a step tests the candidates alone. What
//! flips is an event; nothing is sorted but the flips, and no tree is walked.
//!
//! ```text
//! read        the boxes, in an order of space; those further than the skin from where they were
//!             when the list was made are loose from now on
//! test        the candidates that can have changed; each flip began or ended
//! search      what the loose boxes overlap, in the tree of grown boxes
//! build       a share of the next list: where boxes are, a slice of its candidates; when done,
//!             it takes the place of the present one
//! ```
//!
//! The list is made over several steps while the one before is in use, so no step takes much longer
//! than another: the skin covers both times. Candidates are in classes by how deep they overlap or
//! how far they are apart (`list.rs`), and a step leaves out those that the furthest moved box
//! cannot have reached yet. The skin comes from the measured motion (`motion.rs`). As long as lists
//! are not expected to pay, because boxes move fast or there are too many candidates, a
//! [`bvh`](super::bvh) does the work; it also gives the first list its order.
//!
//! # Papers
//!
//! Verlet, 1967; Páll and Hess, *A flexible algorithm for calculating pair interactions on SIMD
//! architectures*, 2013 (lists of clusters with two skins, of which the outer one is pruned);
//! Plimpton, *Fast Parallel Algorithms for Short-Range Molecular Dynamics*, 1995. The fat boxes of
//! Box2D are the same idea for a tree.
//!
//! # Cost
//!
//! O(n + candidates in reach) a step, O(n log n) for a list, spread over its life. Memory: for each
//! box 68 bytes and 9 for each candidate, twice while the next list is made, and 28 for the tree.
//!
//! # When to choose it
//!
//! When most boxes move, each by a few hundredths of its width in a step. Not when they move a
//! tenth of it or more: then it is a `bvh`. Not when many come and go in every step.
//!
//! # Departures
//!
//! 1. Boxes that leave their skin early do not end the list: they are searched for one by one until
//!    the next list has them. If there are too many, the lists are given up for a while.
//! 2. One skin for all boxes, not one by size: what counts is how far they move.
//! 3. Whether a candidate overlaps is one bit beside the list; the flips are the events, so the set
//!    of pairs is never compared as a whole.
//!
//! # What is open
//!
//! With all boxes moving 0.02 widths a step, steps between two lists take less than half the time
//! of `bvh` at density 0.05 and three quarters at 0.35. Making a list costs several such steps, so
//! those that do a share of it are the longest by far, and the mean gains a fifth and a twelfth
//! only. That is why `auto` does not choose it yet. Finding the candidates of the next list among
//! those of a wider one, as Páll and Hess do, is untried.

mod active;
mod generation;
mod list;
mod loose;
mod motion;
#[cfg(test)]
mod tests;

use crate::boxes::{Boxes, Follower};
use crate::broad::bvh::Bvh;
use crate::broad::contract::{BroadPhase, Report};
use crate::error::Error;
use crate::pair::PairBuffer;
use crate::par::Workers;
use crate::queries::BoxQueries;
use crate::stats::{StageClock, Stats};

use active::{Lists, TooLoose};
use generation::{Builder, Progress, SLICES};
use motion::Motion;

/// Steps from the one in which the next list notes where the boxes are to its first use.
const LEAD: u32 = SLICES + 1;

/// Fewer boxes than this are not worth a list.
const FEW: usize = 48;

/// For how many steps lists are not tried again after they did not pay.
const PAUSE: u32 = 48;

/// See the [module](self).
#[derive(Clone, Debug)]
pub struct Verlet {
    workers: Workers,
    follower: Follower,
    /// Finds the pairs while there are no lists.
    base: Bvh,
    lists: Lists,
    listed: bool,
    builder: Builder,
    motion: Motion,
    /// Number of overlapping pairs.
    pairs: usize,
    /// For how many steps no list is begun.
    pause: u32,
    generations: u64,
    clock: StageClock,
}

impl Verlet {
    /// A new instance that runs on `workers`.
    pub fn new(workers: &Workers) -> Verlet {
        Verlet {
            workers: workers.clone(),
            follower: Follower::default(),
            base: Bvh::new(workers),
            lists: Lists::default(),
            listed: false,
            builder: Builder::default(),
            motion: Motion::default(),
            pairs: 0,
            pause: 0,
            generations: 0,
            clock: StageClock::default(),
        }
    }

    /// Forgets the lists, and their memory.
    fn give_up(&mut self) {
        self.lists = Lists::default();
        self.listed = false;
        self.builder.stop();
        self.pause = PAUSE;
    }

    /// A step with lists. Returns none if they do not pay any more.
    fn step_lists(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<bool, Error> {
        if let Err(TooLoose) = self.lists.follow(boxes, &self.workers) {
            return Ok(false);
        }
        self.clock.end("read");
        self.lists.find(boxes, &self.workers, found)?;
        self.pairs = (self.pairs + found.len()).saturating_sub(found.ended().len());
        if self.pairs > found.limit() {
            return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
        }
        self.clock.end("test");
        Ok(true)
    }

    /// A step of the tree.
    fn step_base(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        let report = self.base.update(boxes, found)?;
        self.pairs = match report {
            Report::Full => found.len(),
            Report::Delta => (self.pairs + found.len()).saturating_sub(found.ended().len()),
        };
        self.clock.end("tree");
        Ok(report)
    }

    /// Begins the next list if it is time, or does this step's share of it.
    fn build(&mut self, boxes: &Boxes, limit: usize) {
        if self.builder.is_idle() && !self.begin(boxes) {
            return;
        }
        match self.builder.advance(boxes, &self.workers) {
            Progress::Busy => {}
            // Lists in use remain good until their skin is used up.
            Progress::TooMany => self.pause = PAUSE,
            Progress::Ready => self.activate(boxes, limit),
        }
    }

    /// Goes over to the list that was built.
    fn activate(&mut self, boxes: &Boxes, limit: usize) {
        let next = &mut self.builder.next;
        if self.lists.activate(next, boxes, &self.workers, limit).is_err() {
            // The tree has not followed while there were lists; it reads all boxes in its next
            // step, and reports all pairs.
            return self.give_up();
        }
        if !self.listed {
            self.base = Bvh::new(&self.workers);
        }
        self.listed = true;
        self.generations += 1;
    }

    /// Returns true if the next list was begun.
    fn begin(&mut self, boxes: &Boxes) -> bool {
        let changed = boxes.changes().moved().len();
        if self.pause > 0 || boxes.len() < FEW {
            return false;
        }
        if self.listed {
            // The skin has to last until the next list is in use.
            let ahead = self.motion.speed * (LEAD + 2) as f32;
            if self.lists.furthest + ahead < self.lists.generation.skin {
                return false;
            }
        }
        let skin = self.motion.plan(boxes.len(), self.pairs, changed, self.listed);
        let Some(skin) = skin else { return false };
        if self.listed {
            self.lists.begin_next(&mut self.builder, skin);
        } else {
            self.base.list_order(&mut self.builder.next.slots);
            self.builder.note_fresh_order();
            self.builder.begin(skin, 0);
        }
        true
    }
}

impl BroadPhase for Verlet {
    fn name(&self) -> &str {
        "verlet"
    }

    fn update(&mut self, boxes: &Boxes, found: &mut PairBuffer) -> Result<Report, Error> {
        self.clock.start();
        let continues = self.follower.begin(boxes);
        if self.listed && !continues {
            self.give_up();
            self.pause = 0;
        }
        if continues && boxes.changes().is_empty() {
            self.lists.tests = 0;
            self.follower.done(boxes);
            if !self.listed {
                // It follows every step, so that it never has to start over.
                self.base.update(boxes, found)?;
            }
            return Ok(Report::Delta);
        }
        self.motion.look(boxes, continues);
        let report = if self.listed && self.step_lists(boxes, found)? {
            Report::Delta
        } else {
            if self.listed {
                self.give_up();
            }
            self.step_base(boxes, found)?
        };
        self.pause = self.pause.saturating_sub(1);
        if continues {
            self.build(boxes, found.limit());
            self.clock.end("build");
        }
        self.follower.done(boxes);
        Ok(report)
    }

    fn tests(&self) -> u64 {
        if self.listed { self.lists.tests } else { self.base.tests() }
    }

    fn queries(&self) -> Option<&dyn BoxQueries> {
        if self.listed { None } else { self.base.queries() }
    }

    fn stats(&self) -> Stats {
        let mut stats = if self.listed { Stats::default() } else { self.base.stats() };
        stats.tests = self.tests();
        stats.bytes += self.lists.bytes() + self.builder.bytes();
        let listed = if self.listed { self.lists.generation.candidates() } else { 0 };
        stats.counts.extend([
            ("candidates", listed as f64),
            ("loose", self.lists.loose.slots.len() as f64),
            ("lists", self.generations as f64),
            ("orders", self.builder.orders as f64),
            ("skin", f64::from(self.lists.generation.skin)),
        ]);
        stats.stages = self.clock.stages().to_vec();
        stats
    }

    fn validate(&self, boxes: &Boxes) {
        if self.listed { self.lists.validate(boxes) } else { self.base.validate(boxes) }
    }
}
