use super::*;
use crate::aabb::Aabb;
use crate::simd::node8::WIDTH;

/// A bumpy grid of `n` by `n` squares.
fn grid(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let height = |x: u32, y: u32| f64::from((x * 7 + y * 13) % 5) * 0.1;
    let at = |k: u32| (k / (n + 1), k % (n + 1));
    let vertices = (0..(n + 1) * (n + 1))
        .map(|k| DVec3::new(f64::from(at(k).0), f64::from(at(k).1), height(at(k).0, at(k).1)))
        .collect();
    let squares = (0..n * n).map(|k| (k / n) * (n + 1) + k % n);
    let triangles =
        squares.flat_map(|k| [[k, k + n + 1, k + 1], [k + 1, k + n + 1, k + n + 2]]).collect();
    (vertices, triangles)
}

/// Every triangle is in one leaf, every lane holds what is below it.
fn validate(mesh: &Mesh) {
    let tree = mesh.tree();
    let mut seen = vec![false; mesh.triangles().len()];
    for node in 0..tree.nodes.len() {
        for lane in 0..WIDTH {
            let aabb = tree.nodes[node].boxes.get(lane);
            if aabb.min[0].is_nan() {
                continue;
            }
            match tree.nodes[node].links[lane].child() {
                Child::Node(place) => {
                    assert!(place as usize > node, "children come after their parent");
                    let child = &tree.nodes[place as usize].boxes;
                    for below in 0..WIDTH {
                        let inner = child.get(below);
                        assert!(inner.min[0].is_nan() || aabb.contains(&inner));
                    }
                }
                Child::Leaf(place) => {
                    let leaf = &tree.leaves[place as usize];
                    for &triangle in leaf.triangles() {
                        assert!(!std::mem::replace(&mut seen[triangle as usize], true));
                        for aabb in [aabb, leaf.bounds()] {
                            hold(&aabb, tree.frame, mesh.corners(triangle));
                        }
                    }
                }
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}

fn hold(aabb: &Aabb, frame: Frame, corners: [DVec3; 3]) {
    for corner in corners {
        let at = frame.enter(corner).to_array();
        for k in 0..3 {
            assert!((f64::from(aabb.min[k])..=f64::from(aabb.max[k])).contains(&at[k]));
        }
    }
}

#[test]
fn trees_of_all_sizes_hold_every_triangle_whatever_the_threads() {
    for n in [1, 2, 3, 5, 17, 70, 140] {
        let (vertices, triangles) = grid(n);
        let mesh = Mesh::new(vertices.clone(), triangles.clone()).unwrap();
        validate(&mesh);
        for count in [2, 3, 8] {
            let workers = Workers::new(count).unwrap();
            let other = Mesh::with_workers(vertices.clone(), triangles.clone(), &workers).unwrap();
            assert_eq!(mesh.tree.leaves, other.tree.leaves);
            let bits = |mesh: &Mesh| format!("{:?}", mesh.tree.nodes);
            assert_eq!(bits(&mesh), bits(&other), "{n} squares, {count} threads");
        }
        if n >= 70 {
            let each = mesh.bytes() as f64 / mesh.triangles().len() as f64;
            assert!(each <= 64.0, "{each} bytes a triangle");
        }
    }
}

/// Clusters of very different sizes and counts: ranges that are split ahead are then not always
/// the ones that are wanted next.
#[test]
fn uneven_soups_are_built_alike_by_any_number_of_threads() {
    let mut state = 29u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for count in [4_000, 4_100, 9_000, 33_000] {
        let mut vertices = Vec::new();
        while vertices.len() < 3 * count {
            let place = DVec3::new(number(), number(), number()) * 100.0;
            let (size, most) = (50.0 * number().powi(8), count - vertices.len() / 3);
            let own = 3 * (1 + (number() * count as f64 * 0.2) as usize).min(most);
            let around = |_| place + DVec3::new(number(), number(), number()) * size;
            vertices.extend((0..own).map(around));
        }
        let triangles: Vec<[u32; 3]> =
            (0..count as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        let mesh = Mesh::new(vertices.clone(), triangles.clone()).unwrap();
        validate(&mesh);
        for threads in [2, 3, 8] {
            let workers = Workers::new(threads).unwrap();
            let other = Mesh::with_workers(vertices.clone(), triangles.clone(), &workers).unwrap();
            assert_eq!(mesh.tree.leaves, other.tree.leaves, "{count} and {threads}");
            let bits = |mesh: &Mesh| format!("{:?}", mesh.tree.nodes);
            assert!(bits(&mesh) == bits(&other), "{count} triangles, {threads} threads");
        }
    }
}

/// Clusters of which each is a sixteenth of the size of the one before: ranges fall into
/// very uneven halves.
#[test]
fn clusters_within_clusters_are_built_alike_by_any_number_of_threads() {
    let mut vertices = Vec::new();
    for cluster in 0..28 {
        let size = 16f64.powi(-cluster);
        for k in 0..3 * 2000 {
            let part = |step: u32| f64::from(k * step % 6007) / 6007.0;
            vertices.push(DVec3::new(1.0 + 0.1 * part(1), part(71), part(577)) * size);
        }
    }
    let triangles: Vec<[u32; 3]> =
        (0..vertices.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let mesh = Mesh::new(vertices.clone(), triangles.clone()).unwrap();
    validate(&mesh);
    for threads in [2, 3, 8] {
        let workers = Workers::new(threads).unwrap();
        let other = Mesh::with_workers(vertices.clone(), triangles.clone(), &workers).unwrap();
        assert_eq!(mesh.tree.leaves, other.tree.leaves, "{threads}");
        let bits = |mesh: &Mesh| format!("{:?}", mesh.tree.nodes);
        assert!(bits(&mesh) == bits(&other), "{threads} threads");
    }
}

#[test]
fn a_million_triangles_in_one_point_are_built() {
    let mesh = Mesh::new(vec![DVec3::ONE; 3], vec![[0, 1, 2]; 1_000_000]).unwrap();
    let report = mesh.report();
    assert_eq!(report.degenerate_triangles, 1_000_000);
    assert_eq!(report.duplicate_triangles, 999_999);
    assert_eq!(report.duplicate_vertices, 2);
    assert_eq!((report.area, report.parts), (0.0, 1));
}

#[test]
fn a_mesh_that_deforms_is_fitted_and_one_that_is_torn_is_rebuilt() {
    let (mut vertices, triangles) = grid(40);
    let mut mesh = Mesh::new(vertices.clone(), triangles).unwrap();
    for (k, vertex) in vertices.iter_mut().enumerate() {
        vertex.z += 0.01 * f64::from(k as u32 % 11);
    }
    let workers = Workers::new(2).unwrap();
    assert_eq!(mesh.set_vertices(&vertices, &workers), Ok(Refit::Fitted));
    validate(&mesh);
    let count = vertices.len();
    let torn: Vec<DVec3> = (0..count).map(|k| vertices[k * 677 % count]).collect();
    assert_eq!(mesh.set_vertices(&torn, &workers), Ok(Refit::Rebuilt));
    validate(&mesh);
    let far: Vec<DVec3> = torn.iter().map(|at| *at * 1e20 + 1e25).collect();
    assert_eq!(mesh.set_vertices(&far, &workers), Ok(Refit::Rebuilt));
    validate(&mesh);
    // Bounds leave out vertices that no triangle uses, whether all are used or not.
    for used in [vertices.len(), vertices.len() + 1] {
        let mut points = vertices.clone();
        points.resize(used, DVec3::splat(1e6));
        let mut other = Mesh::new(points.clone(), mesh.triangles().to_vec()).unwrap();
        let bounds = (other.min(), other.max(), other.bounding_radius());
        assert!(other.max().max_element() < 1e3 && other.bounding_radius() < 1e3);
        other.set_vertices(&points, &workers).unwrap();
        assert_eq!((other.min(), other.max(), other.bounding_radius()), bounds);
    }
    let error = mesh.set_vertices(&far[1..], &workers).unwrap_err();
    assert!(error.to_string().contains("give one for each"), "{error}");
    let mut bad = far.clone();
    bad[7].y = f64::NAN;
    assert!(mesh.set_vertices(&bad, &workers).unwrap_err().to_string().contains("vertex 7: y"));
    assert_eq!(mesh.vertices(), far);
}

#[test]
fn the_report_counts_what_is_wrong() {
    let (vertices, triangles) = grid(3);
    let report = Mesh::new(vertices.clone(), triangles.clone()).unwrap().report();
    assert_eq!((report.border_edges, report.flipped_edges, report.parts), (12, 0, 1));
    let mut flipped = triangles.clone();
    flipped[4].swap(0, 1);
    flipped.push(flipped[0]);
    let report = Mesh::new(vertices, flipped).unwrap().report();
    // A triangle in the middle has three neighbours; the copy makes one edge crowded.
    assert_eq!(report.duplicate_triangles, 1);
    assert!(report.flipped_edges >= 3 && report.crowded_edges == 1 && !report.is_oriented());
}

#[test]
fn bad_meshes_are_refused_by_name() {
    let at = |x: f64| DVec3::new(x, 0.0, 0.0);
    assert_eq!(Mesh::new(vec![at(0.0)], vec![]).unwrap_err(), MeshError::Empty);
    let nan = Mesh::new(vec![at(0.0), at(f64::NAN)], vec![[0, 1, 0]]).unwrap_err();
    assert!(nan.to_string().starts_with("vertex 1: x = NaN"), "{nan}");
    let index = Mesh::new(vec![at(0.0)], vec![[0, 0, 0], [0, 9, 0]]).unwrap_err();
    assert_eq!(index.to_string(), "triangle 1 names vertex 9; there are 1");
}

/// Checks and bounds of meshes that several tasks look at: the first that is wrong is named, and
/// the last counts as much as the first.
#[test]
fn large_meshes_are_checked_alike_by_any_number_of_threads() {
    let (vertices, triangles) = grid(70);
    let last = vertices.len() - 1;
    for count in [1, 2, 3, 8] {
        let workers = Workers::new(count).unwrap();
        let make = |vertices: &[DVec3], triangles: &[[u32; 3]]| {
            Mesh::with_workers(vertices.to_vec(), triangles.to_vec(), &workers)
        };
        for place in [0, 2047, 2048, 4100, last] {
            let mut bad = vertices.clone();
            (bad[place].y, bad[last].z) = (f64::INFINITY, f64::NAN);
            let error = make(&bad, &triangles).unwrap_err().to_string();
            assert!(error.starts_with(&format!("vertex {place}: y = inf")), "{error}");
            let mut far = vertices.clone();
            far[place] = DVec3::new(-300.0, 500.0, 7.0);
            let mesh = make(&far, &triangles).unwrap();
            let min = far.iter().fold(DVec3::INFINITY, |min, at| min.min(*at));
            let max = far.iter().fold(DVec3::NEG_INFINITY, |max, at| max.max(*at));
            assert_eq!((mesh.min(), mesh.max()), (min, max));
            let center = mesh.center();
            let most = far.iter().map(|at| at.distance(center)).fold(0.0, f64::max);
            assert!((most..most * (1.0 + 1e-12)).contains(&mesh.bounding_radius()));
            // The same vertex at the end, where no triangle uses it.
            far.push(far[place]);
            far[place] = vertices[place];
            let mesh = make(&far, &triangles).unwrap();
            let plain = make(&vertices, &triangles).unwrap();
            assert_eq!((mesh.min(), mesh.max()), (plain.min(), plain.max()));
            assert_eq!(mesh.bounding_radius(), plain.bounding_radius());
        }
        for place in [0, 2047, 2048, 6200, triangles.len() - 1] {
            let mut bad = triangles.clone();
            bad[triangles.len() - 1][0] = u32::MAX;
            bad[place][2] = 5041;
            bad[place][0] = 0;
            let error = make(&vertices, &bad).unwrap_err().to_string();
            let expected = format!("triangle {place} names vertex 5041; there are 5041");
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn extreme_scales_are_searched_alike() {
    for scale in [1e-60, 1e-30, 1.0, 1e30, 1e59] {
        let (vertices, triangles) = grid(8);
        let scaled = vertices.iter().map(|at| *at * scale / 10.0).collect();
        validate(&Mesh::new(scaled, triangles).unwrap());
    }
}
