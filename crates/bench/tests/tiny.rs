//! Every stopwatch runs once, tiny, and every contestant finds the same number of pairs.

use clap::Parser;
use jostle::Algorithm;
use jostle_bench::rivals::contest::Contest;
use jostle_bench::rivals::libraries;
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
        let mut contest = Contest::new(Algorithm::ALL, 1, libraries::all()).unwrap();
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

/// What a stopwatch prints.
fn measured(command: &str) -> String {
    let words = ["jostle-bench"].into_iter().chain(command.split(' '));
    let program = jostle_bench::Program::try_parse_from(words).expect(command);
    let mut out = Vec::new();
    jostle_bench::run(&program, &mut out).expect(command);
    String::from_utf8(out).unwrap()
}

#[test]
fn every_stopwatch_runs() {
    let commands: [(&str, &[&str]); 14] = [
        ("rivals --n 300 --frames 4 --set density=0.35", &["jostle bvh", "parry3d refit", "×"]),
        ("rivals --scene churn --n 300 --frames 4 --without rstar", &["jostle sap"]),
        ("narrow --pairs 40 --frames 6 --repeats 1 --kind boxes", &["contact", "geometric mean"]),
        ("core --n 5000 --repeats 2", &["tracker", "set_all"]),
        ("structures --n 5000 --repeats 2", &["succ_tree", "radix_sort"]),
        ("support-search --repeats 1", &["coherent", "2562"]),
        ("scene-steps --n 500 --steps 2", &["uniform", "churn"]),
        ("world-steps --n 2000 --steps 2", &["one thread", "stealing"]),
        ("world-rivals --n 120 --frames 3", &["pile", "level", "rapier / ours"]),
        ("worst-steps --n 300 --repeats 1 --algorithm sap", &["all teleport", "squeezed"]),
        ("mesh-rivals --n 200 --poses 2 --passes 1", &["near miss", "parry / ours"]),
        ("decompose-rivals --n 200 --resolution 16 --grid 8", &["jostle", "V-HACD", "lost"]),
        ("memory bvh --n 500", &["begin", "nothing"]),
        ("recording --n 300 --steps 4", &["uniform", "still", "ratio"]),
    ];
    for (command, words) in commands {
        let text = measured(command);
        for word in words {
            assert!(text.contains(word), "{command}: {word:?} is missing in\n{text}");
        }
    }
    assert!(!measured("rivals --n 50 --frames 2 --without rstar").contains("rstar"));
}

#[test]
fn wrong_usage_is_refused() {
    for command in [
        "memory nosuch",
        "world-rivals --n 0",
        "rivals --n many",
        "worst-steps --repeats 0",
        "nosuch",
    ] {
        let words = ["jostle-bench"].into_iter().chain(command.split(' '));
        assert!(jostle_bench::Program::try_parse_from(words).is_err(), "{command}");
    }
    let words = ["jostle-bench", "narrow", "--kind", "teapots"];
    let program = jostle_bench::Program::try_parse_from(words).unwrap();
    assert!(jostle_bench::run(&program, &mut Vec::new()).is_err());
}
