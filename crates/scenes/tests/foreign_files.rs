//! Box files as others write them: other shapes, orders, types of numbers, archives and streams;
//! and the same, hostile.

use jostle::Aabb;
use jostle_scenes::{FrameReader, Invalid, read_boxes};
use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An npy file.
fn npy(descr: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let shape: String = shape.iter().map(|size| format!("{size},")).collect();
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({shape})}}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn npz(arrays: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = SimpleFileOptions::default().compression_method(method).large_file(true);
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn frames(mut reader: FrameReader) -> Result<Vec<Vec<Aabb>>, String> {
    let (mut frames, mut boxes) = (Vec::new(), Vec::new());
    while reader.next_frame(&mut boxes).map_err(|error| error.to_string())?.is_some() {
        frames.push(boxes.clone());
    }
    Ok(frames)
}

/// All frames of a file of this name with these bytes, or the message.
fn read(name: &str, bytes: &[u8]) -> Result<Vec<Vec<Aabb>>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let reader = FrameReader::open_with(&path, Invalid::Refuse);
    frames(reader.map_err(|error| error.to_string())?)
}

fn read_stream(bytes: Vec<u8>) -> Result<Vec<Vec<Aabb>>, String> {
    let reader = FrameReader::from_reader("the stream", Cursor::new(bytes), Invalid::Refuse);
    frames(reader.map_err(|error| error.to_string())?)
}

/// Three frames of five boxes as a table of numbers: frame, box, corner, axis.
fn number(frame: usize, index: usize, corner: usize, axis: usize) -> i32 {
    (100 * frame + 10 * index + 3 * corner + axis) as i32 - 90
}

fn expected(axes: usize) -> Vec<Vec<Aabb>> {
    let corner = |frame, index, corner| {
        std::array::from_fn(|axis| match axis < axes {
            true => number(frame, index, corner, axis) as f32,
            false => 0.0,
        })
    };
    let aabb = |frame, index| Aabb::new(corner(frame, index, 0), corner(frame, index, 1));
    (0..3).map(|frame| (0..5).map(|index| aabb(frame, index)).collect()).collect()
}

/// The numbers in the order of the file.
fn stored(axes: usize, corners: bool, fortran: bool) -> Vec<i32> {
    let mut shape = vec![3, 5];
    shape.extend(if corners { vec![2, axes] } else { vec![2 * axes] });
    let count: usize = shape.iter().product();
    let value = |mut place: usize| {
        let mut index = vec![0; shape.len()];
        let order: Vec<usize> =
            if fortran { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
        for dimension in order {
            index[dimension] = place % shape[dimension];
            place /= shape[dimension];
        }
        let column = if corners { index[2] * axes + index[3] } else { index[2] };
        number(index[0], index[1], column / axes, column % axes)
    };
    (0..count).map(value).collect()
}

fn shape(axes: usize, corners: bool) -> Vec<usize> {
    if corners { vec![3, 5, 2, axes] } else { vec![3, 5, 2 * axes] }
}

#[test]
fn every_shape_order_and_type_gives_the_same_boxes() {
    for (axes, corners, fortran) in (0..8).map(|k| (2 + (k & 1), k & 2 != 0, k & 4 != 0)) {
        let values = stored(axes, corners, fortran);
        let types: [(&str, Vec<u8>); 9] = [
            ("<f4", values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect()),
            (">f4", values.iter().flat_map(|&v| (v as f32).to_be_bytes()).collect()),
            ("<f8", values.iter().flat_map(|&v| f64::from(v).to_le_bytes()).collect()),
            (">f8", values.iter().flat_map(|&v| f64::from(v).to_be_bytes()).collect()),
            ("<i2", values.iter().flat_map(|&v| (v as i16).to_le_bytes()).collect()),
            (">i4", values.iter().flat_map(|&v| v.to_be_bytes()).collect()),
            ("<i8", values.iter().flat_map(|&v| i64::from(v).to_le_bytes()).collect()),
            (">i8", values.iter().flat_map(|&v| i64::from(v).to_be_bytes()).collect()),
            ("<f2", values.iter().flat_map(|&v| half(v).to_le_bytes()).collect()),
        ];
        for (descr, data) in types {
            let bytes = npy(descr, fortran, &shape(axes, corners), &data);
            let name = format!("{descr} {:?} fortran {fortran}", shape(axes, corners));
            assert_eq!(read("a.npy", &bytes).unwrap(), expected(axes), "{name}");
            assert_eq!(read_stream(bytes.clone()).unwrap(), expected(axes), "{name}");
            for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
                let archive = npz(&[("arr_0.npy", &bytes)], method);
                assert_eq!(read("a.npz", &archive).unwrap(), expected(axes), "{name} {method}");
            }
        }
    }
}

