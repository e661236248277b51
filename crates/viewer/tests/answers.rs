//! What clients see is what the library finds.

mod common;

use common::{Client, parts, paused, scene};
use jostle::recording::{Call, Recording};
use jostle::{Algorithm, Boxes, Detector, Filter, Stepper, Workers};
use jostle_scenes::{Scene, SceneSpec};
use jostle_viewer::{Setup, Show, export};
use serde_json::{Value, json};

/// The detector that a scene's first frames lead to.
fn library(scene: &mut Scene, frame: u64) -> Detector {
    let mut detector = Detector::default();
    detector.boxes_mut().insert_all(scene.boxes(), Filter::ALL).unwrap();
    detector.step().unwrap();
    while scene.frame() < frame {
        scene.advance();
        detector.boxes_mut().set_all(scene.boxes()).unwrap();
        detector.step().unwrap();
    }
    detector
}

#[test]
fn stepping_and_seeking_show_the_pairs_of_each_frame() {
    let viewer = paused(scene("uniform", 800));
    let mut client = Client::new(&viewer);
    let expected = |frame: u64| {
        let mut scene = Scene::new("uniform", 800, 1, &[]).unwrap();
        let detector = library(&mut scene, frame);
        let events = detector.events();
        (detector.pairs().len(), events.began.len(), events.ended.len())
    };
    let shown = |header: &Value| {
        let number = |key: &str| header[key].as_u64().unwrap() as usize;
        (number("pairs"), number("began"), number("ended"))
    };
    for frame in 1..4u64 {
        client.ask(json!({"do": "step"})).unwrap();
        let (header, _) = client.frame(|header| header["frame"] == frame);
        assert_eq!(shown(&header), expected(frame), "frame {frame}");
    }
    for frame in [40, 7, 0, 12] {
        client.ask(json!({"do": "seek", "frame": frame})).unwrap();
        let (header, _) = client.frame(|header| header["frame"] == frame);
        assert_eq!(shown(&header), expected(frame), "frame {frame}");
    }
}

#[test]
fn a_switch_of_algorithm_or_threads_loses_no_event() {
    let viewer = paused(scene("uniform", 600));
    let mut client = Client::new(&viewer);
    client.ask(json!({"do": "compare", "name": "sort-sweep"})).unwrap();
    let mut balance = client.frame(|header| header["frame"] == 0).0["began"].as_i64().unwrap();
    for (frame, algorithm) in (1..).zip(Algorithm::ALL) {
        client.ask(json!({"do": "algorithm", "name": algorithm.name()})).unwrap();
        client.ask(json!({"do": "threads", "count": 1 + frame % 3})).unwrap();
        client.ask(json!({"do": "step"})).unwrap();
        let (header, _) = client.frame(|header| header["frame"] == frame);
        assert_eq!(header["algorithm"], algorithm.name());
        assert_eq!(header["second"]["pairs"], header["pairs"], "{algorithm}");
        balance += header["began"].as_i64().unwrap() - header["ended"].as_i64().unwrap();
        assert_eq!(header["pairs"], balance, "{algorithm}");
    }
}

#[test]
fn the_inspector_names_the_partners_that_the_library_finds() {
    let viewer = paused(scene("uniform", 900));
    let mut client = Client::new(&viewer);
    let detector = library(&mut Scene::new("uniform", 900, 1, &[]).unwrap(), 0);
    let mut explained = 0;
    for slot in 0..60u32 {
        let answer = client.ask(json!({"do": "inspect", "slot": slot})).unwrap();
        let named: Vec<u64> = answer["partners"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["slot"].as_u64().unwrap())
            .collect();
        let pairs = detector.pairs().iter();
        let mut expected: Vec<u64> = pairs
            .filter_map(|pair| pair.other(jostle::Slot::new(slot)))
            .map(|s| u64::from(s.get()))
            .collect();
        expected.sort_unstable();
        assert_eq!(named, expected, "box {slot}");
        for other in answer["apart"].as_array().unwrap() {
            assert!(other["why"].as_str().unwrap().starts_with("apart on "), "{other}");
            explained += 1;
        }
    }
    assert!(explained > 100);
    let error = client.ask(json!({"do": "inspect", "slot": 900})).unwrap_err();
    assert_eq!(error, "there is no box 900");
}

