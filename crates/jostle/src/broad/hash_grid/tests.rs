//! What the conformance suite cannot see: costs, memory, and the choices for experiments.

use std::collections::BTreeSet;

use super::*;
use crate::aabb::Aabb;
use crate::broad::algorithm::Algorithm;
use crate::pair::Pair;

/// Scattered numbers from 0 to 1, the same every time.
fn scatter(index: usize, salt: u32) -> f32 {
    let mut bits = (index as u32).wrapping_mul(0x9E37_79B9) ^ salt.wrapping_mul(0x85EB_CA6B);
    bits ^= bits >> 15;
    bits = bits.wrapping_mul(0x2C1B_3C6D);
    bits ^= bits >> 13;
    (bits >> 8) as f32 / (1 << 24) as f32
}

/// Boxes of side 1 with about one in twenty of the space filled, moved and scaled.
fn crowd(count: usize, shift: f32, scale: f32) -> Vec<Aabb> {
    let side = (20.0 * count as f32).cbrt();
    (0..count)
        .map(|index| {
            let at: [f32; 3] =
                std::array::from_fn(|k| (side * scatter(index, k as u32) + shift) * scale);
            Aabb::new(at, at.map(|low| low + scale))
        })
        .collect()
}

/// Boxes with a grid that follows them.
struct World {
    boxes: Boxes,
    grid: HashGrid,
    found: PairBuffer,
}

impl World {
    fn new(aabbs: &[Aabb], filter: Filter, options: HashGridOptions) -> World {
        World::on(&Workers::one(), aabbs, filter, options)
    }

    fn on(workers: &Workers, aabbs: &[Aabb], filter: Filter, options: HashGridOptions) -> World {
        let mut boxes = Boxes::new();
        boxes.insert_all(aabbs, filter).unwrap();
        let grid = HashGrid::with_options(workers, options);
        World { boxes, grid, found: PairBuffer::new() }
    }

    /// Steps, and follows what is reported.
    fn follow(&mut self, held: &mut BTreeSet<Pair>) -> Report {
        let report = self.step();
        if report == Report::Full {
            held.clear();
        }
        for pair in self.found.ended() {
            assert!(held.remove(pair), "{pair} did not overlap");
        }
        for pair in self.found.iter() {
            assert!(held.insert(pair), "{pair} overlapped already");
        }
        report
    }

    /// All pairs, as another algorithm finds them.
    fn all_pairs(&self) -> BTreeSet<Pair> {
        let mut found = PairBuffer::new();
        Algorithm::Bvh.build(&Workers::one()).update(&self.boxes, &mut found).unwrap();
        found.iter().collect()
    }

    fn step(&mut self) -> Report {
        self.found.clear();
        let report = self.grid.update(&self.boxes, &mut self.found).unwrap();
        self.grid.validate(&self.boxes);
        self.boxes.commit();
        report
    }

    fn pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.found.iter().collect();
        pairs.sort_unstable();
        pairs
    }
}

#[test]
fn what_does_not_change_costs_nothing_and_little_costs_little() {
    let mut world = World::new(&crowd(4000, 0.0, 1.0), Filter::ALL, HashGridOptions::default());
    assert_eq!(world.step(), Report::Full);
    let all = world.grid.stats().tests;
    assert!(world.found.len() > 200 && all < 40 * 4000, "{all} tests");
    assert_eq!(world.step(), Report::Delta);
    assert_eq!(world.grid.stats().tests, 0);
    let ids: Vec<_> = world.boxes.ids().take(40).collect();
    for id in ids {
        let aabb = *world.boxes.get(id).unwrap();
        let moved = Aabb::new(aabb.min.map(|x| x + 0.7), aabb.max.map(|x| x + 0.7));
        world.boxes.set(id, moved).unwrap();
    }
    assert_eq!(world.step(), Report::Delta);
    assert!(!world.found.is_empty() && !world.found.ended().is_empty());
    assert!(world.grid.stats().tests < all / 10, "{} tests", world.grid.stats().tests);
}

#[test]
fn a_world_that_shrinks_or_grows_a_thousandfold_is_cut_anew_in_time() {
    const COUNT: usize = 20_000;
    let mut world = World::new(&crowd(COUNT, 0.0, 1.0), Filter::ALL, HashGridOptions::default());
    for scale in [1.0, 1e-3, 1e3, 1e-30, 1e30] {
        world.boxes.set_all(&crowd(COUNT, 0.0, scale)).unwrap();
        world.step();
        let tests = world.grid.stats().tests;
        assert!(tests < 60 * COUNT as u64, "{tests} tests at scale {scale}");
    }
}

