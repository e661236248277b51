//! Mesh files: every format against an independent reader, and everything that can be wrong with
//! one. Hostile files are cut off at every byte and have bytes flipped: whatever comes out, nothing
//! panics, and memory stays in proportion to the file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use glam::DVec3;
use jostle_scenes::{MeshData, MeshFormat, ObjGroup, Rng, parse_mesh, read_mesh, write_obj};
use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;

/// A bumpy grid of squares, with coordinates that single precision holds.
fn grid(n: u32) -> MeshData {
    let mut mesh = MeshData::default();
    for k in 0..(n + 1) * (n + 1) {
        let (x, y) = (k / (n + 1), k % (n + 1));
        let point = [x as f32, y as f32 - 0.3, (x * 7 + y * 13) as f32 % 5.0 * 0.1];
        mesh.vertices.push(DVec3::from_array(point.map(f64::from)));
    }
    for k in (0..n * n).map(|k| (k / n) * (n + 1) + k % n) {
        mesh.triangles.extend([[k, k + n + 1, k + 1], [k + 1, k + n + 1, k + n + 2]]);
    }
    mesh
}

fn single(mesh: &MeshData) -> Vec<[f32; 3]> {
    mesh.vertices.iter().map(|at| at.as_vec3().to_array()).collect()
}

fn parse(format: MeshFormat, bytes: &[u8]) -> Result<MeshData, String> {
    parse_mesh(Path::new("some.file"), format, bytes).map_err(|error| error.to_string())
}

fn obj(mesh: &MeshData) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.obj");
    let group = ObjGroup { name: "grid", vertices: &mesh.vertices, triangles: &mesh.triangles };
    write_obj(&path, &[group]).unwrap();
    assert_eq!(read_mesh(&path).unwrap(), *mesh);
    std::fs::read(&path).unwrap()
}

fn stl_text(mesh: &MeshData) -> Vec<u8> {
    let mut text = "solid grid\n".to_owned();
    for corners in &mesh.triangles {
        text += "facet normal 0 0 1\n outer loop\n";
        for &k in corners {
            let [x, y, z] = single(mesh)[k as usize];
            writeln!(text, "  vertex {x} {y} {z:e}").unwrap();
        }
        text += " endloop\nendfacet\n";
    }
    (text + "endsolid grid\n").into_bytes()
}

fn stl_binary(mesh: &MeshData) -> Vec<u8> {
    let at = single(mesh);
    let triangle = |corners: &[u32; 3]| stl_io::Triangle {
        normal: stl_io::Normal::new([0.0; 3]),
        vertices: corners.map(|k| stl_io::Vertex::new(at[k as usize])),
    };
    let triangles: Vec<stl_io::Triangle> = mesh.triangles.iter().map(triangle).collect();
    let mut bytes = Vec::new();
    stl_io::write_stl(&mut bytes, triangles.iter()).unwrap();
    bytes
}

/// With a property and an element that nobody asked for.
fn ply(mesh: &MeshData, encoding: &str) -> Vec<u8> {
    let (vertices, faces) = (mesh.vertices.len(), mesh.triangles.len());
    let mut out = format!(
        "ply\nformat {encoding} 1.0\ncomment made by a test\nelement vertex {vertices}\n\
         property float x\nproperty uchar red\nproperty float y\nproperty double z\n\
         element dust 2\nproperty list uchar short grains\nelement face {faces}\n\
         property list uchar int vertex_indices\nend_header\n"
    )
    .into_bytes();
    let big = encoding == "binary_big_endian";
    let turned = |mut bytes: Vec<u8>| {
        if big {
            bytes.reverse();
        }
        bytes
    };
    if encoding == "ascii" {
        let mut text = String::new();
        for at in &mesh.vertices {
            writeln!(text, "{} 7 {} {:?}", at.x as f32, at.y as f32, at.z).unwrap();
        }
        text += "2 5 6\n0\n";
        for [a, b, c] in &mesh.triangles {
            writeln!(text, "3 {a} {b} {c}").unwrap();
        }
        out.extend(text.into_bytes());
        return out;
    }
    for at in &mesh.vertices {
        out.extend(turned((at.x as f32).to_le_bytes().to_vec()));
        out.push(7);
        out.extend(turned((at.y as f32).to_le_bytes().to_vec()));
        out.extend(turned(at.z.to_le_bytes().to_vec()));
    }
    out.extend([2, 5, 0, 6, 0, 0]);
    for corners in &mesh.triangles {
        out.push(3);
        corners.iter().for_each(|k| out.extend(turned(k.to_le_bytes().to_vec())));
    }
    out
}