#[test]
fn boxes_are_thrown_removed_and_found() {
    let viewer = paused(scene("uniform", 50));
    let mut client = Client::new(&viewer);
    let far = json!({
        "do": "throw", "min": [900.0, 0.0, 0.0], "max": [901.0, 1.0, 1.0],
        "velocity": [0.5, 0.0, 0.0],
    });
    let slot = client.ask(far).unwrap()["slot"].as_u64().unwrap();
    assert_eq!(slot, 50);
    client.ask(json!({"do": "step"})).unwrap();
    let answer = client.ask(json!({"do": "inspect", "slot": slot})).unwrap();
    assert_eq!(answer["min"], json!([900.5, 0.0, 0.0]));
    let ray = json!({"do": "ray", "origin": [900.9, 0.5, -50.0], "direction": [0.0, 0.0, 1.0]});
    assert_eq!(
        client.ask(ray.clone()).unwrap(),
        json!({"count": 1, "hits": [{"slot": 50, "enter": 50.0}]})
    );
    let near = json!({"do": "nearest", "point": [903.5, 0.5, 0.5], "count": 1});
    assert_eq!(client.ask(near).unwrap(), json!({"nearest": [{"slot": 50, "distance": 2.0}]}));
    client.ask(json!({"do": "remove", "slot": slot})).unwrap();
    assert_eq!(client.ask(ray).unwrap()["count"], 0);
    client.ask(json!({"do": "remove", "slot": 3})).unwrap();
    client.ask(json!({"do": "step"})).unwrap();
    let (header, _) = client.frame(|header| header["frame"] == 2);
    assert_eq!(header["live"], 49);
    assert!(client.ask(json!({"do": "remove", "slot": 3})).is_err());
}

