//! Meshes through the command: queries, reports and benchmarks.

use crate::common::{Bench, shared_data};
use serde_json::{Value, json};

/// A cube of edge 2 about the origin.
fn cube() -> Value {
    let corner = |k: i32| json!([(k & 1) * 2 - 1, (k >> 1 & 1) * 2 - 1, (k >> 2) * 2 - 1]);
    let quads: [[i32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles: Vec<[i32; 3]> =
        quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    json!({"vertices": (0..8).map(corner).collect::<Vec<_>>(), "triangles": triangles})
}

/// The same cube as a file.
fn cube_obj() -> String {
    let cube = cube();
    let mut text = String::new();
    for at in cube["vertices"].as_array().unwrap() {
        text += &format!("v {} {} {}\n", at[0], at[1], at[2]);
    }
    for corners in cube["triangles"].as_array().unwrap() {
        let [a, b, c] = [0, 1, 2].map(|k| corners[k].as_u64().unwrap() + 1);
        text += &format!("f {a} {b} {c}\n");
    }
    text
}

fn ask(bench: &Bench, queries: &[Value], options: &[&str]) -> Vec<Value> {
    let lines: String = queries.iter().map(|query| format!("{query}\n")).collect();
    bench.write("queries.jsonl", lines);
    bench.json(&[&["contacts", "queries.jsonl", "--json"], options].concat())
}

#[test]
fn meshes_are_told_apart_and_their_pairs_are_counted() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("parts")).unwrap();
    bench.write("parts/cube.obj", cube_obj());
    let file = json!({"shape": {"mesh": {"file": "parts/cube.obj"}}});
    let at = |x: f64| json!({"shape": {"mesh": cube()}, "translation": [x, 0, 0]});
    let queries = [
        json!({"id": 1, "a": file, "b": at(5.0)}),
        json!({"id": 2, "a": file, "b": at(2.0)}),
        json!({"id": 3, "a": file, "b": at(1.0)}),
    ];
    let answers = ask(&bench, &queries, &["--triangle-pairs"]);
    assert_eq!(answers[0]["distance"], 3.0);
    assert_eq!(
        (&answers[0]["status"], &answers[0]["normal"]),
        (&json!("separated"), &json!([1.0, 0.0, 0.0]))
    );
    assert_eq!(answers[0]["triangle_pairs"], 0);
    for answer in &answers[1..] {
        assert_eq!((&answer["distance"], &answer["status"]), (&json!(0.0), &json!("overlapping")));
        assert!(answer["triangle_pairs"].as_u64() > Some(0) && answer["point_a"].is_null());
        assert_eq!(answer["sha256"].as_str().unwrap().len(), 64);
    }
    assert!(ask(&bench, &queries[..1], &[])[0].get("sha256").is_none());
}

#[test]
fn a_solid_contains_what_is_inside_it() {
    let bench = Bench::new();
    let mut solid = cube();
    solid["solid"] = json!(true);
    let small =
        json!({"vertices": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]], "triangles": [[0, 1, 2]]});
    let side = |mesh: &Value| json!({"shape": {"mesh": mesh}});
    let inside = json!([0.5, 0, 0]);
    let ray = json!({"origin": [0.5, 0, 0], "direction": [1, 0, 0]});
    let queries = [
        json!({"id": 1, "a": side(&solid), "b": side(&small)}),
        json!({"id": 2, "a": side(&cube()), "b": side(&small)}),
        json!({"id": 3, "a": side(&solid), "point": inside}),
        json!({"id": 4, "a": side(&cube()), "point": inside}),
        json!({"id": 5, "a": side(&solid), "ray": ray}),
        json!({"id": 6, "a": side(&cube()), "ray": ray}),
    ];
    let answers = ask(&bench, &queries, &[]);
    assert_eq!(
        (&answers[0]["status"], &answers[1]["status"]),
        (&json!("overlapping"), &json!("separated"))
    );
    assert_eq!((&answers[2]["distance"], &answers[2]["inside"]), (&json!(-0.5), &json!(true)));
    assert_eq!(answers[2]["normal"], json!([1.0, 0.0, 0.0]));
    assert_eq!(
        (&answers[3]["distance"], &answers[3]["normal"]),
        (&json!(0.5), &json!([-1.0, 0.0, 0.0]))
    );
    assert_eq!((&answers[4]["time"], &answers[4]["inside"]), (&json!(0.0), &json!(true)));
    assert_eq!((&answers[5]["time"], &answers[5]["point"]), (&json!(0.5), &json!([1.0, 0.0, 0.0])));
}