/// The buffer: indices of 16 bits, then positions, four bytes further apart than they need.
fn gltf_parts(mesh: &MeshData) -> (Vec<u8>, String) {
    let (vertices, corners) = (mesh.vertices.len(), 3 * mesh.triangles.len());
    let mut buffer: Vec<u8> =
        mesh.triangles.iter().flatten().flat_map(|&k| (k as u16).to_le_bytes()).collect();
    buffer.resize(buffer.len().next_multiple_of(4), 0);
    let first = buffer.len();
    for at in single(mesh) {
        buffer.extend(at.iter().flat_map(|part| part.to_le_bytes()));
        buffer.extend([0xff; 4]);
    }
    let length = buffer.len();
    let json = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"children":[1]}},{{"mesh":0,"translation":[0,0,0]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":1}},"indices":0}}]}}],
        "accessors":[
        {{"bufferView":0,"componentType":5123,"count":{corners},"type":"SCALAR"}},
        {{"bufferView":1,"componentType":5126,"count":{vertices},"type":"VEC3",
          "min":[0,0,0],"max":[9,9,9]}}],
        "bufferViews":[{{"buffer":0,"byteLength":{first}}},
        {{"buffer":0,"byteOffset":{first},"byteLength":{},"byteStride":16}}],
        "buffers":[{{URI"byteLength":{length}}}]}}"#,
        length - first
    );
    (buffer, json)
}

