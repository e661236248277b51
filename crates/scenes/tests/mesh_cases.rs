//! Published pairs of meshes: exact triangle pairs, booleans and distances; and a cloth that falls
//! on a ball, from swept boxes to exact times.

use glam::{DMat3, DQuat, DVec3};
use jostle::Aabb;
use jostle::mesh::{Mesh, MeshPair, triangles_touch, vertex_face_time};
use jostle::shape::Pose;
use jostle_scenes::{MeshData, pair_hash, read_mesh};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn shared_data() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("JOSTLE_DATA").map_or(default, PathBuf::from);
    folder.join("mesh_cases.json").is_file().then_some(folder)
}

fn numbers(value: &Value) -> [f64; 3] {
    std::array::from_fn(|k| value[k].as_f64().expect("a number"))
}

/// The rotation or reflection of a case, by rows.
fn permutation(case: &Value) -> DMat3 {
    let rows = [0, 1, 2].map(|k| numbers(&case["P"][k]));
    DMat3::from_cols_array_2d(&rows).transpose()
}

/// The second mesh as the case places it: permuted exactly, then added in single precision.
fn placed(mesh: &MeshData, case: &Value) -> Mesh {
    let (turn, shift) = (permutation(case), numbers(&case["t"]));
    let place = |at: &DVec3| {
        let turned = (turn * *at).to_array();
        let at: [f64; 3] = std::array::from_fn(|k| f64::from(turned[k] as f32 + shift[k] as f32));
        DVec3::from_array(at)
    };
    let vertices = mesh.vertices.iter().map(place).collect();
    Mesh::new(vertices, mesh.triangles.clone()).expect("a mesh")
}

fn has_no_area(mesh: &Mesh, triangle: u32) -> bool {
    let [a, b, c] = mesh.corners(triangle);
    (b - a).cross(c - a) == DVec3::ZERO
}

#[test]
fn all_published_placements_are_answered_exactly() {
    let Some(folder) = shared_data() else {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
        return;
    };
    let text = std::fs::read_to_string(folder.join("mesh_cases.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    let read = |name: &Value| {
        read_mesh(folder.join("meshes").join(name.as_str().unwrap())).expect("a mesh file")
    };
    let (mut touching, mut apart) = (0, 0);
    for case in cases {
        let (a, b) = (read(&case["a"]), read(&case["b"]));
        let a = Mesh::new(a.vertices, a.triangles).unwrap();
        let b = placed(&b, case);
        let name = &case["id"];
        let pair = MeshPair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY);
        let mut pairs = pair.triangle_pairs(usize::MAX).unwrap();
        // The published lists leave out triangles that are lines or points; we do not.
        pairs.retain(|&(one, other)| !has_no_area(&a, one) && !has_no_area(&b, other));
        assert_eq!(pairs.len() as u64, case["triangle_pairs"].as_u64().unwrap(), "case {name}");
        assert_eq!(
            pair_hash(pairs.iter().copied()),
            case["sha256"].as_str().unwrap(),
            "case {name}"
        );
        assert_eq!(pair.intersects(), case["intersects"].as_bool().unwrap(), "case {name}");
        let closest = pair.closest();
        if pair.intersects() {
            assert_eq!(closest.distance, 0.0, "case {name}");
            touching += 1;
        } else {
            apart += 1;
            let size = a.bounding_radius() + b.bounding_radius();
            for reference in ["distance_coal", "distance_fcl"] {
                let wanted = case[reference].as_f64().unwrap();
                let off = (closest.distance - wanted).abs();
                assert!(off <= 1e-9 * size, "case {name}: {} and {wanted}", closest.distance);
            }
            assert!(closest.bound <= 1e-9 * size, "case {name}: bound {}", closest.bound);
            let between = closest.point_a.distance(closest.point_b);
            assert!((between - closest.distance).abs() <= 1e-12 * size, "case {name}");
        }
        check_posed(&a, &read(&case["b"]), case, &pairs);
    }
    assert!(touching >= 5 && apart >= 5, "{touching} touch, {apart} do not");
}

