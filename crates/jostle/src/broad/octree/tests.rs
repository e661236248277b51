//! What the conformance suite cannot see: costs and memory.

use super::*;
use crate::aabb::Aabb;
use crate::filter::Filter;

/// Unit boxes on a jittered lattice, two apart, scaled.
fn lattice(side: usize, step: usize, scale: f32) -> Vec<Aabb> {
    (0..side * side * side)
        .map(|k| {
            let jitter = ((k * 7 + step * 3) % 11) as f32 * 0.12;
            let at = [k % side, k / side % side, k / side / side];
            let at = at.map(|c| (2.0 * c as f32 + jitter) * scale);
            Aabb::new(at, at.map(|low| low + scale))
        })
        .collect()
}

#[test]
fn tests_stay_proportional_while_boxes_move_and_the_world_changes_size() {
    const SIDE: usize = 16;
    const COUNT: usize = SIDE * SIDE * SIDE;
    let mut boxes = Boxes::new();
    boxes.insert_all(&lattice(SIDE, 0, 1.0), Filter::ALL).unwrap();
    let mut octree = Octree::new(&Workers::one());
    let mut found = PairBuffer::new();
    for step in 0..12 {
        let scale = [1.0, 1.0, 1.0, 1e3, 1e3, 1e-3][step % 6];
        boxes.set_all(&lattice(SIDE, step, scale)).unwrap();
        found.clear();
        octree.update(&boxes, &mut found).unwrap();
        octree.validate(&boxes);
        boxes.commit();
        let stats = octree.stats();
        assert!(found.len() > COUNT / 10, "{} pairs", found.len());
        assert!(stats.tests < 200 * COUNT as u64, "{} tests in step {step}", stats.tests);
        assert!(stats.bytes <= 100 * COUNT, "{} bytes", stats.bytes);
    }
    found.clear();
    assert_eq!(octree.update(&boxes, &mut found).unwrap(), Report::Delta);
    assert_eq!(octree.stats().tests, 0);
}

#[test]
fn nodes_go_when_their_boxes_go() {
    let mut boxes = Boxes::new();
    let ids = boxes.insert_all(&lattice(8, 0, 1.0), Filter::ALL).unwrap();
    let mut octree = Octree::new(&Workers::one());
    let mut found = PairBuffer::new();
    octree.update(&boxes, &mut found).unwrap();
    boxes.commit();
    let full = octree.tree.nodes();
    assert!(full > 32, "{full} nodes");
    boxes.remove_all(&ids[200..]).unwrap();
    assert!(octree.follow(&boxes), "the tree can follow");
    octree.validate(&boxes);
    assert!(octree.tree.nodes() < full, "{} of {full} nodes", octree.tree.nodes());
}
