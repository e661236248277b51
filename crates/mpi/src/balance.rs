//! [`Balance`]: when to cut space again.
//!
//! The cost of a rank is counted, not timed: the box tests of its local search and one for each
//! box present. So the same history is cut the same way on every machine. A cut moves boxes, so it
//! has to be worth it: the balance must have been bad for several steps in a row.

/// Decides on cuts. All ranks see the same numbers and decide the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Balance {
    /// Boxes of the job at the last cut; `None` before the first.
    boxes_at_cut: Option<u64>,
    bad_steps: u32,
    /// The largest cost of a rank in the last step.
    pub(crate) busiest: u64,
}

impl Balance {
    /// Returns true if space is to be cut in this step. `cost` is that of all ranks in the last
    /// step, `boxes` the number of boxes in the job.
    pub(crate) fn wants_cut(
        &self,
        ranks: usize,
        cost: u64,
        boxes: u64,
        options: &crate::Options,
    ) -> (bool, u32) {
        if ranks == 1 {
            return (false, 0);
        }
        let Some(at_cut) = self.boxes_at_cut else {
            return (boxes > 0, 0);
        };
        // Mostly other boxes: where the old ones were says nothing.
        if boxes > at_cut.saturating_mul(2) || boxes.saturating_mul(2) < at_cut && boxes > 0 {
            return (true, 0);
        }
        let bad = self.busiest as f64 * ranks as f64 > cost as f64 * options.tolerated_imbalance;
        let bad_steps = if bad { self.bad_steps + 1 } else { 0 };
        (bad_steps > options.steps_between_cuts, bad_steps)
    }

    /// Ends a step.
    pub(crate) fn commit(&mut self, cut: bool, boxes: u64, bad_steps: u32, busiest: u64) {
        if cut {
            self.boxes_at_cut = Some(boxes);
        }
        self.bad_steps = if cut { 0 } else { bad_steps };
        self.busiest = busiest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;

    #[test]
    fn a_cut_waits_for_bad_balance_to_last() {
        let options = Options { steps_between_cuts: 3, ..Options::default() };
        let mut balance = Balance::default();
        let mut step = |cost: u64, busiest: u64| {
            let (cut, bad) = balance.wants_cut(4, cost, 1000, &options);
            balance.commit(cut, 1000, bad, busiest);
            cut
        };
        assert!(step(0, 100), "the first boxes");
        let cuts: Vec<bool> = (0..6).map(|_| step(200, 100)).collect();
        assert_eq!(cuts, [false, false, false, true, false, false]);
        assert!(!step(400, 100) && !step(200, 100), "a good step in between starts again");
    }
}
