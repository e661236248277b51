use super::*;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::contract::BroadPhase;
use crate::broad::persistent::history::follow_history;
use crate::filter::Filter;
use crate::pair::PairBuffer;

fn histories<G: BroadPhase>(build: impl Fn(GridSapOptions) -> G) {
    for sort in [Sort::Auto, Sort::Local, Sort::Global] {
        for (boxes_per_cell, may_rebuild) in [(2, false), (5, true), (300, false)] {
            let options = GridSapOptions { boxes_per_cell, sort, chunk: Some(5), may_rebuild };
            let (mut events, mut deltas) = (0, 0);
            for seed in 0..40 {
                let mut grid = build(options);
                let start = [0, 3, 40, 120][seed as usize % 4];
                let (steps, seen) = follow_history(&mut grid, seed, 40, start, seed % 2 == 0);
                deltas += steps;
                events += seen;
            }
            assert!(events > 20_000, "too little happened: {events}");
            assert!(deltas > 400, "too few steps were followed: {deltas}");
        }
    }
}

#[test]
fn histories_with_sap_cells_agree_with_testing_all_pairs() {
    histories(|options| GridSap::with_options(&Workers::one(), options));
}

#[test]
fn histories_with_segmented_cells_agree_with_testing_all_pairs() {
    histories(|options| GridSegmentedSap::with_options(&Workers::one(), options));
}

/// A grid that was planned for few boxes is planned again when many have been inserted, without
/// finding all pairs.
#[test]
fn the_grid_grows_with_the_boxes() {
    let options =
        GridSapOptions { boxes_per_cell: 10, may_rebuild: false, ..GridSapOptions::default() };
    let mut grid = GridSegmentedSap::with_options(&Workers::one(), options);
    let place = |k: usize| {
        let at = [k % 13, k / 13 % 13, k / 169 % 13].map(|cell| cell as f32 * 3.0);
        Aabb::new(at, at.map(|low| low + 1.0))
    };
    let (mut boxes, mut found) = (Boxes::new(), PairBuffer::new());
    let mut cells = Vec::new();
    for all in [(0..200), (200..2000), (2000..2001)] {
        let aabbs: Vec<Aabb> = all.map(|k| place(k * 1187 % 2197)).collect();
        boxes.insert_all(&aabbs, Filter::ALL).unwrap();
        found.clear();
        grid.update(&boxes, &mut found).unwrap();
        grid.validate(&boxes);
        boxes.commit();
        cells.push(grid.stats().count("cells").unwrap());
    }
    assert!(cells[2] > 4.0 * cells[0], "cells by step: {cells:?}");
}
