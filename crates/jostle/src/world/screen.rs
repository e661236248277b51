//! [`Screen`]: decides pairs before the narrow phase sees them.
//!
//! A screen is a faster, rougher judge: where it is sure that two bodies are apart, the narrow
//! phase is not asked. It may leave any pair undecided, and must be right about the others, so a
//! world gives the same bytes with a screen and without. `jostle-gpu` has one that runs on a GPU.
//!
//! For that, an answer must not depend on questions that were never asked. A pair that did not
//! touch in the last step is therefore answered from an empty memory, once its memory does not
//! prove by more than rounding that it is still apart: see `PairTest`.

use std::fmt::Debug;

use crate::error::Error;
use crate::pair::Pair;
use crate::shape::{Pose, Shape};

/// What a [`Screen`] says about a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It cannot tell.
    #[default]
    Undecided,
    /// The bodies are surely apart, by more than [`TOUCH`](crate::narrow::TOUCH).
    Apart,
    /// The bodies surely touch or overlap.
    Overlapping,
}

/// Decides pairs of bodies before the narrow phase; see [`World::set_screen`].
///
/// [`World::set_screen`]: crate::World::set_screen
pub trait Screen: CloneScreen + Debug + Send + Sync {
    /// Decides each pair, in order, into the empty list. Shapes and poses are by slot; slots that
    /// no pair names may hold anything. After an error the list is ignored, and the narrow phase
    /// answers every pair.
    fn screen(
        &mut self,
        shapes: &[Shape],
        poses: &[Pose],
        pairs: &[Pair],
        decisions: &mut Vec<Decision>,
    ) -> Result<(), Error>;
}

/// Clones a [`Screen`] behind a pointer. Every screen that is [`Clone`] has this.
pub trait CloneScreen {
    /// A copy that decides alike.
    fn clone_box(&self) -> Box<dyn Screen>;
}

impl<S: Screen + Clone + 'static> CloneScreen for S {
    fn clone_box(&self) -> Box<dyn Screen> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Screen> {
    fn clone(&self) -> Box<dyn Screen> {
        (**self).clone_box()
    }
}

/// How many pairs a [`Screen`] decided in a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Screened {
    /// Pairs it said are apart: the narrow phase was not asked.
    pub apart: usize,
    /// Pairs it said overlap: the narrow phase found their contacts.
    pub overlapping: usize,
    /// Pairs that it left to the narrow phase.
    pub undecided: usize,
    /// Why it could not decide anything, if so. Nothing is lost by it but time.
    pub fault: Option<String>,
}

/// A screen with its memory for a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Screening {
    pub screen: Option<Box<dyn Screen>>,
    pairs: Vec<Pair>,
    places: Vec<u32>,
    found: Vec<Decision>,
    /// By place of the pair; empty if there is nothing to know.
    pub decisions: Vec<Decision>,
}

impl Screening {
    /// Decides the pairs that are due, given with their places among all of `count`.
    pub(crate) fn run(
        &mut self,
        shapes: &[Shape],
        poses: &[Pose],
        due: impl Iterator<Item = (u32, Pair)>,
        count: usize,
    ) -> Screened {
        self.decisions.clear();
        let Some(screen) = &mut self.screen else { return Screened::default() };
        self.pairs.clear();
        self.places.clear();
        self.found.clear();
        for (place, pair) in due {
            self.places.push(place);
            self.pairs.push(pair);
        }
        let undecided = self.pairs.len();
        if undecided == 0 {
            return Screened::default();
        }
        if let Err(error) = screen.screen(shapes, poses, &self.pairs, &mut self.found) {
            return Screened { undecided, fault: Some(error.to_string()), ..Screened::default() };
        }
        self.decisions.resize(count, Decision::Undecided);
        let mut told = Screened { undecided, ..Screened::default() };
        for (&place, &decision) in self.places.iter().zip(&self.found) {
            self.decisions[place as usize] = decision;
            told.apart += usize::from(decision == Decision::Apart);
            told.overlapping += usize::from(decision == Decision::Overlapping);
        }
        told.undecided -= told.apart + told.overlapping;
        told
    }
}
