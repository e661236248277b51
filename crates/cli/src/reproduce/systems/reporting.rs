//! [`Reporting`]: turns flags that change into the report that a broad phase owes.
//!
//! Campbell's programs leave the flags where they are and look through all pairs when somebody
//! asks. A broad phase has to say which pairs began and ended, so pairs whose flags change are
//! noted on the way; one that changes twice in a step has not changed.

use jostle::{Boxes, Error, Filter, Follower, Pair, PairBuffer, Report};

use super::pair_manager::PairManager;

/// What lasts from step to step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reporting {
    follower: Follower,
    /// Pairs whose flags became complete or ceased to be, as often as that happened.
    changed: Vec<u64>,
    /// The last report had to look at filters.
    filtered: bool,
}

impl Reporting {
    /// Begins a step. Returns true if flags and lists of the previous one can be followed: boxes
    /// that come and go are none of the thesis's business.
    pub(crate) fn begin(&mut self, boxes: &Boxes) -> bool {
        self.changed.clear();
        let changes = boxes.changes();
        self.follower.begin(boxes) && changes.inserted().is_empty() && changes.removed().is_empty()
    }

    /// Notes that the flags of a pair became complete or ceased to be.
    #[inline]
    pub(crate) fn note(&mut self, one: u32, other: u32) {
        self.changed.push(u64::from(one.min(other)) << 32 | u64::from(one.max(other)));
    }

    /// Ends a step: all pairs if everything is new or filters may have changed, else what changed.
    pub(crate) fn finish(
        &mut self,
        boxes: &Boxes,
        flags: &PairManager,
        followed: bool,
        found: &mut PairBuffer,
    ) -> Result<Report, Error> {
        let filtered = std::mem::replace(&mut self.filtered, boxes.has_filters());
        let whole = !followed || filtered || self.filtered;
        match whole {
            true => report_all(boxes, flags, found)?,
            false => self.report_changes(flags, found)?,
        }
        self.follower.done(boxes);
        Ok(if whole { Report::Full } else { Report::Delta })
    }

    fn report_changes(&mut self, flags: &PairManager, found: &mut PairBuffer) -> Result<(), Error> {
        self.changed.sort_unstable();
        for same in self.changed.chunk_by(|one, other| one == other) {
            let (one, other) = ((same[0] >> 32) as u32, same[0] as u32);
            match same.len() % 2 == 1 {
                true if flags.collide(one, other) => found.lane().push(one, other)?,
                true => found.ended_mut().push(Pair::new(one, other)),
                false => {}
            }
        }
        Ok(())
    }
}

fn report_all(boxes: &Boxes, flags: &PairManager, found: &mut PairBuffer) -> Result<(), Error> {
    let filters: &[Filter] = boxes.filters();
    let mut result = Ok(());
    flags.for_each_colliding(boxes.slots(), |one, other| {
        if result.is_ok() && filters[one as usize].allows(&filters[other as usize]) {
            result = found.lane().push(one, other);
        }
    });
    Ok(result?)
}
