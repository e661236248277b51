use super::*;
use crate::comm::{Communicator, run_virtual};
use jostle_scenes::Rng;

/// Points of every kind: lattice points that coincide with cuts, plain ones, infinite ones.
fn coordinate(rng: &mut Rng) -> f32 {
    match rng.below(12) {
        0 => f32::INFINITY,
        1 => f32::NEG_INFINITY,
        2 => -0.0,
        3 => 1e30,
        4..7 => rng.below(9) as f32 - 4.0,
        _ => rng.between(-5.0, 5.0),
    }
}

fn random_box(rng: &mut Rng) -> Aabb {
    let p: [f32; 3] = std::array::from_fn(|_| coordinate(rng));
    let q: [f32; 3] = match rng.below(3) {
        0 => p,
        1 => std::array::from_fn(|k| p[k] + rng.unit()),
        _ => std::array::from_fn(|_| coordinate(rng)),
    };
    Aabb {
        min: std::array::from_fn(|k| p[k].min(q[k])),
        max: std::array::from_fn(|k| p[k].max(q[k])),
    }
}

fn tree_of(boxes: &[Aabb], parts: usize) -> Decomposition {
    let points: Vec<[f32; 3]> = boxes.iter().map(|aabb| aabb.min).collect();
    run_virtual(1, |comm| bisect(comm, parts, &points, |_| 1)).remove(0)
}

#[test]
fn every_point_lies_in_exactly_one_region() {
    let mut rng = Rng::new(1);
    for parts in [1, 2, 3, 4, 7, 16, 61] {
        let boxes: Vec<Aabb> = (0..300).map(|_| random_box(&mut rng)).collect();
        for tree in [tree_of(&boxes, parts), Decomposition::undivided(parts)] {
            let regions: Vec<Region> = (0..parts).map(|rank| tree.region(rank)).collect();
            for aabb in &boxes {
                for point in [aabb.min, aabb.max] {
                    let holders: Vec<usize> =
                        (0..parts).filter(|&rank| regions[rank].contains(point)).collect();
                    assert_eq!(holders, [tree.rank_of(point)], "{point:?}");
                }
            }
        }
    }
}

#[test]
fn a_box_is_present_where_its_points_are() {
    let mut rng = Rng::new(2);
    let mut crossing = 0;
    for parts in [1, 2, 3, 7, 16, 61] {
        let boxes: Vec<Aabb> = (0..300).map(|_| random_box(&mut rng)).collect();
        let tree = tree_of(&boxes, parts);
        let mut reached = Vec::new();
        for aabb in &boxes {
            assert!(tree.ranks_reached(aabb, parts, &mut reached));
            let meets: Vec<u32> =
                (0..parts as u32).filter(|&r| tree.region(r as usize).meets(aabb)).collect();
            assert_eq!(reached, meets, "{aabb:?}");
            assert!(reached.contains(&(tree.rank_of(aabb.min) as u32)));
            assert!(reached.contains(&(tree.rank_of(aabb.max) as u32)));
            let whole = tree.region(reached[0] as usize).encloses(aabb);
            assert!(!whole || reached.len() == 1);
            crossing += usize::from(reached.len() > 1);
            if reached.len() > 1 {
                let most = reached.len() - 1;
                assert!(!tree.ranks_reached(aabb, most, &mut reached));
            }
        }
    }
    assert!(crossing > 200, "{crossing} boxes reach several regions");
}

#[test]
fn a_pair_belongs_to_one_rank_and_both_boxes_are_present_there() {
    let mut rng = Rng::new(3);
    let mut pairs = 0;
    for parts in [2, 3, 7, 32] {
        let boxes: Vec<Aabb> = (0..150).map(|_| random_box(&mut rng)).collect();
        let tree = tree_of(&boxes, parts);
        for (place, one) in boxes.iter().enumerate() {
            for other in boxes[..place].iter().filter(|other| one.overlaps(other)) {
                let corner = lowest_common_corner(one, other);
                assert_eq!(corner, lowest_common_corner(other, one));
                let region = tree.region(tree.rank_of(corner));
                assert!(region.meets(one) && region.meets(other));
                pairs += 1;
            }
        }
    }
    assert!(pairs > 1000, "{pairs} pairs");
}

#[test]
fn the_tree_does_not_depend_on_where_the_points_are() {
    let mut rng = Rng::new(4);
    let points: Vec<[f32; 3]> =
        (0..5000).map(|_| std::array::from_fn(|_| rng.between(0.0, 9.0))).collect();
    let weight = |index: usize| 1 + (index % 5) as u32;
    let whole = run_virtual(1, |comm| bisect(comm, 13, &points, weight)).remove(0);
    for ranks in [2, 5] {
        let trees = run_virtual(ranks, |comm| {
            let mine: Vec<usize> =
                (0..points.len()).filter(|k| (k * 7 / 3) % ranks == comm.rank()).collect();
            let part: Vec<[f32; 3]> = mine.iter().map(|&k| points[k]).collect();
            bisect(comm, 13, &part, |index| weight(mine[index]))
        });
        assert!(trees.iter().all(|tree| *tree == whole));
    }
}

#[test]
fn regions_get_equal_weight_whatever_the_distribution() {
    let mut rng = Rng::new(5);
    let uniform: Vec<[f32; 3]> =
        (0..20_000).map(|_| std::array::from_fn(|_| rng.between(-1.0, 1.0))).collect();
    let flat = uniform.iter().map(|p| [p[0], 3.0, p[2]]).collect();
    let cluster = uniform.iter().map(|p| p.map(|x| x * x * x * x * x)).collect();
    let far = uniform.iter().map(|p| p.map(|x| if x > 0.999 { 1e38 } else { x })).collect();
    let infinite = |p: &[f32; 3]| p.map(|x| if x > 0.99 { f32::NEG_INFINITY } else { x });
    let infinite = uniform.iter().map(infinite).collect();
    for points in [uniform, flat, cluster, far, infinite] {
        for parts in [2usize, 3, 16, 61] {
            let tree = run_virtual(1, |comm| bisect(comm, parts, &points, |_| 1)).remove(0);
            let mut counts = vec![0usize; parts];
            points.iter().for_each(|&point| counts[tree.rank_of(point)] += 1);
            let mean = points.len() / parts;
            let worst = counts.iter().max().unwrap();
            assert!(*worst as f64 <= mean as f64 * 1.05 + 2.0, "{counts:?}");
        }
    }
}

#[test]
fn points_that_cannot_be_divided_are_no_trouble() {
    for points in [vec![], vec![[1.0; 3]], vec![[f32::NEG_INFINITY; 3]; 50], vec![[2.5; 3]; 50]] {
        let tree = run_virtual(1, |comm| bisect(comm, 9, &points, |_| 1)).remove(0);
        let holders: Vec<usize> = points.iter().map(|&point| tree.rank_of(point)).collect();
        assert!(holders.iter().all(|&holder| holder == holders[0]));
    }
}