fn gltf(mesh: &MeshData) -> Vec<u8> {
    let (buffer, json) = gltf_parts(mesh);
    let data = STANDARD.encode(buffer);
    let uri = format!(r#""uri":"data:application/octet-stream;base64,{data}","#);
    json.replace("URI", &uri).into_bytes()
}

fn glb_of(mut json: Vec<u8>, buffer: &[u8]) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((20 + json.len() as u32 + 8 + buffer.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json[..]), (b"BIN\0", buffer)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn glb(mesh: &MeshData) -> Vec<u8> {
    let (buffer, json) = gltf_parts(mesh);
    glb_of(json.replace("URI", "").into_bytes(), &buffer)
}

/// A file of every kind.
fn every_kind(mesh: &MeshData) -> Vec<(&'static str, MeshFormat, Vec<u8>)> {
    vec![
        ("obj", MeshFormat::Obj, obj(mesh)),
        ("stl, text", MeshFormat::Stl, stl_text(mesh)),
        ("stl, binary", MeshFormat::Stl, stl_binary(mesh)),
        ("ply, text", MeshFormat::Ply, ply(mesh, "ascii")),
        ("ply, little", MeshFormat::Ply, ply(mesh, "binary_little_endian")),
        ("ply, big", MeshFormat::Ply, ply(mesh, "binary_big_endian")),
        ("gltf", MeshFormat::Gltf, gltf(mesh)),
        ("glb", MeshFormat::Gltf, glb(mesh)),
    ]
}

/// Corners of all triangles: what does not depend on how vertices are numbered.
fn corners(mesh: &MeshData) -> Vec<[DVec3; 3]> {
    mesh.triangles.iter().map(|three| three.map(|k| mesh.vertices[k as usize])).collect()
}

#[test]
fn all_formats_give_the_same_triangles() {
    let mesh = grid(9);
    for (name, format, bytes) in every_kind(&mesh) {
        let read = parse(format, &bytes).unwrap_or_else(|message| panic!("{name}: {message}"));
        assert_eq!(corners(&read), corners(&mesh), "{name}");
        // STL too: its equal corners are merged.
        assert_eq!(read.vertices.len(), mesh.vertices.len(), "{name}");
    }
}

#[test]
fn independent_readers_agree() {
    let mesh = grid(6);
    let wanted: Vec<[[f32; 3]; 3]> =
        corners(&mesh).iter().map(|three| three.map(|at| at.as_vec3().to_array())).collect();
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let none = |_: &Path| -> tobj::MTLLoadResult { Ok(Default::default()) };
    let (models, _) = tobj::load_obj_buf(&mut Cursor::new(obj(&mesh)), &options, none).unwrap();
    let found = &models[0].mesh;
    let at = |k: &u32| std::array::from_fn(|axis| found.positions[3 * *k as usize + axis]);
    let theirs: Vec<[[f32; 3]; 3]> = found
        .indices
        .chunks(3)
        .map(|three| [at(&three[0]), at(&three[1]), at(&three[2])])
        .collect();
    assert_eq!(theirs, wanted);
    for bytes in [stl_text(&mesh), stl_binary(&mesh)] {
        let found = stl_io::read_stl(&mut Cursor::new(bytes)).unwrap();
        let theirs: Vec<[[f32; 3]; 3]> =
            found.faces.iter().map(|face| face.vertices.map(|k| found.vertices[k].0)).collect();
        assert_eq!(theirs, wanted);
    }
    for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
        use ply_rs_bw::ply::{DefaultElement, Property};
        let parser = ply_rs_bw::parser::Parser::<DefaultElement>::new();
        let found = parser.read_ply(&mut Cursor::new(ply(&mesh, encoding))).unwrap();
        let number = |property: &Property| match property {
            Property::Float(at) => *at,
            Property::Double(at) => *at as f32,
            other => panic!("{other:?}"),
        };
        let at = |k: i32| {
            let vertex = &found.payload["vertex"][k as usize];
            ["x", "y", "z"].map(|axis| number(&vertex[axis]))
        };
        let faces = found.payload["face"].iter().map(|face| match &face["vertex_indices"] {
            Property::ListInt(list) => [at(list[0]), at(list[1]), at(list[2])],
            other => panic!("{other:?}"),
        });
        assert_eq!(faces.collect::<Vec<_>>(), wanted, "{encoding}");
    }
}

/// Reads a file that may be anything; it must end, without a panic and without much memory.
fn survive(name: &str, format: MeshFormat, bytes: &[u8]) -> Result<MeshData, String> {
    let mut result = Err(String::new());
    let used = allocation_counter::measure(|| result = parse(format, bytes));
    let most = 128 * bytes.len() as u64 + (256 << 10);
    assert!(used.bytes_max < most, "{name}: {} bytes for {}", used.bytes_max, bytes.len());
    match &result {
        Ok(mesh) => {
            let count = mesh.vertices.len() as u32;
            assert!(mesh.triangles.iter().flatten().all(|&k| k < count), "{name}");
            assert!(mesh.vertices.iter().all(|at| at.is_finite()), "{name}");
            assert!(!mesh.triangles.is_empty(), "{name}");
        }
        Err(message) => assert!(message.starts_with("some.file: "), "{name}: {message}"),
    }
    result
}

#[test]
fn files_cut_off_anywhere_are_faults_and_never_more_triangles() {
    let mesh = grid(3);
    for (name, format, bytes) in every_kind(&mesh) {
        let mut read = 0;
        for end in 0..bytes.len() {
            if let Ok(part) = survive(name, format, &bytes[..end]) {
                assert!(part.triangles.len() <= mesh.triangles.len());
                read += 1;
            }
        }
        // The lines of an obj file stand alone, so most beginnings of its faces are files; of the
        // others only the last byte of text may be missing.
        let most = if format == MeshFormat::Obj { bytes.len() } else { 8 };
        assert!(read <= most, "{name}: {read} of {} beginnings were read", bytes.len());
    }
}

#[test]
fn mutated_files_are_survived() {
    let mut rng = Rng::new(15);
    let (mut read, mut refused) = (0, 0);
    for (name, format, bytes) in every_kind(&grid(2)) {
        for _ in 0..1500 {
            let mut mutant = bytes.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(mutant.len());
                match rng.below(4) {
                    0 => mutant[at] ^= 1 << rng.below(8),
                    1 => mutant[at] = [0, 0xff, b'9', b'-', b' ', b'\n'][rng.below(6)],
                    2 => drop(mutant.remove(at)),
                    _ => {
                        let from = rng.below(mutant.len());
                        let part = mutant[from..mutant.len().min(from + 1 + rng.below(9))].to_vec();
                        mutant.splice(at..at, part);
                    }
                }
            }
            match survive(name, format, &mutant) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
    }
    // Most coordinates may be any number; most of the rest may not.
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}

#[test]
fn claims_of_billions_are_compared_with_the_file() {
    let mesh = grid(2);
    let more = |bytes: Vec<u8>, from: &str, to: &str| {
        let place = bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut claims = bytes.clone();
        claims.splice(place..place + from.len(), to.bytes());
        claims
    };
    let mut stl = stl_binary(&mesh);
    stl[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let binary = ply(&mesh, "binary_little_endian");
    let billions = "4294967295";
    for (format, bytes, message) in [
        (MeshFormat::Stl, stl, "claims 4294967295 triangles, it has 8"),
        (
            MeshFormat::Ply,
            more(binary.clone(), "vertex 9", &format!("vertex {billions}")),
            "claims 4294967295 of vertex",
        ),
        (
            MeshFormat::Ply,
            more(binary.clone(), "face 8", "face 18446744073709551615"),
            "claims 18446744073709551615 of face",
        ),
        (
            MeshFormat::Ply,
            more(ply(&mesh, "ascii"), "vertex 9", &format!("vertex {billions}")),
            "claims 4294967295 of vertex",
        ),
        (
            MeshFormat::Gltf,
            more(gltf(&mesh), "\"count\":9", "\"count\":4294967295"),
            "primitive 0: ",
        ),
        (
            MeshFormat::Gltf,
            more(gltf(&mesh), "\"byteOffset\":48", "\"byteOffset\":18446744073709551000"),
            "do not fit in buffer view 1",
        ),
    ] {
        let found = survive("claims", format, &bytes).unwrap_err();
        assert!(found.contains(message), "{found}");
    }
    // Elements without bytes may be as many as they like: they are not walked.
    let none = more(binary, "element dust 2\nproperty list uchar short grains\n", "");
    let dust = more(none, "element face", "element dust 99999999999999\nelement face");
    let cut = dust.windows(6).position(|part| part == [2, 5, 0, 6, 0, 0]).unwrap();
    let mut without = dust.clone();
    without.drain(cut..cut + 6);
    assert_eq!(corners(&survive("dust", MeshFormat::Ply, &without).unwrap()), corners(&mesh));
}

#[test]
fn faults_name_the_file_and_the_place() {
    let mesh = grid(2);
    let text = String::from_utf8(ply(&mesh, "ascii")).unwrap();
    let gltf = |from: &str, to: &str| {
        let (buffer, json) = gltf_parts(&mesh);
        assert!(json.contains(from), "{from}");
        glb_of(json.replace("URI", "").replacen(from, to, 1).into_bytes(), &buffer)
    };
    let ply_line = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    };
    for (format, bytes, message) in [
        (MeshFormat::Ply, ply_line("3 0 3 1", "3 0 3 99"), "face 0 names vertex 99; there are 9"),
        (MeshFormat::Ply, ply_line("3 0 3 1", "2 0 3"), "line 25: face 0 has 2 corners"),
        (MeshFormat::Ply, ply_line("3 0 3 1", "3 0 3"), "line 25: the line ends before"),
        (MeshFormat::Ply, ply_line("3 0 3 1", "3 0 -3 1"), "line 25: face 0 names vertex -3"),
        (MeshFormat::Ply, ply_line("0 7 -0.3", "0 7 nan"), "line 14: the coordinate \"nan\""),
        (MeshFormat::Ply, ply_line("float x", "float w"), "no number called x"),
        (MeshFormat::Ply, ply_line("float x", "quad x"), "line 5: \"quad\" is no type"),
        (MeshFormat::Ply, ply_line("ascii", "morse"), "line 2: the format \"morse\""),
        (MeshFormat::Ply, ply_line("vertex_indices", "corners"), "no list called vertex_indices"),
        (MeshFormat::Gltf, gltf("[1]", "[0]"), "node 0 has two parents"),
        (MeshFormat::Gltf, gltf("POSITION\":1", "POSITION\":7"), "accessor 7 is not in the file"),
        (MeshFormat::Gltf, gltf("\"count\":24", "\"count\":240"), "do not fit in buffer view 0"),
        (MeshFormat::Gltf, gltf("\"count\":9", "\"count\":2"), "names vertex"),
        (MeshFormat::Gltf, gltf("2.0", "2.0\"\"").to_vec(), "not readable as glTF"),
        (MeshFormat::Gltf, b"glTF\x01\0\0\0".to_vec(), "version 2"),
        (MeshFormat::Obj, b"v 0 0 0\n".to_vec(), "there is no triangle in it"),
        (MeshFormat::Stl, b"short".to_vec(), "neither text"),
    ] {
        let found = survive("fault", format, &bytes).unwrap_err();
        assert!(found.contains(message), "{found}, not {message}");
    }
    let ending = read_mesh("mesh.npy").unwrap_err().to_string();
    assert_eq!(ending, "mesh.npy: the name must end in .obj, .stl, .ply, .gltf or .glb");
    let missing = read_mesh("no/such.ply").unwrap_err().to_string();
    assert!(missing.contains("no/such.ply: there is no such file"), "{missing}");
}

#[test]
fn buffers_beside_a_file_are_found_and_those_elsewhere_are_not_looked_for() {
    let mesh = grid(2);
    let (buffer, json) = gltf_parts(&mesh);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let path = folder.path().join("in/mesh.gltf");
    std::fs::write(folder.path().join("in/a b.bin"), &buffer).unwrap();
    std::fs::write(folder.path().join("out.bin"), &buffer).unwrap();
    let with = |uri: &str| {
        std::fs::write(&path, json.replace("URI", &format!(r#""uri":"{uri}","#))).unwrap();
        read_mesh(&path).map_err(|error| error.to_string())
    };
    assert_eq!(with("a%20b.bin").unwrap(), mesh);
    assert!(with("../out.bin").unwrap_err().contains("not in the folder"));
    assert!(with("/dev/zero").unwrap_err().contains("not in the folder"));
    assert!(with("missing.bin").unwrap_err().contains("missing.bin"));
    std::fs::write(folder.path().join("in/a b.bin"), &buffer[..9]).unwrap();
    assert!(with("a%20b.bin").unwrap_err().contains("buffer 0 is cut off"));
}

#[test]
fn nodes_move_mirror_and_repeat_meshes() {
    let mesh = grid(2);
    let (buffer, json) = gltf_parts(&mesh);
    let json = json.replace("URI", "");
    let json = json.replace(
        r#""nodes":[{"children":[1]},{"mesh":0,"translation":[0,0,0]}]"#,
        r#""nodes":[{"children":[1,2],"translation":[10,0,0]},{"mesh":0,"scale":[2,2,2]},
           {"mesh":0,"scale":[-1,1,1]}]"#,
    );
    let read = parse(MeshFormat::Gltf, &glb_of(json.into_bytes(), &buffer)).unwrap();
    let all = corners(&read);
    assert_eq!(all.len(), 16);
    for (k, at) in corners(&mesh).iter().enumerate() {
        let moved = at.map(|at| DVec3::new(10.0, 0.0, 0.0) + 2.0 * at);
        let mirrored = at.map(|at| DVec3::new(10.0 - at.x, at.y, at.z));
        assert_eq!((all[k], all[8 + k]), (moved, [mirrored[0], mirrored[2], mirrored[1]]));
    }
}

#[test]
fn written_groups_are_read_back_to_the_last_bit() {
    let odd = [DVec3::new(1e-300, -0.1, 1.0 / 3.0), DVec3::splat(1e20), DVec3::ZERO];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.obj");
    let triangles = [[0, 1, 2]];
    let groups = ["a", "b"].map(|name| ObjGroup { name, vertices: &odd, triangles: &triangles });
    write_obj(&path, &groups).unwrap();
    let read = read_mesh(&path).unwrap();
    assert_eq!(read.vertices, [odd, odd].concat());
    assert_eq!(read.triangles, [[0, 1, 2], [3, 4, 5]]);
    let wrong = write_obj(folder.path().join("two.stl"), &groups).unwrap_err().to_string();
    assert!(wrong.ends_with("two.stl: the name must end in .obj"), "{wrong}");
}
