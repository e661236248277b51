use super::*;
use crate::broad::sap::tests::follow_history;

fn histories<L: CellLists>() {
    for sort in [Sort::Auto, Sort::Local, Sort::Global] {
        for (boxes_per_cell, may_rebuild) in [(2, false), (5, true), (300, false)] {
            let options = GridOptions { boxes_per_cell, sort, chunk: Some(5), may_rebuild };
            let (mut events, mut deltas, mut cells, mut giants) = (0, 0, 0.0, 0.0);
            for seed in 0..40 {
                let mut grid = GridOf::<L>::with_options(&Workers::one(), options);
                let start = [0, 3, 40, 120][seed as usize % 4];
                let (steps, seen) = follow_history(&mut grid, seed, 40, start, seed % 2 == 0);
                deltas += steps;
                events += seen;
                cells += grid.stats().count("cells").unwrap();
                giants += grid.stats().count("giants").unwrap();
            }
            assert!(events > 20_000, "too little happened: {events}");
            println!("{cells} {giants} {deltas}");
            assert!(deltas > 400, "too few steps were followed: {deltas}");
        }
    }
}

#[test]
fn histories_with_sap_cells_agree_with_testing_all_pairs() {
    histories::<Lists>();
}

#[test]
fn histories_with_segmented_cells_agree_with_testing_all_pairs() {
    histories::<SegmentedLists>();
}
