//! Box and pair files: round trips, foreign files, and everything that can be wrong with one.

use jostle::Aabb;
use jostle_scenes::{
    FileFault, FrameReader, FrameWriter, Invalid, Scene, read_boxes, read_pairs, write_boxes,
    write_pairs,
};
use npyz::WriterBuilder;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn same_bits(a: &[Aabb], b: &[Aabb]) -> bool {
    let bits = |boxes: &[Aabb]| -> Vec<u32> {
        boxes.iter().flat_map(|x| x.min.into_iter().chain(x.max)).map(f32::to_bits).collect()
    };
    bits(a) == bits(b)
}

/// Boxes with every kind of number in them.
fn odd_boxes() -> Vec<Aabb> {
    let mut scene = Scene::new("worst", 500, 3, &[]).unwrap();
    scene.advance();
    let mut boxes = scene.boxes().to_vec();
    boxes.extend([Aabb::EVERYTHING, Aabb::point([f32::MAX; 3]), Aabb::point([-0.0, 0.0, 1e-45])]);
    boxes
}

/// An npy file with the given header text and data.
fn npy(text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn header(descr: &str, fortran: &str, shape: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
}

/// Reads a file to its end; gives the boxes of all frames, or the message.
fn read_all(path: &Path, invalid: Invalid) -> Result<Vec<Vec<Aabb>>, String> {
    let mut reader = FrameReader::open_with(path, invalid).map_err(|error| error.to_string())?;
    let (mut frames, mut boxes) = (Vec::new(), Vec::new());
    while reader.next_frame(&mut boxes).map_err(|error| error.to_string())?.is_some() {
        frames.push(boxes.clone());
    }
    Ok(frames)
}

fn message(name: &str, bytes: &[u8]) -> String {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    let text = read_all(&path, Invalid::Refuse).expect_err("the file is wrong");
    assert!(text.contains(name), "the message names the file: {text}");
    text
}

#[test]
fn boxes_survive_both_kinds_of_files() {
    let folder = folder();
    for boxes in [odd_boxes(), Vec::new()] {
        for name in ["a.npy", "a.csv", "A.NPY"] {
            let path = folder.path().join(name);
            write_boxes(&path, &boxes).unwrap();
            assert!(same_bits(&read_boxes(&path).unwrap(), &boxes), "{name}");
            let reader = FrameReader::open(&path).unwrap();
            assert_eq!((reader.frames(), reader.boxes()), (1, boxes.len()));
            assert!(!reader.is_sequence());
        }
    }
}

#[test]
fn sequences_survive_and_know_their_frames() {
    let folder = folder();
    let path = folder.path().join("run.npy");
    let mut scene = Scene::new("uniform", 5000, 7, &[]).unwrap();
    let mut writer = FrameWriter::create(&path, 4, 5000).unwrap();
    for _ in 0..4 {
        writer.write_frame(scene.boxes()).unwrap();
        scene.advance();
    }
    assert!(!path.exists(), "nothing is there before the end");
    writer.finish().unwrap();
    let mut scene = Scene::new("uniform", 5000, 7, &[]).unwrap();
    let mut reader = FrameReader::open(&path).unwrap();
    assert_eq!((reader.frames(), reader.boxes(), reader.is_sequence()), (4, 5000, true));
    let mut boxes = Vec::new();
    for frame in 0..4 {
        assert_eq!(reader.next_frame(&mut boxes).unwrap(), Some(frame));
        assert!(same_bits(&boxes, scene.boxes()));
        scene.advance();
    }
    assert_eq!(reader.next_frame(&mut boxes).unwrap(), None);
    assert!(boxes.is_empty());
}

#[test]
fn a_stopped_run_leaves_a_file_that_tells_what_it_has() {
    let folder = folder();
    let path = folder.path().join("run.npy");
    let mut writer = FrameWriter::create(&path, 1000, 2).unwrap();
    for _ in 0..3 {
        writer.write_frame(&[Aabb::default(); 2]).unwrap();
    }
    assert_eq!(writer.frames_written(), 3);
    writer.finish().unwrap();
    assert_eq!(read_all(&path, Invalid::Refuse).unwrap().len(), 3);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing_and_harms_nothing() {
    let folder = folder();
    let path = folder.path().join("run.npy");
    write_boxes(&path, &[Aabb::default()]).unwrap();
    let before = fs::read(&path).unwrap();
    let mut writer = FrameWriter::create(&path, 2, 1).unwrap();
    writer.write_frame(&[Aabb::default()]).unwrap();
    let error = writer.write_frame(&[]).unwrap_err();
    assert!(matches!(error.fault(), FileFault::BoxCount { wanted: 1, found: 0 }));
    assert_eq!(error.frame(), Some(1));
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn wrong_use_of_the_writer_is_an_error() {
    let folder = folder();
    let csv = FrameWriter::create(folder.path().join("a.csv"), 3, 1).err().unwrap();
    assert!(csv.to_string().contains("one frame"), "{csv}");
    let mut writer = FrameWriter::create(folder.path().join("a.npy"), 1, 0).unwrap();
    writer.write_frame(&[]).unwrap();
    assert!(writer.write_frame(&[]).unwrap_err().to_string().contains("more frames"));
    let missing = write_boxes(folder.path().join("no/such/a.npy"), &[]).unwrap_err();
    assert!(missing.to_string().contains("no/such does not exist; create it"), "{missing}");
    assert!(
        write_boxes(folder.path().join("a.txt"), &[]).unwrap_err().to_string().contains(".npy")
    );
}

#[cfg(unix)]
#[test]
fn files_are_readable_by_others_and_links_and_devices_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = folder();
    let (path, plain) = (folder.path().join("a.npy"), folder.path().join("plain"));
    write_boxes(&path, &[]).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain), "as readable as any new file");
    let link = folder.path().join("link.npy");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    write_boxes(&link, &odd_boxes()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read_boxes(&path).unwrap().len(), odd_boxes().len());
    let null = folder.path().join("null.npy");
    std::os::unix::fs::symlink("/dev/null", &null).unwrap();
    write_boxes(&null, &odd_boxes()).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn pairs_survive_both_kinds_of_files() {
    let folder = folder();
    for pairs in [vec![], vec![(0, 1), (7, u32::MAX), (3, 4)]] {
        for name in ["p.npy", "p.csv"] {
            let path = folder.path().join(name);
            write_pairs(&path, pairs.iter().copied()).unwrap();
            assert_eq!(read_pairs(&path).unwrap(), pairs, "{name}");
        }
        let bytes = fs::read(folder.path().join("p.npy")).unwrap();
        let file = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(file.shape(), [pairs.len() as u64, 2]);
        let flat: Vec<u32> = file.into_vec().unwrap();
        assert_eq!(flat, pairs.iter().flat_map(|&(a, b)| [a, b]).collect::<Vec<_>>());
    }
    let path = folder.path().join("wrong.csv");
    fs::write(&path, "a,b\n1,-2\n").unwrap();
    let text = read_pairs(&path).unwrap_err().to_string();
    assert!(text.contains("row 0 (line 2)") && text.contains("column b"), "{text}");
}

#[test]
fn another_reader_understands_our_files_and_we_understand_another_writer() {
    let folder = folder();
    let path = folder.path().join("a.npy");
    let boxes = odd_boxes();
    let mut writer = FrameWriter::create(&path, 2, boxes.len()).unwrap();
    writer.write_frame(&boxes).unwrap();
    writer.write_frame(&boxes).unwrap();
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!(file.shape(), [2, boxes.len() as u64, 6]);
    let values: Vec<f32> = file.into_vec().unwrap();
    assert_eq!(values[..3].to_vec(), boxes[0].min);
    assert_eq!(values.len(), 12 * boxes.len());

    let values = [0.1f64, 0.2, 0.3, 0.1, 0.2, 0.3];
    for descr in ["<f8", ">f8"] {
        let mut bytes = Vec::new();
        let dtype = npyz::DType::Plain(descr.parse().unwrap());
        let options = npyz::WriteOptions::new().dtype(dtype).shape(&[1, 6]);
        let mut writer = options.writer(&mut bytes).begin_nd().unwrap();
        writer.extend(values).unwrap();
        writer.finish().unwrap();
        fs::write(&path, bytes).unwrap();
        let want = Aabb::from_f64([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]);
        assert_eq!(read_boxes(&path).unwrap(), [want], "{descr} is rounded outward");
    }
    let big: Vec<u8> =
        [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    fs::write(&path, npy(&header("'>f4'", "False", "(1, 6)"), &big)).unwrap();
    assert_eq!(read_boxes(&path).unwrap(), [Aabb::new([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])]);
}

#[test]
fn wrong_npy_files_are_explained() {
    let row = [0u8; 24];
    let good = header("'<f4'", "False", "(1, 6)");
    for (bytes, wants) in [
        (vec![], &["empty"][..]),
        (b"hello world, no npy".to_vec(), &["\\x93NUMPY"]),
        (b"\x93NUMPY".to_vec(), &["the header is cut off"]),
        (npy(&good, &row[..23]), &["cut off"]),
        (npy(&good, &[0; 30]), &["6 more"]),
        (npy(&header("'<c8'", "False", "(1, 6)"), &[0; 48]), &["<c8", "float32"]),
        (npy(&header("'<f16'", "False", "(1, 6)"), &[0; 96]), &["<f16", "float32"]),
        (npy(&header("[('a', '<f4')]", "False", "(1, 6)"), &row), &["structured"]),
        (npy(&header("'<f4'", "True", "(1, 6)"), &row[..23]), &["cut off"]),
        (npy(&header("'<f4'", "False", "(6,)"), &row), &["(6,)", "(n, 6)"]),
        (npy(&header("'<f4'", "False", "(1, 5)"), &row[..20]), &["(1, 5)", "(n, 6)", "(n, 4)"]),
        (npy(&header("'<f4'", "False", "(1, 1, 1, 6)"), &row), &["(1, 1, 1, 6)"]),
        (npy(&header("'<f4'", "False", "(4000000000000, 4000000000, 6)"), &row), &["cut off"]),
        (npy(&header("'<f4'", "False", "(1, 99999999999, 6)"), &row), &["4294967295"]),
        (npy(&header("'<f4'", "False", "(9999999999999, 0, 6)"), &[]), &["million"]),
        (npy("{'descr'", &row), &["dictionary"]),
    ] {
        let text = message("wrong.npy", &bytes);
        assert!(wants.iter().all(|want| text.contains(want)), "{wants:?}: {text}");
    }
}

#[test]
fn wrong_csv_files_are_explained() {
    for (text, wants) in [
        ("", &["empty"][..]),
        ("\n\n", &["empty"]),
        ("0,0,0,1,1\n", &["row 0 (line 1)", "5 columns", "6, or 4 in 2D"]),
        ("0 0 0 1 1 1\n0 0 1 1\n", &["row 1 (line 2)", "4 columns", "needs 6"]),
        ("0;0;1;1\n0;0;0;1;1;1\n", &["row 1 (line 2)", "6 columns", "needs 4"]),
        ("7\n", &["row 0 (line 1)", "1 column;"]),
        ("title\nx y\n0 0 1 1\n", &["row 0 (line 2)", "2 columns"]),
        ("a,b,c,d,e,f\n0,0,0,1,1,1\n\n0,0,0,1,1,1,1\n", &["row 1 (line 4)", "7 columns"]),
        ("0,0,0,1,1,1\n0,zero,0,1,1,1\n", &["row 1 (line 2)", "min_y", "\"zero\""]),
        ("0,0,0,1,1,\n", &["row 0", "max_z", "\"\""]),
        ("0,0,0,1,1,1\n0,0,nan,1,1,1\n", &["row 1 (line 2)", "min z", "NaN"]),
        ("0,0,0,1,-1,1\n", &["row 0 (line 1)", "min y = 0 is above max y = -1"]),
    ] {
        let text = message("wrong.csv", text.as_bytes());
        assert!(wants.iter().all(|want| text.contains(want)), "{wants:?}: {text}");
    }
    assert!(message("wrong.csv", b"0,0,0,1,1,\xff\n").contains("UTF-8"));
    assert!(message("wrong.csv", &[b'1'; 70_000]).contains("line 1: the line is longer"));
}

#[test]
fn csv_headers_spaces_and_line_ends_are_fine() {
    let folder = folder();
    let path = folder.path().join("a.csv");
    let want = [Aabb::new([0.0, -1.5, 2e-3], [1.0, f32::INFINITY, 3.0])];
    for text in [
        "0,-1.5,2e-3,1,inf,3",
        "min_x,min_y,min_z,max_x,max_y,max_z\r\n 0 , -1.5 ,\t0.002, 1.0, inf ,3\r\n",
        "\n\"0\",\"-1.5\",\"0.002\",\"1\",\"inf\",\" 3\"\n",
        "\u{feff}0,-1.5,0.002,1,Infinity,3\n\n",
        "0 -1.5 0.002 1 inf 3\n",
        "0\t-1.5\t0.002\t1\tinf\t3\n",
        "# made by hand\n  0   -1.5 2.0e-3\t1 inf 3  \n# the end\n",
        "x0 y0 z0 x1 y1 z1\n0 -1.5 0.002 1 inf 3\n",
        "the lower and the upper corners of boxes\n0; -1.5; 0.002; 1; inf; 3\n",
    ] {
        fs::write(&path, text).unwrap();
        assert_eq!(read_boxes(&path).unwrap(), want, "{text:?}");
    }
}

#[test]
fn missing_files_and_unknown_endings_are_named() {
    for name in ["nowhere.npy", "nowhere.csv"] {
        let error = FrameReader::open(name).err().unwrap();
        assert!(error.to_string().contains(name) && error.to_string().contains("no such file"));
        assert_eq!(error.path(), Path::new(name));
    }
    assert!(FrameReader::open("boxes.dat").unwrap_err().to_string().contains(".npy, .npz, .csv"));
    for (name, cure) in [("a.npy.gz", "gunzip -c"), ("a.csv.zst", "zstd -dc"), ("a.XZ", "xz -dc")] {
        let text = FrameReader::open(name).unwrap_err().to_string();
        assert!(text.contains(name) && text.contains(cure), "{text}");
    }
}

/// Two frames of five boxes; in the second, rows 1 and 3 are wrong.
fn file_with_bad_rows(path: &Path) {
    let good = [Aabb::new([0.0; 3], [1.0; 3]); 5];
    let mut bad = good;
    bad[1].max[2] = f32::NAN;
    bad[3].min[1] = 2.0;
    let mut writer = FrameWriter::create(path, 2, 5).unwrap();
    writer.write_frame(&good).unwrap();
    writer.write_frame(&bad).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_row_that_is_no_box_is_refused_by_name() {
    let folder = folder();
    let path = folder.path().join("bad.npy");
    file_with_bad_rows(&path);
    let mut reader = FrameReader::open(&path).unwrap();
    let mut boxes = Vec::new();
    reader.next_frame(&mut boxes).unwrap();
    let error = reader.next_frame(&mut boxes).unwrap_err();
    assert_eq!((error.frame(), error.row()), (Some(1), Some(1)));
    let text = error.to_string();
    assert!(text.contains("frame 1, row 1: max z is NaN"), "{text}");
    assert_eq!(reader.next_frame(&mut boxes).unwrap(), None, "nothing more after an error");
}

#[test]
fn rows_that_are_no_boxes_can_be_skipped_and_are_listed() {
    let folder = folder();
    let path = folder.path().join("bad.npy");
    file_with_bad_rows(&path);
    let mut reader = FrameReader::open_with(&path, Invalid::Skip).unwrap();
    let mut boxes = Vec::new();
    reader.next_frame(&mut boxes).unwrap();
    assert_eq!((boxes.len(), reader.rows(), reader.skipped().len()), (5, None, 0));
    reader.next_frame(&mut boxes).unwrap();
    assert_eq!(boxes.len(), 3);
    assert_eq!(reader.rows(), Some(&[0, 2, 4][..]));
    let rows: Vec<_> = reader.skipped().iter().map(|skipped| skipped.row).collect();
    assert_eq!(rows, [1, 3]);
    assert!(reader.skipped()[1].fault.to_string().contains("min y = 2 is above max y = 1"));
}

fn data_folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("JOSTLE_DATA").map_or(root.join("../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[test]
fn the_shared_data_sets_have_their_stated_shapes() {
    let Some(folder) = data_folder() else {
        eprintln!("SKIPPED: no shared data sets; set JOSTLE_DATA to their folder");
        return;
    };
    for (name, sequence, frames, boxes) in [
        ("md_rhodopsin.npy", true, 40, 5547),
        ("md_m2_water.npy", true, 3, 52323),
        ("cloth_faces.npy", true, 2, 92230),
        ("cloth_swept.npy", false, 1, 138_828),
        ("city_denhaag.npy", false, 1, 23794),
    ] {
        let mut reader = FrameReader::open(folder.join(name)).unwrap();
        assert_eq!(
            (reader.is_sequence(), reader.frames(), reader.boxes()),
            (sequence, frames, boxes),
            "{name}"
        );
        let mut read = Vec::new();
        let mut count = 0;
        while reader.next_frame(&mut read).unwrap().is_some() {
            assert_eq!(read.len(), boxes, "{name}");
            count += 1;
        }
        assert_eq!(count, frames, "{name}");
    }
    let pairs = read_pairs(folder.join("required/cloth_swept_required_pairs.npy")).unwrap();
    assert_eq!(pairs.len(), 19034);
    assert!(pairs.iter().all(|&(a, b)| a < 46598 && (46598..138_828).contains(&b)));
}

/// A good npy file with a few bytes changed, or cut.
fn damaged_npy() -> impl Strategy<Value = Vec<u8>> {
    let good = npy(&header("'<f4'", "False", "(2, 3, 6)"), &[0; 144]);
    let length = good.len();
    let changes = prop::collection::vec((0..length, any::<u8>()), 0..6);
    (changes, 0..=length, any::<bool>()).prop_map(move |(changes, cut, cuts)| {
        let mut bytes = good.clone();
        changes.iter().for_each(|&(at, byte)| bytes[at] = byte);
        if cuts {
            bytes.truncate(cut);
        }
        bytes
    })
}

fn no_panic(name: &str, bytes: &[u8]) {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    for invalid in [Invalid::Refuse, Invalid::Skip] {
        if let Ok(frames) = read_all(&path, invalid) {
            assert!(frames.iter().flatten().all(|aabb| aabb.check().is_ok()));
        }
    }
    let _ = read_pairs(&path);
}

/// 300 cases, without a file of past failures.
fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_bytes_make_the_npy_reader_panic(bytes in damaged_npy()) {
        no_panic("a.npy", &bytes);
    }

    #[test]
    fn no_header_makes_the_npy_reader_panic(
        text in "[{}()\\[\\]'\":, 0-9L<>f4descrshapfotn_TrueFals\n-]{0,80}",
    ) {
        no_panic("a.npy", &npy(&text, &[0; 144]));
    }

    #[test]
    fn no_bytes_make_the_csv_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        no_panic("a.csv", &bytes);
    }

    #[test]
    fn no_text_makes_the_csv_reader_panic(text in "([-+0-9.einfNa\" ]{0,6}[,;\n]){0,40}") {
        no_panic("a.csv", text.as_bytes());
    }

    #[test]
    fn any_boxes_survive(bits in prop::collection::vec(any::<[u32; 6]>(), 0..40)) {
        let mut boxes = Vec::new();
        for bits in bits {
            let [a, b, c, d, e, f] = bits.map(f32::from_bits);
            let aabb = Aabb::new([a.min(d), b.min(e), c.min(f)], [a.max(d), b.max(e), c.max(f)]);
            if aabb.check().is_ok() {
                boxes.push(aabb);
            }
        }
        let folder = folder();
        for name in ["a.npy", "a.csv"] {
            let path = folder.path().join(name);
            write_boxes(&path, &boxes).unwrap();
            prop_assert!(same_bits(&read_boxes(&path).unwrap(), &boxes));
        }
    }
}

#[test]
fn readers_of_parts_read_what_one_reader_reads() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new("uniform", 10_000, 3, &[]).unwrap();
    let (npy, csv) = (folder.path().join("b.npy"), folder.path().join("b.csv"));
    let mut writer = FrameWriter::create(&npy, 3, 10_000).unwrap();
    let mut frames = Vec::new();
    for _ in 0..3 {
        frames.push(scene.boxes().to_vec());
        writer.write_frame(scene.boxes()).unwrap();
        scene.advance();
    }
    writer.finish().unwrap();
    write_boxes(&csv, &frames[0]).unwrap();
    for (path, count) in [(&npy, 3), (&csv, 1)] {
        for rows in [0..0, 0..1, 17..9000, 9999..10_000, 0..10_000] {
            let mut reader = FrameReader::open(path).unwrap();
            reader.restrict_rows(rows.clone());
            let mut boxes = Vec::new();
            for frame in &frames[..count] {
                assert!(reader.next_frame(&mut boxes).unwrap().is_some());
                assert_eq!(boxes, frame[rows.clone()], "{rows:?}");
            }
            assert_eq!(reader.next_frame(&mut boxes).unwrap(), None);
        }
    }
}

#[test]
fn a_reader_of_a_part_names_the_row_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.npy");
    let mut boxes = vec![Aabb::default(); 50];
    boxes[33].max[1] = f32::NAN;
    write_boxes(&path, &boxes).unwrap();
    let mut reader = FrameReader::open(&path).unwrap();
    reader.restrict_rows(30..40);
    let error = reader.next_frame(&mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("row 33"), "{error}");
    let mut skipping = FrameReader::open_with(&path, Invalid::Skip).unwrap();
    skipping.restrict_rows(30..40);
    skipping.next_frame(&mut Vec::new()).unwrap();
    assert_eq!(skipping.skipped()[0].row, 33);
    assert_eq!(skipping.rows().unwrap()[2..4], [32, 34]);
}