#[test]
fn experiments_change_the_cost_and_not_the_pairs() {
    let aabbs = crowd(1500, -7.0, 1.0);
    let mut plain = World::new(&aabbs, Filter::ALL, HashGridOptions::default());
    plain.step();
    let sum = HashGridOptions { hash: CellHash::Sum, ..HashGridOptions::default() };
    let single = HashGridOptions { cells: Cells::Single, ..HashGridOptions::default() };
    let fixed = HashGridOptions { cells: Cells::From(9.0), ..HashGridOptions::default() };
    for options in [sum, single, fixed] {
        let mut other = World::new(&aabbs, Filter::ALL, options);
        other.step();
        assert_eq!(other.pairs(), plain.pairs(), "{options:?}");
    }
    assert!(plain.pairs().len() > 50);
}

#[test]
fn flat_and_layered_worlds_are_not_cut_where_boxes_do_not_differ() {
    let layer = |index: usize| {
        let z = 3.0 * index as f32;
        Aabb::new([scatter(index, 1), 0.0, z], [100.0, 100.0, z + 1.0])
    };
    let layers: Vec<Aabb> = (0..5000).map(layer).collect();
    let mut world = World::new(&layers, Filter::ALL, HashGridOptions::default());
    world.step();
    assert!(world.grid.stats().tests < 50_000, "{} tests", world.grid.stats().tests);
    let tower =
        |aabb: &Aabb| Aabb::new([aabb.min[0], aabb.min[1], -1e4], [aabb.max[0], aabb.max[1], 1e4]);
    let towers: Vec<Aabb> = crowd(5000, 0.0, 1.0).iter().map(tower).collect();
    let mut world = World::new(&towers, Filter::ALL, HashGridOptions::default());
    world.step();
    let (tests, pairs) = (world.grid.stats().tests, world.found.len() as u64);
    assert!(tests < 20 * pairs, "{tests} tests for {pairs} pairs");
}

#[test]
fn memory_is_at_most_130_bytes_a_box() {
    const COUNT: usize = 60_000;
    for filter in [Filter::ALL, Filter::ALL.with_owner(7)] {
        let mut world = World::new(&crowd(COUNT, 0.0, 1.0), filter, HashGridOptions::default());
        for shift in [0.0, 0.1, 0.2, 0.3] {
            world.boxes.set_all(&crowd(COUNT, shift, 1.0)).unwrap();
            world.step();
        }
        let some: Vec<_> = world.boxes.ids().step_by(5).collect();
        for id in some {
            world.boxes.set(id, Aabb::point([id.index() as f32; 3])).unwrap();
        }
        assert_eq!(world.step(), Report::Delta);
        let bytes = world.grid.stats().bytes as f64 / COUNT as f64;
        assert!(bytes <= 130.0, "{bytes} bytes a box with {filter:?}");
    }
}

/// More boxes than one task takes; few change in most steps, and some of these grow to giants,
/// shrink to points, teleport, come, go or rest again.
#[test]
fn changes_lead_to_the_same_pairs_for_every_number_of_workers() {
    const COUNT: usize = 9000;
    let still = Filter::STILL;
    for (workers, filter) in [1, 2, 3, 8].into_iter().zip([Filter::ALL, still].into_iter().cycle())
    {
        let workers = Workers::new(workers).unwrap();
        let crowd = crowd(COUNT, -20.0, 1.0);
        let options = HashGridOptions::default();
        let mut world = World::on(&workers, &crowd[..COUNT / 2], Filter::ALL, options);
        world.boxes.insert_all(&crowd[COUNT / 2..], filter).unwrap();
        let mut held = BTreeSet::new();
        let (mut deltas, mut began, mut ended) = (0, 0, 0);
        for step in 0..24usize {
            let ids: Vec<_> = world.boxes.ids().collect();
            let every = [9, 300, 4000, 2, 40][step % 5];
            for (k, &id) in ids.iter().enumerate().filter(|(k, _)| (k + step) % every == 0) {
                let old = *world.boxes.get(id).unwrap();
                let at: [f32; 3] = std::array::from_fn(|axis| {
                    let far = if k % 11 == 0 { 30.0 } else { 0.8 };
                    old.min[axis] + far * (scatter(k + step, 9 + axis as u32) - 0.5)
                });
                let side = match k % 97 {
                    0 => 20.0,
                    1 => 0.0,
                    _ => 1.0,
                };
                let moved = match k % 1999 {
                    5 => Aabb::new([f32::NEG_INFINITY, at[1], at[2]], [f32::INFINITY, at[1], 1e3]),
                    _ => Aabb::new(at, at.map(|low| low + side)),
                };
                world.boxes.set(id, moved).unwrap();
            }
            if step % 3 == 1 {
                let gone: Vec<_> = ids.iter().copied().skip(step).step_by(170).collect();
                world.boxes.remove_all(&gone).unwrap();
                world.boxes.insert_all(&crowd[step..step + 60], Filter::ALL).unwrap();
            }
            deltas += usize::from(world.follow(&mut held) == Report::Delta);
            (began, ended) = (began + world.found.len(), ended + world.found.ended().len());
            assert_eq!(held, world.all_pairs(), "step {step} on {}", workers.count());
        }
        assert!(deltas >= 12 && began > 5000 && ended > 500, "{deltas} {began} {ended}");
    }
}