#[test]
fn a_mesh_meets_other_shapes() {
    let bench = Bench::new();
    let mut solid = cube();
    solid["solid"] = json!(true);
    let side = |mesh: &Value| json!({"shape": {"mesh": mesh}});
    let ball = |radius: f64, x: f64| {
        let shape = json!({"sphere": {"radius": radius}});
        json!({"shape": shape, "translation": [x, 0.25, 0.125]})
    };
    let block = json!({"cuboid": {"half_extents": [1, 1, 1]}});
    let mut thrown = ball(1.0, 5.0);
    thrown["motion"] = json!({"linear": [-6, 0, 0]});
    let queries = [
        json!({"id": 1, "a": side(&cube()), "b": ball(1.0, 2.5)}),
        json!({"id": 2, "a": ball(1.0, 1.5), "b": side(&cube())}),
        json!({"id": 3, "a": side(&cube()), "b": ball(0.25, 0.5)}),
        json!({"id": 4, "a": side(&solid), "b": ball(0.25, 0.5)}),
        json!({"id": 5, "a": side(&cube()), "b": thrown}),
        json!({"id": 6, "a": side(&cube()), "b": {"shape": block, "translation": [0, 4, 0]}}),
    ];
    let answers = ask(&bench, &queries, &[]);
    let near = |answer: &Value, key: &str, value: f64| {
        let found = answer[key].as_f64().unwrap_or(f64::NAN);
        assert!((found - value).abs() < 1e-9, "{key} of {answer}");
    };
    near(&answers[0], "distance", 0.5);
    near(&answers[1], "depth", 0.5);
    assert_eq!(answers[1]["normal"], json!([-1.0, 0.0, 0.0]));
    assert!(answers[0]["triangle_a"].as_u64() >= Some(10) && answers[1]["triangle_b"].is_u64());
    near(&answers[2], "distance", 0.25);
    near(&answers[3], "depth", 0.75);
    assert_eq!(answers[4]["impact"], "hit");
    assert!((answers[4]["time_of_impact"].as_f64().unwrap() - 0.5).abs() < 1e-6);
    near(&answers[5], "distance", 2.0);
}

#[test]
fn wrong_meshes_are_refused_by_line_and_path() {
    let bench = Bench::new();
    bench.write("bad.ply", "ply\nformat ascii 1.0\nelement vertex 9\n");
    let side = |mesh: Value| json!({"id": 1, "a": {"shape": {"mesh": mesh}}, "point": [0, 0, 0]});
    let wrong = [
        (side(json!({"file": "missing.obj"})), "a.shape.mesh.file: missing.obj: there is no such"),
        (side(json!({"file": "bad.ply"})), "a.shape.mesh.file: bad.ply: line 3: the file is cut"),
        (side(json!({"file": 7})), "a.shape.mesh.file is 7"),
        (side(json!({"file": "a.obj", "scale": 2})), "a.shape.mesh.scale is unknown"),
        (
            side(json!({"vertices": [[0, 0, 0]], "triangles": [[0, 0, 4]]})),
            "triangle 0 names vertex 4",
        ),
        (
            side(json!({"vertices": [[0, 0, 0]], "triangles": [[0, 0]]})),
            ".triangles[0] has 2 corners",
        ),
        (
            side(json!({"vertices": [[0, 0, 0]], "triangles": [[0, 0, -1]]})),
            ".triangles[0] has the corner -1",
        ),
        (side(json!({"vertices": [[0, 0, 0]], "triangles": []})), "a.shape.mesh: "),
    ];
    let text: String = wrong.iter().map(|(query, _)| format!("{query}\n")).collect();
    bench.write("wrong.jsonl", text);
    let stderr = bench.fails(2, &["contacts", "wrong.jsonl"]);
    for (line, (_, message)) in wrong.iter().enumerate() {
        let own = stderr
            .lines()
            .find(|own| own.starts_with(&format!("wrong.jsonl: line {}: ", line + 1)));
        assert!(own.is_some_and(|own| own.contains(message)), "{message} in\n{stderr}");
    }
}

