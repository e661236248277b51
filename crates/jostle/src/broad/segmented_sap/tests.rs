use super::*;
use crate::broad::sap::tests::follow_history;

#[test]
fn histories_agree_with_testing_all_pairs() {
    for sort in [Sort::Auto, Sort::Local, Sort::Global] {
        for (chunk, may_rebuild) in [(Some(4), false), (Some(7), true), (None, false)] {
            let options = SegmentedOptions { sort, chunk, may_rebuild };
            let mut events = 0;
            for seed in 0..40 {
                let mut algorithm = SegmentedSap::with_options(&Workers::one(), options);
                let start = [0, 3, 40, 120][seed as usize % 4];
                let (deltas, seen) = follow_history(&mut algorithm, seed, 40, start, seed % 2 == 0);
                assert!(may_rebuild || deltas == 39, "every step but the first is a change");
                events += seen;
            }
            assert!(events > 20_000, "too little happened: {events}");
        }
    }
}
