//! [`PairStates`]: what is known of each pair of boxes while they overlap.
//!
//! The states stand in the order of the pairs. A state is 32 bytes and points to the pair's memory,
//! so that keeping the order is cheap; memories of ended pairs are reused for new ones. Pairs whose
//! answer does not use a memory have none.

use crate::narrow::PairCache;
use crate::pair::Pair;
use crate::shape::Shape;

/// No place.
pub(super) const NONE: u32 = u32::MAX;

/// One pair of overlapping boxes.
#[derive(Clone, Debug)]
pub(super) struct PairState {
    pub pair: Pair,
    pub cache: Option<Box<PairCache>>,
    /// Its place among the pairs.
    pub index: u32,
    /// Its place among the touches of the last step, or [`NONE`].
    pub touch: u32,
    /// The bodies touched at the end of the last step, rather than on their way.
    pub rests: bool,
    /// The boxes began to overlap in this step.
    pub fresh: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PairStates {
    pub states: Vec<PairState>,
    /// Some states are fresh.
    fresh: bool,
    next: Vec<PairState>,
    // Boxed, because that is how they go into states.
    #[expect(clippy::vec_box)]
    spare: Vec<Box<PairCache>>,
}

impl PairStates {
    /// Goes over to the pairs of this step. `ended` is told of touching pairs that are gone.
    pub(crate) fn follow(&mut self, pairs: &[Pair], shapes: &[Shape], mut ended: impl FnMut(Pair)) {
        self.fresh = false;
        let mut old = std::mem::take(&mut self.states);
        let mut next = std::mem::take(&mut self.next);
        let mut known = old.drain(..).peekable();
        for (index, &pair) in pairs.iter().enumerate() {
            while let Some(gone) = known.next_if(|state| state.pair < pair) {
                self.retire(gone, &mut ended);
            }
            let mut state = match known.next_if(|state| state.pair == pair) {
                Some(state) => PairState { fresh: false, ..state },
                None => self.begin(pair, shapes),
            };
            state.index = index as u32;
            next.push(state);
        }
        known.for_each(|gone| self.retire(gone, &mut ended));
        (self.states, self.next) = (next, old);
    }

    /// Goes over to a step with the same pairs.
    pub(crate) fn stay(&mut self) {
        if std::mem::take(&mut self.fresh) {
            self.states.iter_mut().for_each(|state| state.fresh = false);
        }
    }

    /// Returns true if some boxes began to overlap in this step.
    pub(crate) fn any_fresh(&self) -> bool {
        self.fresh
    }

    /// Empties the memories of all pairs. They are replaced rather than cleared, so that nothing of
    /// them is left.
    #[cfg(feature = "serde")]
    pub(crate) fn forget_memories(&mut self) {
        self.spare.clear();
        let caches = self.states.iter_mut().filter_map(|state| state.cache.as_deref_mut());
        caches.for_each(|cache| *cache = PairCache::new());
    }

    /// Appends a pair as a step has left it, without memory.
    #[cfg(feature = "serde")]
    pub(crate) fn restore(&mut self, pair: Pair, shapes: &[Shape], touch: u32, rests: bool) {
        let index = self.states.len() as u32;
        let state = self.begin(pair, shapes);
        self.states.push(PairState { index, touch, rests, fresh: false, ..state });
        self.fresh = false;
    }

    fn retire(&mut self, gone: PairState, ended: &mut impl FnMut(Pair)) {
        if gone.touch != NONE {
            ended(gone.pair);
        }
        self.spare.extend(gone.cache);
    }

    fn begin(&mut self, pair: Pair, shapes: &[Shape]) -> PairState {
        self.fresh = true;
        let remembers = remembers(&shapes[pair.a().index()], &shapes[pair.b().index()]);
        let cache = remembers.then(|| self.fresh_cache());
        PairState { pair, cache, index: 0, touch: NONE, rests: false, fresh: true }
    }

    /// A memory without content, in the room of an ended pair's.
    fn fresh_cache(&mut self) -> Box<PairCache> {
        let Some(mut cache) = self.spare.pop() else { return Box::default() };
        cache.clear();
        cache
    }
}

/// Returns false for the closed forms of spheres and half-spaces.
fn remembers(a: &Shape, b: &Shape) -> bool {
    let never = |shape: &Shape| matches!(shape, Shape::HalfSpace { .. });
    let ball = |shape: &Shape| matches!(shape, Shape::Sphere { .. });
    !(never(a) || never(b) || (ball(a) && ball(b)))
}