#[test]
fn boxes_that_come_to_rest_return_to_the_grid() {
    let mut world = World::new(&crowd(4000, 0.0, 1.0), Filter::ALL, HashGridOptions::default());
    let mut held = BTreeSet::new();
    world.follow(&mut held);
    let mut most: f64 = 0.0;
    for id in world.boxes.ids().collect::<Vec<_>>().into_iter().step_by(9) {
        let aabb = *world.boxes.get(id).unwrap();
        let moved = Aabb::new(aabb.min.map(|x| x + 0.7), aabb.max.map(|x| x + 0.7));
        world.boxes.set(id, moved).unwrap();
        assert_eq!(world.follow(&mut held), Report::Delta);
        most = most.max(world.grid.stats().count("overlay").unwrap());
    }
    assert!((20.0..120.0).contains(&most), "{most} of 4000 boxes apart");
    assert_eq!(held, world.all_pairs());
}

/// Rows of both kinds of index: in some boxes lie close together, others are mostly gaps, and all
/// are longer than what is tested at once or shared between tasks.
#[test]
fn crowded_and_scattered_rows_lead_to_the_same_pairs_for_every_number_of_workers() {
    const COUNT: usize = 12_000;
    let aabb = |index: usize, step: usize| {
        let turn = scatter(index, 1);
        // Clusters far apart, boxes between them, and a crowd in rows of its own.
        let along = match index % 4 {
            0 => 1e6 * (1.0 + (index % 7) as f32) + 40.0 * turn,
            1 => 4e3 * turn,
            2 => 9e6 * turn * turn,
            _ => 300.0 * turn,
        };
        let aside = if index % 4 == 3 { 200.0 } else { 0.0 };
        let across = [20.0 * scatter(index, 2) + aside, 20.0 * scatter(index, 3)];
        let drift = (step * (index % 5)) as f32 * 0.3;
        let side = if index.is_multiple_of(500) { 6.0 } else { 1.0 };
        let low = [across[0] + drift, along + drift, across[1]];
        Aabb::new(low, low.map(|low| low + side))
    };
    for workers in [1, 2, 3, 8] {
        let workers = Workers::new(workers).unwrap();
        let aabbs: Vec<Aabb> = (0..COUNT).map(|index| aabb(index, 0)).collect();
        let mut world = World::on(&workers, &aabbs, Filter::ALL, HashGridOptions::default());
        let mut held = BTreeSet::new();
        for step in 1..4 {
            world.follow(&mut held);
            assert_eq!(held, world.all_pairs(), "step {step} on {}", workers.count());
            let indexes = &world.grid.grid.indexes;
            let listed = indexes.iter().filter(|index| index.slices == 0).count();
            assert!(listed > 0 && listed < indexes.len(), "{listed} of {} rows", indexes.len());
            let moved: Vec<Aabb> = (0..COUNT).map(|index| aabb(index, step)).collect();
            world.boxes.set_all(&moved).unwrap();
        }
        assert!(held.len() > 500, "{} pairs", held.len());
    }
}

/// A row whose boxes all meet needs more tests for one box than are made at once.
#[test]
fn long_runs_are_tested_piece_by_piece() {
    const COUNT: usize = 6000;
    let aabb = |index: usize| {
        let at = [index as f32, scatter(index, 1), scatter(index, 2)];
        let length = if index.is_multiple_of(1999) { 7000.0 } else { 0.4 };
        Aabb::new(at, [at[0] + length, at[1] + 1.0, at[2] + 1.0])
    };
    for workers in [1, 2, 3, 8] {
        let aabbs: Vec<Aabb> = (0..COUNT).map(aabb).collect();
        let workers = Workers::new(workers).unwrap();
        let single = HashGridOptions { cells: Cells::Single, ..HashGridOptions::default() };
        let mut world = World::on(&workers, &aabbs, Filter::ALL, single);
        let mut held = BTreeSet::new();
        world.follow(&mut held);
        assert_eq!(held, world.all_pairs(), "on {}", workers.count());
        assert!(held.len() > COUNT, "{} pairs", held.len());
    }
}