/// A small integer as float16.
fn half(value: i32) -> u16 {
    let sign = if value < 0 { 0x8000 } else { 0 };
    let size = value.unsigned_abs();
    if size == 0 {
        return sign;
    }
    let exponent = size.ilog2();
    let fraction = (size << (10 - exponent)) & 0x3ff;
    sign | ((exponent + 15) << 10 | fraction) as u16
}

#[test]
fn a_single_frame_has_no_dimension_for_it() {
    let data: Vec<u8> = [0u8, 1, 5, 7].to_vec();
    let want = [Aabb::new([0.0, 1.0, 0.0], [5.0, 7.0, 0.0])];
    for shape in [&[1, 4][..], &[1, 2, 2]] {
        assert_eq!(read("a.npy", &npy("|u1", false, shape, &data)).unwrap(), [want.to_vec()]);
    }
    let fortran = npy("|u1", true, &[1, 2, 2], &[0, 5, 1, 7]);
    assert_eq!(read("a.npy", &fortran).unwrap(), [want.to_vec()]);
    let text = "0 1 5 7\n";
    assert_eq!(read("a.txt", text.as_bytes()).unwrap(), [want.to_vec()]);
    assert_eq!(read_stream(text.into()).unwrap(), [want.to_vec()]);
}

#[test]
fn wide_integers_are_rounded_outward() {
    let wide = (1i64 << 24) + 1;
    let data: Vec<u8> = [wide, wide, -wide, wide, wide, wide]
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    let boxes = read("a.npy", &npy("<i8", false, &[1, 6], &data)).unwrap();
    let (low, high) = ((1 << 24) as f32, ((1 << 24) + 2) as f32);
    assert_eq!(boxes[0], [Aabb::new([low, low, -high], [high, high, high])]);
}

#[test]
fn a_stream_is_told_by_its_first_bytes() {
    let array = npy("<f4", false, &[0, 6], &[]);
    assert_eq!(read_stream(array.clone()).unwrap(), [vec![]]);
    let archive = npz(&[("a.npy", &array)], CompressionMethod::Stored);
    for (bytes, word) in [
        (vec![], "empty"),
        (b"\x1f\x8b\x08\x00\x00\x00".to_vec(), "gunzip -c"),
        (b"\x28\xb5\x2f\xfd\x00\x00".to_vec(), "zstd -dc"),
        (archive, "from a pipe"),
        ([array.clone(), array].concat(), "more than its header asks for"),
        (b"\x93NUMPY".to_vec(), "the header is cut off"),
        (vec![0; 100_000], "longer than"),
    ] {
        let message = read_stream(bytes).unwrap_err();
        assert!(message.starts_with("the stream: ") && message.contains(word), "{message}");
    }
}

