//! Every contestant runs once, small, and agrees with ours on the number of pairs.

use jostle::Algorithm;
use jostle_bench::contest::Contest;
use jostle_bench::core_costs;
use jostle_bench::rivals;
use jostle_bench::structures;
use jostle_scenes::Scene;

#[test]
fn all_contestants_agree_on_every_scene() {
    for info in Scene::list() {
        // Rivals keep margins or assume finite boxes; the hostile scene is for our own suite.
        if info.name == "worst" {
            continue;
        }
        let crossing = [("fill", 1.5), ("frames", 20.0)];
        let params = if info.name == "plane" { &crossing[..] } else { &[] };
        let mut scene = Scene::new(info.name, 600, 5, params).unwrap();
        let mut contest = Contest::new(Algorithm::ALL, 1, rivals::all()).unwrap();
        for _ in 0..18 {
            contest.frame(scene.boxes()).unwrap();
            scene.advance();
        }
        assert!(contest.counts.iter().sum::<usize>() > 0, "{} has no pairs", info.name);
        for score in contest.scores() {
            assert_eq!(score.differs, None, "{} on {}", score.name, info.name);
            assert_eq!(score.finding.len(), 18);
        }
    }
}

#[test]
fn the_core_costs_can_be_measured() {
    for cost in [core_costs::tracker(5000, 2), core_costs::set_all(5000, 2)] {
        assert!(cost.ours > 0.0 && cost.yardstick > 0.0, "{cost:?}");
    }
}

#[test]
fn the_structures_can_be_measured() {
    let costs = [
        structures::succ_tree(5000, 2),
        structures::radix_sort(5000, 2),
        structures::coherent_sort(5000, 2),
    ];
    for cost in costs {
        assert!(cost.ours > 0.0 && cost.yardstick > 0.0, "{cost:?}");
    }
}