/// The same placement by a pose, where the permutation is a rotation and the sum is exact enough
/// to leave far pairs alone: the boolean and the count may differ only where vertices round.
fn check_posed(a: &Mesh, b: &MeshData, case: &Value, pairs: &[(u32, u32)]) {
    let turn = permutation(case);
    if turn.determinant() < 0.0 {
        return;
    }
    let b = Mesh::new(b.vertices.clone(), b.triangles.clone()).unwrap();
    let pose = Pose::new(DQuat::from_mat3(&turn).normalize(), numbers(&case["t"]).into()).unwrap();
    let found = MeshPair::new(a, &Pose::IDENTITY, &b, &pose).triangle_pairs(usize::MAX).unwrap();
    let missing = pairs.iter().filter(|pair| found.binary_search(pair).is_err()).count();
    let most = pairs.len() / 50 + 2;
    assert!(missing <= most && found.len() <= pairs.len() + most, "case {}", case["id"]);
}

/// A triangle by its corners.
type Corners = [[f64; 3]; 3];

const T: Corners = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];

fn mesh_of(corners: Corners) -> Mesh {
    Mesh::new(corners.map(DVec3::from).to_vec(), vec![[0, 1, 2]]).unwrap()
}

/// Every way to ask whether two meshes touch.
fn touch(a: &Mesh, b: &Mesh) -> bool {
    let identity = Pose::IDENTITY;
    let pair = MeshPair::new(a, &identity, b, &identity);
    let found = pair.intersects();
    assert_eq!(MeshPair::new(b, &identity, a, &identity).intersects(), found);
    assert_eq!(!pair.triangle_pairs(1 << 20).unwrap().is_empty(), found);
    assert_eq!(pair.distance() == 0.0, found);
    found
}

#[test]
fn tiny_triangles_are_told_apart_exactly() {
    let yes: [Corners; 9] = [
        [[1.0, 1.0, 0.0], [5.0, 1.0, 0.0], [1.0, 5.0, 0.0]],
        [[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.5, 1.0, 0.0]],
        [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, -4.0, 0.0]],
        [[4.0, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 4.0, 0.0]],
        [[1.0, 1.0, 0.0], [1.0, 1.0, 4.0], [2.0, 1.0, 4.0]],
        [[2.0, 0.0, 0.0], [2.0, -4.0, 1.0], [2.0, -4.0, -1.0]],
        [[0.0, 0.0, 0.0], [-4.0, 0.0, 1.0], [0.0, -4.0, 3.0]],
        [[2.0, 0.0, -1.0], [2.0, 0.0, 1.0], [2.0, -4.0, 0.0]],
        [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 4.0]],
    ];
    let above = |e: f64| [[1.0, 1.0, e], [1.0, 1.0, 4.0], [2.0, 1.0, 4.0]];
    let no: [Corners; 4] = [
        [[4.000001, 0.0, 0.0], [8.0, 0.0, 0.0], [8.0, 4.0, 0.0]],
        above(1e-6),
        above(1e-9),
        above(1e-20),
    ];
    let t = mesh_of(T);
    for (others, wanted) in [(&yes[..], true), (&no[..], false)] {
        for other in others {
            assert_eq!(touch(&t, &mesh_of(*other)), wanted, "{other:?}");
            let (one, two) = (T.map(DVec3::from), other.map(DVec3::from));
            assert_eq!(triangles_touch(&one, &two), wanted);
            assert_eq!(triangles_touch(&two, &one), wanted);
        }
    }
    // Triangles without area are the point or the segment that they look like, and touch.
    assert!(touch(&t, &mesh_of([[1.0, 1.0, 0.0]; 3])));
    assert!(touch(&t, &mesh_of([[1.0, 1.0, -1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])));
    assert!(!touch(&t, &mesh_of([[1.0, 1.0, 1e-20]; 3])));
}

fn cube(half: f64, center: [f64; 3]) -> Mesh {
    let corner = |k: u32| {
        let part = |axis: u32| if k >> axis & 1 == 0 { -half } else { half };
        DVec3::from(center) + DVec3::new(part(0), part(1), part(2))
    };
    let quads =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Mesh::new((0..8).map(corner).collect(), triangles).expect("a cube")
}