#[test]
fn the_published_cases_are_answered_through_the_command() {
    let Some(folder) = shared_data() else {
        eprintln!("SKIPPED: no shared data; set JOSTLE_DATA to its folder");
        return;
    };
    let text = std::fs::read_to_string(folder.join("mesh_cases.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let identity = json!([[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    let file = |name: &Value| folder.join("meshes").join(name.as_str().unwrap());
    // A pose adds in double precision; where that is what single precision gives, all is equal.
    let cases: Vec<&Value> = cases["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["P"] == identity || case["intersects"] == false)
        .collect();
    let queries: Vec<Value> = cases
        .iter()
        .filter(|case| case["P"] == identity)
        .map(|case| {
            json!({"id": case["id"], "a": {"shape": {"mesh": {"file": file(&case["a"])}}},
                "b": {"shape": {"mesh": {"file": file(&case["b"])}}, "translation": case["t"]}})
        })
        .collect();
    assert!(!queries.is_empty());
    let answers = ask(&Bench::new(), &queries, &["--triangle-pairs"]);
    for answer in &answers {
        let case = cases.iter().find(|case| case["id"] == answer["id"]).unwrap();
        assert_eq!(answer["status"] != "separated", case["intersects"] == true);
        let (found, wanted) = (answer["triangle_pairs"].as_i64(), case["triangle_pairs"].as_i64());
        let off = (found.unwrap() - wanted.unwrap()).abs();
        assert!(off * 100 <= wanted.unwrap(), "case {}: {found:?}, not {wanted:?}", case["id"]);
    }
}

#[test]
fn a_mesh_is_described() {
    let bench = Bench::new();
    bench.write("cube.obj", cube_obj());
    let open: String = cube_obj().lines().skip(1).map(|line| format!("{line}\n")).collect();
    bench
        .write("open.obj", format!("v -1 -1 -1\n{}", open.trim_end().rsplit_once('\n').unwrap().0));
    let text = bench.ok(&["mesh", "cube.obj"]);
    assert!(text.contains("8 vertices, 12 triangles, 1 part"), "{text}");
    assert!(text.contains("a solid: closed and oriented") && !text.contains("wrong"), "{text}");
    let text = bench.ok(&["mesh", "open.obj"]);
    assert!(text.contains("a surface with borders") && text.contains("wrong: 3 edges"), "{text}");
    let rows = bench.json(&["mesh", "cube.obj", "open.obj", "--json"]);
    assert_eq!((&rows[0]["solid"], &rows[0]["volume"]), (&json!(true), &json!(8.0)));
    assert_eq!((&rows[1]["closed"], &rows[1]["border_edges"]), (&json!(false), &json!(3)));
    let stderr = bench.fails(2, &["mesh", "nothing.npy"]);
    assert!(stderr.contains("must end in .obj, .stl, .ply, .gltf or .glb"), "{stderr}");
}

/// A bracket of two bars, whose corner is hollow.
fn bracket_obj() -> String {
    let outline = [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]];
    let mut text = String::new();
    for z in 0..2 {
        outline.iter().for_each(|[x, y]| text += &format!("v {x} {y} {z}\n"));
    }
    for k in 0..6 {
        let (a, b) = (k + 1, (k + 1) % 6 + 1);
        text += &format!("f {a} {b} {} {}\n", b + 6, a + 6);
    }
    for [a, b, c] in [[1, 2, 3], [1, 3, 4], [1, 4, 6], [4, 5, 6]] {
        text += &format!("f {c} {b} {a}\nf {} {} {}\n", a + 6, b + 6, c + 6);
    }
    text
}

#[test]
fn a_mesh_is_decomposed() {
    let bench = Bench::new();
    bench.write("bracket.obj", bracket_obj());
    let text = bench.ok(&["decompose", "bracket.obj", "-o", "convex.obj"]);
    assert!(text.contains("convex.obj: 2 pieces of 16 vertices"), "{text}");
    assert!(text.contains("100.0 % of the solid's"), "{text}");
    let written = std::fs::read_to_string(bench.path("convex.obj")).unwrap();
    let objects: Vec<&str> = written.lines().filter(|line| line.starts_with("o ")).collect();
    assert_eq!(objects, ["o convex_0", "o convex_1"]);
    let whole = &bench.json(&["mesh", "convex.obj", "--json"])[0];
    assert_eq!((&whole["parts"], &whole["solid"]), (&json!(2), &json!(true)));
    assert!((whole["volume"].as_f64().unwrap() - 3.0).abs() < 1e-9);

    let again = ["decompose", "bracket.obj", "-o", "again.obj", "--json", "--max-pieces", "1"];
    let row = &bench.json(&again)[0];
    assert_eq!((&row["pieces"], &row["solid_volume"]), (&json!(1), &json!(3.0)));
    assert!((row["volume"].as_f64().unwrap() - 3.5).abs() < 1e-9, "{row}");
    assert!(row["concavity"].as_f64() > Some(0.1) && row["convex"][0]["vertices"] == 10);
    for threads in ["1", "2", "3", "8"] {
        let printed = bench.ok(&["decompose", "bracket.obj", "-o", "-", "--threads", threads]);
        assert_eq!(printed, written, "standard output and file differ");
    }
    let row = &bench.json(&[&again[..], &["--max-vertices", "8", "--threads", "2"]].concat())[0];
    assert_eq!((&row["convex"][0]["vertices"], &row["threads"]), (&json!(8), &json!(2)));
    assert!(row["volume"].as_f64() > Some(3.6), "{row}");
    let few = ["decompose", "bracket.obj", "-o", "few.obj", "--max-pieces", "1"];
    let text = bench.ok(&[&few[..], &["--max-vertices", "8"]].concat());
    assert!(text.contains("of 8 vertices") && text.contains("allow more pieces or vertices"));
}

#[test]
fn a_decomposition_begins_with_checks() {
    let bench = Bench::new();
    bench.write("bracket.obj", bracket_obj());
    for (options, words) in [
        (&["bracket.obj", "-o", "bracket.obj"][..], "is the input"),
        (&["bracket.obj", "-o", "missing/out.obj"], "missing"),
        (&["bracket.obj", "-o", "out.stl"], "must end in .obj"),
        (&["bracket.obj", "-o", "-", "--json"], "give a file name"),
        (&["bracket.obj", "-o", "out.obj", "--concavity", "0"], "concavity = 0"),
        (&["bracket.obj", "-o", "out.obj", "--concavity", "NaN"], "concavity = NaN"),
        (&["bracket.obj", "-o", "out.obj", "--planes", "9999"], "planes = 9999"),
        (&["bracket.obj", "-o", "out.obj", "--max-vertices", "7"], "max_vertices = 7"),
        (&["nothing.obj", "-o", "out.obj"], "nothing.obj: there is no such"),
    ] {
        let stderr = bench.fails(2, &[&["decompose"], options].concat());
        assert!(stderr.contains(words), "{words:?} in {stderr}");
        assert!(!bench.path("out.obj").exists());
    }
    assert_eq!(std::fs::read_to_string(bench.path("bracket.obj")).unwrap(), bracket_obj());
}

#[test]
fn meshes_are_timed() {
    let bench = Bench::new();
    bench.write("cube.obj", cube_obj());
    let quick = ["--poses", "2", "--mesh-passes", "1", "--json", "--csv", "mesh.csv"];
    let rows = bench.json(&[&["bench", "--mesh", "cube.obj,200"], &quick[..]].concat());
    assert_eq!(rows.len(), 2 * 16);
    assert_eq!((&rows[0]["mesh"], &rows[16]["mesh"]), (&json!("cube"), &json!("lumpy ball")));
    for row in &rows {
        assert!(row["min_ns"].as_f64() > Some(0.0), "{row}");
        let near = row["question"].as_str().unwrap();
        if near.contains("miss") && near.starts_with("boolean") {
            assert_eq!(row["found"], 0, "{row}");
        }
        if near.contains("hit") && near.starts_with("boolean") {
            assert_eq!(row["found"], row["asked"], "{row}");
        }
    }
    assert!(std::fs::read_to_string(bench.path("mesh.csv")).unwrap().lines().count() == 33);
    // Rays find the same one by one and all at once.
    let found = |mesh: &str, question: &str| {
        let same = |row: &&Value| row["mesh"] == mesh && row["question"] == question;
        rows.iter().find(same).map(|row| (row["asked"].clone(), row["found"].clone())).unwrap()
    };
    for mesh in ["cube", "lumpy ball"] {
        for kind in ["random", "coherent"] {
            let single = found(mesh, &format!("ray, {kind}"));
            assert_eq!(found(mesh, &format!("rays at once, {kind}")), single, "{mesh} {kind}");
        }
    }
    let stderr = bench.fails(2, &["bench", "--mesh", "3"]);
    assert!(stderr.contains("from 8"), "{stderr}");
}
