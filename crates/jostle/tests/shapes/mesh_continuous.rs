//! Times of impact of vertices and triangles, edges and edges: the published unit tests, and
//! contacts that are made to happen.

use crate::narrow_support::data_folder;
use glam::DVec3;
use jostle::mesh::{edge_edge_time, vertex_face_time};

type Test = fn(&[DVec3; 4], &[DVec3; 4]) -> Option<f64>;

/// Eight rows a query: four points at the start, four at the end, as fractions, and the truth.
fn rows(path: &std::path::Path) -> Vec<(DVec3, bool)> {
    let text = std::fs::read_to_string(path).expect("a file of queries");
    let row = |line: &str| {
        let cells: Vec<f64> =
            line.split(',').map(|cell| cell.trim().parse().expect("a number")).collect();
        let at = |k: usize| cells[2 * k] / cells[2 * k + 1];
        (DVec3::new(at(0), at(1), at(2)), cells[6] == 1.0)
    };
    text.lines().map(row).collect()
}

#[test]
fn the_published_queries_are_answered_without_a_miss_or_a_false_alarm() {
    let Some(folder) = data_folder() else {
        eprintln!("SKIPPED: no shared data folder; set JOSTLE_DATA to run the unit queries");
        return;
    };
    let kinds: [(&str, Test, usize); 2] =
        [("vertex-face", vertex_face_time, 250), ("edge-edge", edge_edge_time, 74)];
    for (name, test, count) in kinds {
        let (mut asked, mut misses, mut alarms) = (0, 0, 0);
        for part in 0..2 {
            let file = folder.join("ccd_unit_queries").join(format!("{name}_{part}.csv"));
            for query in rows(&file).chunks(8) {
                let points = |from: usize| std::array::from_fn(|k| query[from + k].0);
                let hit = test(&points(0), &points(4)).is_some();
                asked += 1;
                misses += usize::from(query[0].1 && !hit);
                alarms += usize::from(!query[0].1 && hit);
            }
        }
        assert_eq!((asked, misses, alarms), (count, 0, 0), "{name}");
    }
}

#[test]
fn contacts_that_are_made_to_happen_are_found_and_never_too_late() {
    let mut state = 1u64;
    let mut number = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for round in 0..2000 {
        let mut point = || DVec3::new(number(), number(), number()) * 2.0 - 1.0;
        let (mut start, mut end) = ([(); 4].map(|()| point()), [(); 4].map(|()| point()));
        let (time, u, v) = (number(), number(), 0.5 * number());
        let at = |k: usize, start: &[DVec3; 4], end: &[DVec3; 4]| start[k].lerp(end[k], time);
        let (moved, target) = if round % 2 == 0 {
            let [b, c, d] = [1, 2, 3].map(|k| at(k, &start, &end));
            (0, b + (c - b) * (u * 0.5) + (d - b) * v)
        } else {
            let [b, c, d] = [1, 2, 3].map(|k| at(k, &start, &end));
            // The first end of the first edge, so that the edge passes a point of the second.
            let on = c + (d - c) * v;
            (0, b + (on - b) / u.max(0.1))
        };
        let shift = target - at(moved, &start, &end);
        start[moved] += shift;
        end[moved] += shift;
        let test: Test = if round % 2 == 0 { vertex_face_time } else { edge_edge_time };
        let found = test(&start, &end).expect("they meet");
        assert!(found <= time + 1e-9, "{found} after {time}");
    }
    let apart = [DVec3::ZERO, DVec3::X * 5.0, DVec3::new(5.0, 1.0, 0.0), DVec3::new(5.0, 0.0, 1.0)];
    assert_eq!(vertex_face_time(&apart, &apart), None);
    assert_eq!(edge_edge_time(&[DVec3::ONE; 4], &[DVec3::ONE; 4]), Some(0.0));
}