#[test]
fn what_is_recorded_can_be_replayed() {
    let viewer = paused(scene("churn", 200));
    let mut client = Client::new(&viewer);
    client.ask(json!({"do": "record", "on": true})).unwrap();
    for _ in 0..5 {
        client.ask(json!({"do": "step"})).unwrap();
    }
    client.ask(json!({"do": "record", "on": false})).unwrap();
    let (host, token) = parts(&viewer);
    let request =
        format!("GET /{token}/recording HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let mut stream = std::net::TcpStream::connect(&host).unwrap();
    std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    std::io::Read::read_to_end(&mut stream, &mut answer).unwrap();
    let body = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let mut recording = Recording::new(&answer[body..]).unwrap();
    let (mut boxes, mut stepper) = (Boxes::new(), Stepper::new(Algorithm::Bvh, &Workers::one()));
    let mut steps = 0;
    while let Some(call) = recording.next_call().unwrap() {
        call.apply(&mut boxes).unwrap();
        match call {
            Call::Begin(start) => stepper.restore_pairs(&boxes, &start.pairs).unwrap(),
            Call::Step(hash) => {
                stepper.step(&boxes).unwrap();
                assert_eq!(stepper.hash(), hash);
                boxes.commit();
                steps += 1;
            }
            _ => {}
        }
    }
    assert_eq!(steps, 5);
}

#[test]
fn worlds_have_bodies_and_contacts() {
    let viewer = paused(Show::World(SceneSpec::new("uniform", 300, 1).param("density", 0.3)));
    let mut client = Client::new(&viewer);
    for _ in 0..3 {
        client.ask(json!({"do": "step"})).unwrap();
    }
    let (header, data) = client.frame(|header| header["frame"] == 3);
    let array = |name: &str| {
        let listed =
            header["arrays"].as_array().unwrap().iter().find(|one| one[0] == name).unwrap();
        let (at, length) =
            (listed[1].as_u64().unwrap() as usize, listed[2].as_u64().unwrap() as usize);
        data[at..at + length].to_vec()
    };
    let touches = header["touches"].as_u64().unwrap() as usize;
    assert!(touches > 0 && array("contacts").len() == touches * 28, "{touches}");
    assert_eq!(array("bodies").len(), 300 * 44);
    let kinds: std::collections::BTreeSet<u32> = array("bodies")
        .chunks(44)
        .map(|body| f32::from_le_bytes(body[..4].try_into().unwrap()) as u32)
        .collect();
    assert_eq!(kinds, (1..=6).collect());
    client.ask(json!({"do": "threads", "count": 2})).unwrap();
    client.ask(json!({"do": "algorithm", "name": "sap"})).unwrap();
    client.ask(json!({"do": "step"})).unwrap();
    assert_eq!(client.frame(|header| header["frame"] == 4).0["threads"], 2);
    assert!(client.ask(json!({"do": "compare", "name": "bvh"})).is_err());
}

#[test]
fn files_and_refusals_are_shown_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("boxes.csv");
    std::fs::write(&path, "0,0,0,1,1,1\n0.5,0,0,2,1,1\nnan,0,0,1,1,1\n9,9,9,10,10,10\n").unwrap();
    let viewer = paused(Show::File(path));
    let mut client = Client::new(&viewer);
    let (header, data) = client.frame(|header| header["frame"] == 0);
    assert_eq!((&header["live"], &header["pairs"]), (&json!(3), &json!(1)));
    assert_eq!(header["frames"], 1);
    let at = header["arrays"][1][1].as_u64().unwrap() as usize;
    assert_eq!(header["arrays"][1][0], "states");
    assert_eq!(&data[at..at + 3], [2, 2, 0]);
    for wrong in [
        json!({"do": "algorithm", "name": "quadtree"}),
        json!({"do": "threads", "count": 0}),
        json!({"do": "speed", "steps": 0.0}),
        json!({"do": "scene", "name": "nowhere", "n": 5, "seed": 1, "params": {}, "world": false}),
        json!({
            "do": "scene", "name": "uniform", "n": 5_000_000, "seed": 1, "params": {},
            "world": false,
        }),
        json!({
            "do": "throw", "min": [1.0, 0.0, 0.0], "max": [0.0, 0.0, 0.0],
            "velocity": [0.0, 0.0, 0.0],
        }),
        json!({"do": "ray", "origin": [0.0, 0.0, 0.0], "direction": [1e39, 0.0, 0.0]}),
    ] {
        assert!(client.ask(wrong.clone()).is_err(), "{wrong}");
    }
    let missing = jostle_viewer::Viewer::start(
        Show::File(folder.path().join("no.npy")),
        &Setup::default(),
        jostle_viewer::loopback(),
    );
    assert!(missing.unwrap_err().to_string().contains("no.npy"));
}

#[test]
fn an_exported_page_holds_everything() {
    let page = export(scene("uniform", 40), &Setup::default(), 7).unwrap();
    assert!(page.contains("<style>") && page.contains("id=\"exported\""));
    assert!(!page.contains("src=\"app.js\"") && !page.contains("href=\"app.css\""));
    let data = page.split("id=\"exported\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["frames"].as_array().unwrap().len(), 7);
}

/// What a page draws and no more: 24 bytes of bounds and a byte of state for each box.
#[test]
fn a_frame_is_little_more_than_its_boxes() {
    let viewer = paused(scene("uniform", 20_000));
    let mut client = Client::new(&viewer);
    let (_, arrays) = client.frame(|header| header["frame"] == 0);
    assert!((24 * 20_000..26 * 20_000).contains(&arrays.len()), "{} bytes", arrays.len());
}