#[test]
fn wrong_archives_are_explained() {
    let array = npy("<f4", false, &[1, 6], &[0; 24]);
    let stored = |arrays: &[(&str, &[u8])]| npz(arrays, CompressionMethod::Stored);
    let one = stored(&[("boxes.npy", &array)]);
    let mut damaged = one.clone();
    let at = damaged.windows(6).position(|bytes| bytes == b"\x93NUMPY").unwrap() + array.len() - 3;
    damaged[at] ^= 0x40;
    let many: Vec<(String, &[u8])> = (0..9).map(|k| (format!("a{k}.npy"), &array[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (&name[..], *bytes)).collect();
    for (bytes, words) in [
        (vec![], &["npz"][..]),
        (b"PK\x03\x04 and nothing more".to_vec(), &["npz", "numpy.savez"]),
        (one[..one.len() - 30].to_vec(), &["npz"]),
        (stored(&[]), &["no array"]),
        (stored(&[("a.npy", &array), ("b.npy", &array)]), &["2 arrays (a, b)", "one per file"]),
        (stored(&many), &["9 arrays (a0, a1, a2, a3, a4, …)"]),
        (stored(&[("a.npy", b"no array")]), &["not a readable npy file"]),
        (stored(&[("a.npy", &array[..array.len() - 4])]), &["cut off"]),
        (stored(&[("a.npy", &npy("<f4", true, &[9, 9, 9], &[]))]), &["shape (9, 9, 9)"]),
        (damaged, &["checksum"]),
    ] {
        let message = read("a.npz", &bytes).unwrap_err();
        assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
        assert!(message.contains("a.npz: "), "{message}");
    }
}

/// Files of a few hundred bytes that promise much more may not take memory for it.
#[test]
fn promises_cost_no_memory() {
    let huge = [1usize << 20, 1 << 12, 6];
    let promises = [
        ("a.npy", npy("<f4", false, &huge, &[0; 48])),
        ("a.npy", npy("<f4", true, &huge, &[0; 48])),
        ("a.npy", npy("|u1", true, &[1 << 31, 4], &[0; 48])),
        ("a.npz", npz(&[("a.npy", &npy("<f8", true, &huge, &[1; 9]))], CompressionMethod::Stored)),
        ("a.npz", npz(&[("a.npy", &npy("<f8", false, &huge, &[]))], CompressionMethod::Deflated)),
        ("a.csv", vec![b','; 300]),
    ];
    for (name, bytes) in promises {
        let used = allocation_counter::measure(|| {
            read(name, &bytes).unwrap_err();
            if name != "a.npz" {
                read_stream(bytes.clone()).unwrap_err();
            }
        });
        assert!(used.bytes_max < 2 << 20, "{name}: {} bytes for {}", used.bytes_max, bytes.len());
    }
}

/// A stream without end: what cannot be boxes is given up soon.
#[test]
fn endless_streams_end() {
    let zeros = FrameReader::from_reader("zeros", std::io::repeat(0), Invalid::Refuse);
    assert!(zeros.unwrap_err().to_string().contains("longer than"));
    let header = npy("<f4", false, &[2, 6], &[]);
    let endless = Cursor::new(header).chain_zeros();
    let reader = FrameReader::from_reader("array", endless, Invalid::Refuse).unwrap();
    assert!(frames(reader).unwrap_err().contains("more than its header asks for"));
}

trait ChainZeros: std::io::Read + Sized {
    fn chain_zeros(self) -> std::io::Chain<Self, std::io::Repeat> {
        self.chain(std::io::repeat(0))
    }
}

impl ChainZeros for Cursor<Vec<u8>> {}

#[test]
fn pairs_in_fortran_order_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.npy");
    let data: Vec<u8> = [1u32, 3, 2, 4].iter().flat_map(|id| id.to_le_bytes()).collect();
    std::fs::write(&path, npy("<u4", true, &[2, 2], &data)).unwrap();
    assert_eq!(jostle_scenes::read_pairs(&path).unwrap(), [(1, 2), (3, 4)]);
}

#[test]
fn a_missing_archive_is_named() {
    let error = read_boxes(Path::new("nowhere.npz")).unwrap_err().to_string();
    assert!(error.contains("nowhere.npz") && error.contains("no such file"), "{error}");
}

/// 300 cases, without a file of past failures.
fn cases() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_damage_to_an_archive_makes_it_panic(
        deflated in any::<bool>(),
        changes in prop::collection::vec((0..400usize, any::<u8>()), 0..6),
        cut in prop::option::of(0..400usize),
    ) {
        let method =
            if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let mut bytes = npz(&[("a.npy", &npy("<f4", true, &[2, 3, 6], &[0; 144]))], method);
        let length = bytes.len();
        changes.iter().for_each(|&(at, byte)| bytes[at % length] = byte);
        if let Some(cut) = cut {
            bytes.truncate(cut);
        }
        if let Ok(frames) = read("a.npz", &bytes) {
            prop_assert!(frames.iter().flatten().all(|aabb| aabb.check().is_ok()));
        }
    }

    #[test]
    fn no_stream_makes_it_panic(
        descr in "[<>|][fiu][1248]",
        fortran in any::<bool>(),
        shape in prop::collection::vec(0..7usize, 0..5),
        data in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let _ = read_stream(npy(&descr, fortran, &shape, &data));
    }
}
