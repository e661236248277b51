use super::*;
use crate::mesh::Fill;
use crate::par::Workers;

/// The surface of boxes put together, as cells of a grid: closed, oriented, and as hollow as told.
fn blocks(cells: &[[i32; 3]]) -> Mesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let full = |at: [i32; 3]| cells.contains(&at);
    for &cell in cells {
        for axis in 0..3 {
            for up in [false, true] {
                let mut next = cell;
                next[axis] += if up { 1 } else { -1 };
                if full(next) {
                    continue;
                }
                let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                let first = vertices.len() as u32;
                for [a, b] in [[0, 0], [1, 0], [1, 1], [0, 1]] {
                    let mut at = cell;
                    at[axis] += i32::from(up);
                    at[u] += a;
                    at[v] += b;
                    vertices.push(DVec3::from_array(at.map(f64::from)));
                }
                let quad = [first, first + 1, first + 2, first + 3];
                let [a, b, c, d] = if up { quad } else { [quad[0], quad[3], quad[2], quad[1]] };
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    Mesh::new(vertices, triangles).unwrap()
}

/// A closed tube around the z axis, of large and small radius.
fn torus(large: f64, small: f64, rings: u32) -> Mesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let turn = |k: u32| std::f64::consts::TAU * f64::from(k) / f64::from(rings);
    for i in 0..rings {
        for j in 0..rings {
            let out = large + small * turn(j).cos();
            let at = DVec3::new(turn(i).cos() * out, turn(i).sin() * out, small * turn(j).sin());
            vertices.push(at);
            let at = |i: u32, j: u32| (i % rings) * rings + j % rings;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    Mesh::new(vertices, triangles).unwrap()
}

fn cut(mesh: &Mesh) -> Decomposition {
    decompose(mesh, &DecomposeOptions::default()).unwrap()
}

/// How far outside the nearest piece a point is.
fn outside(found: &Decomposition, point: DVec3) -> f64 {
    let from = |hull: &Hull| {
        let faces = 0..hull.face_count();
        faces
            .map(|face| hull.face_normal(face).dot(point) - hull.face_offset(face))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    found.pieces.iter().map(|piece| from(&piece.hull)).fold(f64::INFINITY, f64::min)
}

/// Vertices and points of all triangles lie in the pieces, volumes add up, and the distances of
/// hulls from the solid are those that are told.
fn check(mesh: &Mesh, found: &Decomposition) {
    let size = (mesh.max() - mesh.min()).max_element();
    for triangle in 0..mesh.triangles().len() as u32 {
        let [a, b, c] = mesh.corners(triangle);
        for [u, v] in [[0.0, 0.0], [0.3, 0.3], [0.5, 0.5], [0.1, 0.8]] {
            let far = outside(found, a + (b - a) * u + (c - a) * v);
            assert!(far <= 1e-11 * size, "triangle {triangle} sticks out by {far}");
        }
    }
    let whole = Outline::new(mesh.vertices());
    let solid = mesh.report().volume.abs();
    assert!(found.volume >= solid * (1.0 - 1e-9), "{} of {solid}", found.volume);
    let solid = mesh.clone().with_fill(Fill::Solid);
    let mut worst: f64 = 0.0;
    for piece in &found.pieces {
        assert!(piece.volume <= whole.volume * (1.0 + 1e-9));
        let [a, b, c] = [0, 1, 2].map(|k| piece.hull.vertices()[k % piece.hull.vertices().len()]);
        for &vertex in piece.hull.vertices() {
            for [u, v] in [[0.2, 0.2], [0.6, 0.3], [0.1, 0.4]] {
                let point = vertex * (1.0 - u - v) + a * u + (b + c) * (0.5 * v);
                worst = worst.max(solid.project(point).distance);
            }
        }
    }
    let told = found.concavity * size;
    assert!(worst <= told * 1.1 + 1e-9 * size, "{worst} from the solid, not {told}");
}

fn bits(found: &Decomposition) -> Vec<[u64; 3]> {
    let hulls = found.pieces.iter().flat_map(|piece| piece.hull.vertices());
    hulls.map(|vertex| vertex.to_array().map(f64::to_bits)).collect()
}

#[test]
fn convex_input_is_one_piece() {
    let cube = blocks(&[[0; 3]]);
    let found = cut(&cube);
    check(&cube, &found);
    assert_eq!((found.pieces.len(), found.cuts), (1, 0));
    assert!((found.volume - 1.0).abs() < 1e-12 && found.concavity < 1e-12);
    let bar = blocks(&[[0, 0, 0], [1, 0, 0], [2, 0, 0]]);
    assert_eq!(cut(&bar).pieces.len(), 1);
}

#[test]
fn blocks_come_apart_where_they_were_put_together() {
    for (cells, count) in [
        (&[[0, 0, 0], [1, 0, 0], [1, 1, 0]][..], 2),
        (&[[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [2, 1, 0]], 3),
        (&[[1, 1, 1], [0, 1, 1], [2, 1, 1], [1, 0, 1], [1, 2, 1], [1, 1, 0], [1, 1, 2]], 3),
    ] {
        let mesh = blocks(cells);
        let fine = DecomposeOptions::default().with_concavity(1e-3);
        let found = decompose(&mesh, &fine).unwrap();
        check(&mesh, &found);
        assert!(found.concavity < 1e-9, "{cells:?}: {}", found.concavity);
        // A cross of three bars can be three overlapping pieces, or up to seven that are not.
        assert!((count..=7).contains(&found.pieces.len()), "{}", found.pieces.len());
    }
}

#[test]
fn separate_parts_stay_separate() {
    // Nearer to each other than the concavity allows.
    let mut mesh = blocks(&[[0; 3]]);
    let (mut vertices, mut triangles) = (mesh.vertices().to_vec(), mesh.triangles().to_vec());
    let first = vertices.len() as u32;
    vertices.extend(mesh.vertices().iter().map(|&at| at + DVec3::X * 1.001));
    triangles.extend(mesh.triangles().iter().map(|corners| corners.map(|v| v + first)));
    mesh = Mesh::new(vertices, triangles).unwrap();
    let found = cut(&mesh);
    check(&mesh, &found);
    assert_eq!(found.pieces.len(), 2);
    let one = DecomposeOptions::default().with_max_pieces(1);
    let found = decompose(&mesh, &one).unwrap();
    assert_eq!(found.pieces.len(), 1);
    check(&mesh, &found);
}

#[test]
fn a_cavity_stays_empty() {
    let all = (0..27).map(|k| [k % 3, k / 3 % 3, k / 9]);
    let shell: Vec<[i32; 3]> = all.filter(|at| *at != [1; 3]).collect();
    let mesh = blocks(&shell);
    assert_eq!(parts::solids(&mesh, 99).len(), 1, "the cavity belongs to its shell");
    let found = cut(&mesh);
    check(&mesh, &found);
    assert!(found.concavity < 0.02, "{}", found.concavity);
    assert!(outside(&found, DVec3::splat(1.5)) > 0.4, "the cavity is filled");
    assert!(found.pieces.len() >= 6, "{} pieces", found.pieces.len());
}

#[test]
fn a_ring_is_covered_and_keeps_its_hole() {
    let mesh = torus(2.0, 0.5, 24);
    for (concavity, most) in [(0.02, 32), (0.05, 32), (0.001, 5)] {
        let options = DecomposeOptions::default().with_concavity(concavity).with_max_pieces(most);
        let found = decompose(&mesh, &options).unwrap();
        check(&mesh, &found);
        assert!(found.pieces.len() <= most);
        assert!(found.concavity <= concavity * 1.2 || found.pieces.len() == most);
        assert!(most == 5 || outside(&found, DVec3::ZERO) > 0.5, "the hole is filled");
        assert_eq!(bits(&found), bits(&decompose(&mesh, &options).unwrap()), "runs differ");
        let Shape::Compound(shape) = found.to_shape() else { panic!("no compound") };
        assert_eq!(shape.pieces().len(), found.pieces.len());
    }
}

#[test]
fn few_vertices_hold_as_much_and_tell_what_they_add() {
    let mesh = torus(2.0, 0.5, 40);
    let plain = DecomposeOptions::default();
    let found = cut(&mesh);
    let most = found.pieces.iter().map(|piece| piece.hull.vertices().len()).max().unwrap();
    assert!(most > 64, "{most} vertices are no test");
    let (mut volume, mut concavity) = (found.volume, found.concavity);
    for most in [64, 24, 8] {
        let fewer = decompose(&mesh, &plain.with_max_vertices(most)).unwrap();
        check(&mesh, &fewer);
        assert_eq!((fewer.pieces.len(), fewer.cuts), (found.pieces.len(), found.cuts));
        for piece in &fewer.pieces {
            assert!(piece.hull.vertices().len() <= most);
            // The corners are what is furthest out.
            let far = piece.hull.vertices().iter().map(|at| mesh.project(*at).distance);
            let size = (mesh.max() - mesh.min()).max_element();
            let told = piece.concavity * size;
            assert!(far.fold(0.0, f64::max) <= told.max(0.5) + 1e-9, "more than {told}");
        }
        assert!(fewer.volume > volume && fewer.concavity >= concavity);
        (volume, concavity) = (fewer.volume, fewer.concavity);
    }
    assert!(concavity > 0.05, "boxes stick out: {concavity}");
    let loose = decompose(&mesh, &plain.with_max_vertices(most)).unwrap();
    assert!(bits(&loose) == bits(&found), "pieces within the limit changed");
}

#[test]
fn threads_change_nothing() {
    let shell: Vec<[i32; 3]> =
        (0..64).map(|k| [k % 4, k / 4 % 4, k / 16]).filter(|at| at[0] * at[1] != at[2]).collect();
    let mut several = blocks(&[[0, 0, 0], [1, 0, 0], [1, 1, 0], [4, 0, 0], [4, 1, 0], [5, 1, 0]]);
    several = several.with_fill(Fill::Solid);
    let (plain, mut joined) = (DecomposeOptions::default(), 0);
    for (mesh, options) in [
        (torus(2.0, 0.5, 40), plain.with_max_vertices(24)),
        (torus(2.0, 0.5, 24), plain.with_concavity(0.002).with_max_pieces(6)),
        (torus(2.0, 0.5, 12), plain.with_concavity(0.01).with_max_pieces(200)),
        (blocks(&shell), plain),
        (several, plain.with_max_pieces(2)),
    ] {
        let run = |workers: &Workers| {
            let mut calls = Vec::new();
            let found = decompose_with(&mesh, &options, workers, |progress| {
                calls.push(*progress);
                true
            })
            .unwrap();
            let told = found.pieces.iter().map(|piece| [piece.volume, piece.concavity]);
            (bits(&found), told.collect::<Vec<_>>(), found.cuts, calls)
        };
        let alone = run(&Workers::one());
        assert!(alone.2 > 0, "nothing was cut");
        joined += alone.2.saturating_sub(alone.1.len());
        for count in [2, 3, 8] {
            assert!(run(&Workers::new(count).unwrap()) == alone, "{count} threads");
        }
    }
    assert!(joined > 20, "{joined} pieces were joined");
}

#[test]
fn turned_inside_out_it_is_the_same() {
    let mesh = torus(2.0, 0.7, 12);
    let flipped = mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect();
    let flipped = Mesh::new(mesh.vertices().to_vec(), flipped).unwrap();
    let (one, other) = (cut(&mesh), cut(&flipped));
    assert_eq!((one.pieces.len(), one.cuts), (other.pieces.len(), other.cuts));
    assert!((one.volume - other.volume).abs() < 1e-9 && one.cuts > 3);
}

#[test]
fn bad_meshes_are_decomposed_all_the_same() {
    let point = Mesh::new(vec![DVec3::ONE; 3], vec![[0, 1, 2]; 50_000]).unwrap();
    let found = cut(&point);
    assert_eq!((found.pieces.len(), found.volume, found.concavity), (1, 0.0, 0.0));

    let corner = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let outline = [[0.0, 0.0], [2.0, 0.0], [2.0, 0.5], [0.5, 0.5], [0.5, 2.0], [0.0, 2.0]];
    let vertices: Vec<DVec3> = outline.iter().map(|&[x, y]| corner(x, y)).collect();
    let sheet = vec![[0, 1, 2], [0, 2, 3], [0, 3, 5], [3, 4, 5]];
    let found = cut(&Mesh::new(vertices, sheet).unwrap());
    assert!(found.pieces.len() >= 2 && found.volume == 0.0, "{} pieces", found.pieces.len());

    // A box with a wall missing, one with a flipped wall, and triangles everywhere.
    let cube = blocks(&[[0, 0, 0], [1, 0, 0], [1, 1, 0]]);
    let open = Mesh::new(cube.vertices().to_vec(), cube.triangles()[2..].to_vec()).unwrap();
    let mut turned = cube.triangles().to_vec();
    turned[4].swap(0, 1);
    let turned = Mesh::new(cube.vertices().to_vec(), turned).unwrap();
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    let cloud = (0..300).map(|_| DVec3::new(random(), random(), random())).collect();
    let soup = Mesh::new(cloud, (0..100).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect()).unwrap();
    for mesh in [open, turned, soup] {
        let found = cut(&mesh);
        assert!((1..=32).contains(&found.pieces.len()));
        for &vertex in mesh.vertices() {
            assert!(outside(&found, vertex) <= 1e-11);
        }
    }
}

#[test]
fn scale_and_place_do_not_matter() {
    let mesh = blocks(&[[0, 0, 0], [1, 0, 0], [1, 1, 0]]);
    let expected = cut(&mesh).pieces.len();
    for scale in [2f64.powi(-150), 2f64.powi(150)] {
        let mut other = mesh.clone();
        let vertices: Vec<DVec3> = mesh.vertices().iter().map(|&at| at * scale).collect();
        other.set_vertices(&vertices, &Workers::one()).unwrap();
        assert_eq!(cut(&other).pieces.len(), expected, "{scale}");
    }
    let tiny: Vec<DVec3> = mesh.vertices().iter().map(|&at| at * 1e-70).collect();
    let tiny = Mesh::new(tiny, mesh.triangles().to_vec()).unwrap();
    let error = decompose(&tiny, &DecomposeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("smaller than 1e-60"));
}

#[test]
fn wrong_options_are_told_and_a_stop_stops() {
    let mesh = torus(2.0, 0.5, 12);
    let plain = DecomposeOptions::default();
    for (options, name) in [
        (plain.with_max_pieces(0), "max_pieces = 0"),
        (plain.with_concavity(0.0), "concavity = 0"),
        (plain.with_concavity(f64::NAN), "concavity = NaN"),
        (plain.with_planes(0), "planes = 0"),
        (plain.with_max_vertices(7), "max_vertices = 7"),
    ] {
        let error = decompose(&mesh, &options).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    let (mut calls, mut share) = (0, 0.0);
    let stopped = decompose_with(&mesh, &plain, &Workers::one(), |progress| {
        calls += 1;
        calls < 3 && progress.pieces > 0
    });
    assert_eq!((stopped.unwrap_err(), calls), (DecomposeError::Stopped, 3));
    decompose_with(&mesh, &plain, &Workers::one(), |progress| {
        assert!(progress.share >= share, "{} after {share}", progress.share);
        share = progress.share;
        true
    })
    .unwrap();
    assert_eq!(share, 1.0);
}