#[test]
fn cubes_touch_as_surfaces_do() {
    let unit = |center| cube(1.0, center);
    assert!(!touch(&cube(4.0, [0.0; 3]), &unit([0.0; 3])), "one inside the other");
    let origin = [0.0; 3];
    for center in [[2.0, 0.0, 0.0], [2.0, 2.0, 0.0], origin] {
        assert!(touch(&unit(origin), &unit(center)), "{center:?}");
    }
    let identity = Pose::IDENTITY;
    let (outer, inner) = (cube(4.0, origin), unit(origin));
    assert_eq!(MeshPair::new(&outer, &identity, &inner, &identity).distance(), 3.0);
}

#[test]
fn every_published_pair_of_the_cloth_step_is_found() {
    let Some(folder) = shared_data() else {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
        return;
    };
    let boxes = jostle_scenes::read_boxes(folder.join("cloth_swept.npy")).unwrap();
    let required =
        jostle_scenes::read_pairs(folder.join("required/cloth_swept_required_pairs.npy")).unwrap();
    assert_eq!((boxes.len(), required.len()), (138_828, 19_034));
    // Vertices first, then faces.
    let (vertices, faces) = boxes.split_at(46_598);
    let mut found = jostle::overlaps_between(vertices, faces).unwrap();
    found.sort_unstable();
    for &(vertex, face) in &required {
        let pair = (vertex, face - 46_598);
        assert!(found.binary_search(&pair).is_ok(), "{pair:?}");
    }
}

/// A box in single precision around points, and no smaller.
fn around(points: &[DVec3]) -> Aabb {
    let low = points.iter().copied().reduce(DVec3::min).unwrap().to_array();
    let high = points.iter().copied().reduce(DVec3::max).unwrap().to_array();
    Aabb { min: low.map(|at| (at as f32).next_down()), max: high.map(|at| (at as f32).next_up()) }
}

/// The published step has boxes but no vertices, so the times are asked of a cloth made here: a
/// sheet that falls on a bumpy ball and folds.
#[test]
fn a_cloth_step_from_swept_boxes_to_times_misses_nothing() {
    const N: u32 = 24;
    let wave = |k: u32| f64::from(k * 37 % 11) * 0.01;
    let sheet: Vec<DVec3> = (0..N * N)
        .map(|k| {
            DVec3::new(f64::from(k / N) * 0.1 - 1.2, 0.9 + wave(k), f64::from(k % N) * 0.1 - 1.2)
        })
        .collect();
    let fallen: Vec<DVec3> = sheet
        .iter()
        .map(|at| DVec3::new(at.x * 0.9, 0.4 - 0.3 * at.x * at.x, at.z * 0.9))
        .collect();
    let ball = cube(0.5, [0.05, 0.1, -0.02]);
    let still = ball.vertices();
    let vertices: Vec<Aabb> = (0..sheet.len()).map(|k| around(&[sheet[k], fallen[k]])).collect();
    let faces: Vec<Aabb> = (0..12).map(|face| around(&ball.corners(face))).collect();
    let time = |vertex: usize, face: usize| {
        let [a, b, c] = ball.triangles()[face].map(|k| still[k as usize]);
        vertex_face_time(&[sheet[vertex], a, b, c], &[fallen[vertex], a, b, c])
    };
    let candidates = jostle::overlaps_between(&vertices, &faces).unwrap();
    let found: Vec<(usize, usize)> = candidates
        .iter()
        .map(|&(vertex, face)| (vertex as usize, face as usize))
        .filter(|&(vertex, face)| time(vertex, face).is_some())
        .collect();
    let all = (0..sheet.len()).flat_map(|vertex| (0..12).map(move |face| (vertex, face)));
    let mut wanted: Vec<(usize, usize)> =
        all.filter(|&(vertex, face)| time(vertex, face).is_some()).collect();
    let mut sorted = found.clone();
    sorted.sort_unstable();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted);
    assert!(wanted.len() > 40 && candidates.len() < sheet.len() * 12 / 2, "{}", wanted.len());
    // Where a vertex meets the ball first it lies on it.
    for &(vertex, face) in &wanted {
        let at = sheet[vertex].lerp(fallen[vertex], time(vertex, face).unwrap());
        assert!(ball.project(at).distance < 1e-9);
    }
}
