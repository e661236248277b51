//! A step whose pairs stay on the device: submitted, judged by its counts, and repeated with more
//! room or another sort if it has to be.

use jostle::{Boxes, Error, PairBuffer, Report};

use super::room::grown;
use super::upload::Copies;
use super::{GpuSweep, Header};
use crate::memory::Sizes;
use crate::program::{Stage, Way, Ways};
use crate::work;

/// What the counts of a submission say.
enum Verdict {
    /// The pairs are there, sorted.
    Good,
    /// The step is repeated, from the boxes or from the sort of the pairs.
    Again(Stage),
    /// The step does not fit.
    TooLarge,
}

impl GpuSweep {
    /// A step whose pairs stay on the device. None: it does not fit the budget.
    pub(super) fn step_resident(
        &mut self,
        boxes: &Boxes,
        continues: bool,
        found: &mut PairBuffer,
    ) -> Result<Option<Report>, Error> {
        self.make_room(boxes)?;
        let mut copies = self.write_boxes(boxes, continues)?;
        let mut first = if copies.changed > 0 { Stage::Upload } else { Stage::Plan };
        self.clock.end("upload");
        loop {
            if self.sizes().events == 0 {
                self.first_plan(boxes, &copies)?;
                return Ok(None);
            }
            let delta = continues && self.old_pairs.is_some();
            let last = if delta { Stage::DiffWrite } else { Stage::PairSort };
            let events = if delta { self.readback_size() } else { 0 };
            let request = self.request(boxes, copies.changed);
            self.counters.old_pairs = u64::from(self.old_pairs.filter(|_| delta).unwrap_or(0));
            let header = self.submit(&request, &copies, (first, last), events)?;
            (self.holds_boxes, self.last) = (true, header);
            copies = Copies::default();
            self.clock.end("device");
            let verdict = self.judge(&header, found);
            if let (Ok(Verdict::Good), true) = (&verdict, delta) {
                return self.take_delta(&request, header, events, found).map(Some);
            }
            if events > 0 {
                self.readback.close();
            }
            match verdict? {
                Verdict::Good => return self.take_all(header, found).map(Some),
                Verdict::TooLarge => return Ok(None),
                Verdict::Again(stage) => first = stage,
            }
        }
    }

    /// Looks at the counts of a submission, and makes room or changes the way to sort if they ask
    /// for it.
    fn judge(&mut self, header: &Header, found: &PairBuffer) -> Result<Verdict, Error> {
        let sizes = self.sizes();
        let (entries, pairs) = (header.get(work::ENTRIES), header.get(work::PAIRS));
        let ways = next_ways(self.ways, header);
        if entries > sizes.entries {
            return self.more_room(Sizes { entries: grown(entries.into()), ..sizes });
        }
        if self.ways.entries == Way::Local && ways.entries == Way::Radix {
            self.ways.entries = Way::Radix;
            return Ok(Verdict::Again(Stage::Plan));
        }
        if header.get(work::CANDIDATES) > work::MOST_CANDIDATES {
            return Ok(Verdict::TooLarge);
        }
        if pairs as usize > found.limit() {
            return Err(Error::TooManyPairs { limit: found.limit(), estimate: None });
        }
        if pairs > sizes.pairs {
            let pairs = grown(pairs.into());
            let events = sizes.events.max(pairs / 8);
            return self.more_room(Sizes { pairs, events, ..sizes });
        }
        if self.ways.pairs == Way::Local && ways.pairs == Way::Radix {
            self.ways.pairs = Way::Radix;
            return Ok(Verdict::Again(Stage::PairSort));
        }
        if !self.options.sort_by_digits {
            self.ways = ways;
        }
        Ok(Verdict::Good)
    }

    /// The step is repeated from the boxes, which are on the device already, if the room fits.
    fn more_room(&mut self, sizes: Sizes) -> Result<Verdict, Error> {
        Ok(if self.grow(sizes)? { Verdict::Again(Stage::Plan) } else { Verdict::TooLarge })
    }
}

/// How the next step, or this one once more, should sort. Lists must become much shorter before
/// threads sort them again, so that no scene goes back and forth.
fn next_ways(ways: Ways, header: &Header) -> Ways {
    let next = |way: Way, longest: u32| match way {
        Way::Local if longest <= work::LONGEST_LOCAL => Way::Local,
        Way::Radix if longest <= work::LONGEST_LOCAL / 2 => Way::Local,
        _ => Way::Radix,
    };
    Ways {
        entries: next(ways.entries, header.get(work::LONGEST)),
        pairs: next(ways.pairs, header.get(work::LONGEST_LIST)),
    }
}
