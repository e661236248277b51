//! What a steady step costs: submissions, dispatches, bytes, memory. And the ways to sweep, which
//! change the cost and nothing else.

mod common;

use common::gpu;
use jostle::broad::auto::{Auto, Rival};
use jostle::{
    Aabb, Algorithm, Boxes, BroadPhase, Detector, Filter, Pair, PairBuffer, Stats, Workers,
};
use jostle_gpu::{Digits, Gpu, GpuChoice, GpuOptions, GpuSweep};
use jostle_scenes::SceneSpec;

fn frames(boxes: usize, frames: usize) -> Vec<Vec<Aabb>> {
    let mut scene = SceneSpec::new("uniform", boxes, 3).param("density", 0.35).build().unwrap();
    let next = |_| {
        scene.advance();
        scene.boxes().to_vec()
    };
    (0..frames).map(next).collect()
}

/// Plays frames on a device, compares each with the processor, and returns the last statistics.
fn play(gpu: &Gpu, options: GpuOptions, frames: &[Vec<Aabb>]) -> Stats {
    let broad = Box::new(GpuSweep::with_options(gpu, options));
    let mut device = Detector::with_broad_phase(broad, Workers::one());
    let mut truth = Detector::new(Algorithm::GridSweep);
    for detector in [&mut device, &mut truth] {
        detector.boxes_mut().insert_all(&frames[0], Filter::ALL).unwrap();
    }
    for (step, frame) in frames.iter().enumerate() {
        for detector in [&mut device, &mut truth] {
            detector.boxes_mut().set_all(frame).unwrap();
        }
        assert!(device.step().unwrap() == truth.step().unwrap(), "{options:?}, step {step}");
    }
    device.stats()
}

fn count(stats: &Stats, name: &str) -> f64 {
    stats.count(name).unwrap_or_else(|| panic!("no count {name}"))
}

#[test]
fn a_steady_step_is_one_submission_that_allocates_nothing() {
    let mut dispatches = Vec::new();
    for boxes in [500, 3000, 20_000] {
        let stats = play(gpu(), GpuOptions::default(), &frames(boxes, 5));
        assert_eq!(count(&stats, "submissions"), 1.0, "{boxes} boxes");
        assert_eq!(count(&stats, "grown"), 0.0, "{boxes} boxes");
        assert_eq!(count(&stats, "ranges"), 0.0, "{boxes} boxes");
        dispatches.push(count(&stats, "dispatches"));
        let n = boxes as f64;
        assert!((n * 24.0..n * 24.0 + 256.0).contains(&count(&stats, "uploaded_bytes")));
        check_memory(&stats, n);
        let moved = count(&stats, "device_bytes_per_box");
        let read = count(&stats, "device_read_bytes");
        let written = count(&stats, "device_written_bytes");
        assert!((moved - (read + written) / n).abs() < 1e-6);
        assert!((150.0..1500.0).contains(&moved), "{moved} bytes a box");
    }
    assert!(dispatches.iter().all(|&other| other == dispatches[0]), "{dispatches:?}");
}

/// No more than 32 bytes a box and 32 an entry, beyond the boxes, the lists of pairs and events and
/// the tables, which stay below a megabyte; and an eighth to spare.
fn check_memory(stats: &Stats, boxes: f64) {
    let lists = 24.0 * count(stats, "pair_room") + 8.0 * count(stats, "event_room");
    let rest = stats.bytes as f64 - lists - count(stats, "table_bytes");
    let (slots, entries) = (count(stats, "slot_room"), count(stats, "entry_room"));
    assert!(rest >= 24.0 * slots + 16.0 * entries, "{rest} is not all there is");
    assert!(rest <= (24.0 + 32.0) * slots + 32.0 * entries, "{rest} for {slots} and {entries}");
    assert!(slots <= 1.125 * boxes + 64.0, "room for {slots} of {boxes} boxes");
    assert!(count(stats, "entries") <= entries && count(stats, "table_bytes") < 1e6);
}

/// Crowds, in which no thread can sort a bucket or the pairs of a box alone.
#[test]
fn crowds_are_sorted_by_digits_and_the_steps_stay_single_submissions() {
    let crowd = |count: usize, step: usize| -> Vec<Aabb> {
        let at = |k: usize| (k * 7 % 50 + step * (k % 3)) as f32 * 0.01;
        let small = (0..count).map(|k| Aabb::new([at(k), at(k + 1), at(k + 2)], [at(k) + 0.7; 3]));
        let far = (0..count).map(|k| Aabb::point([k as f32, (k * 31 % 97) as f32, 50.0]));
        // One floor below all of them, which pairs with every box it touches.
        small.chain(far).chain([Aabb::new([-1.0; 3], [3e3, 3e3, 60.0])]).collect()
    };
    let frames: Vec<Vec<Aabb>> = (0..4).map(|step| crowd(300, step)).collect();
    let stats = play(gpu(), GpuOptions::default(), &frames);
    assert!(count(&stats, "longest_bucket") > 32.0 && count(&stats, "longest_list") > 32.0);
    assert_eq!(count(&stats, "submissions"), 1.0);
    let digits = GpuOptions { sort_by_digits: true, ..GpuOptions::default() };
    let other = play(gpu(), digits, &frames);
    assert_eq!(count(&stats, "dispatches"), count(&other, "dispatches"));
    // And back: what was crowded spreads.
    let spread: Vec<Vec<Aabb>> = frames.into_iter().chain(self::frames(601, 3)).collect();
    let stats = play(gpu(), GpuOptions::default(), &spread);
    assert!(count(&stats, "dispatches") < 40.0 && count(&stats, "submissions") == 1.0);
}

#[test]
fn the_pairs_can_be_used_where_they_are() {
    let mut boxes = Boxes::new();
    let mut sweep = GpuSweep::new(gpu());
    assert!(sweep.device_pairs().is_none());
    for frame in frames(2000, 3) {
        if boxes.is_empty() {
            boxes.insert_all(&frame, Filter::ALL).unwrap();
        }
        boxes.set_all(&frame).unwrap();
        sweep.update(&boxes, &mut PairBuffer::new()).unwrap();
        boxes.commit();
        let truth = jostle::overlaps(&frame).unwrap();
        let there = sweep.device_pairs().unwrap();
        assert_eq!(there.len as usize, truth.len());
        assert_eq!(read(there.count, there.count_offset, 4), [there.len]);
        let words = read(there.pairs, 0, 8 * u64::from(there.len));
        let found: Vec<Pair> =
            words.chunks_exact(2).map(|two| Pair::from((two[0], two[1]))).collect();
        assert_eq!(found, truth);
    }
}

/// Copies words back, as a user of the buffers would.
fn read(from: &wgpu::Buffer, offset: u64, bytes: u64) -> Vec<u32> {
    let device = gpu().device();
    let to = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: bytes,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(from, offset, &to, 0, bytes);
    gpu().queue().submit([encoder.finish()]);
    to.map_async(wgpu::MapMode::Read, .., |_| {});
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let view = to.get_mapped_range(..).unwrap();
    let words = view.chunks_exact(4).map(|four| u32::from_le_bytes(four.try_into().unwrap()));
    words.collect()
}

#[test]
fn ways_to_sweep_change_nothing_but_the_cost() {
    let frames = frames(3000, 3);
    let plain = GpuOptions::default();
    let usual = play(gpu(), plain, &frames);
    let by_entry = play(gpu(), GpuOptions { sweep_by_entry: true, ..plain }, &frames);
    assert_eq!(by_entry.tests, usual.tests);
    let by_digits = GpuOptions { sort_by_digits: true, ..plain };
    let four = play(gpu(), by_digits, &frames);
    let eight = play(gpu(), GpuOptions { digits: Digits::Eight, ..by_digits }, &frames);
    let dispatches = [&usual, &eight, &four].map(|stats| count(stats, "dispatches"));
    assert!(dispatches[0] < 40.0 && dispatches[0] < dispatches[1] - 20.0, "{dispatches:?}");
    assert!(dispatches[1] < dispatches[2] - 20.0, "{dispatches:?}");
    let bytes = [&usual, &eight, &four].map(|stats| count(stats, "device_bytes_per_box"));
    assert!(bytes[0] < bytes[1] && bytes[1] < bytes[2], "{bytes:?}");
    for level in [0, 3, 10] {
        let stats = play(gpu(), GpuOptions { level: Some(level), ..plain }, &frames);
        assert_eq!(count(&stats, "level"), f64::from(level));
        assert!((level == 10) == (count(&stats, "cells") == 1.0), "level {level}");
    }
}

#[test]
fn stages_are_timed_by_the_devices_clock() {
    let stats =
        play(gpu(), GpuOptions { timestamps: true, ..GpuOptions::default() }, &frames(2000, 3));
    let stages = stats.stages.iter().filter(|stage| stage.0.starts_with("device: "));
    assert_eq!(stages.count() > 5, gpu().has_timestamps(), "{:?}", stats.stages);
    assert_eq!(count(&stats, "submissions"), 1.0);
}

#[test]
fn a_device_without_optional_features_gives_the_same() {
    let plain = Gpu::open_plain(&GpuChoice::Software).unwrap();
    assert!(!plain.has_subgroups() && !plain.has_timestamps());
    println!("subgroups on the other: {}", gpu().has_subgroups());
    let frames = frames(5000, 3);
    let options = GpuOptions { timestamps: true, ..GpuOptions::default() };
    let one = play(&plain, options, &frames);
    let other = play(gpu(), options, &frames);
    for name in ["entries", "cells", "level", "giants", "dispatches"] {
        assert_eq!(one.count(name), other.count(name), "{name}");
    }
}

#[test]
fn auto_takes_the_device_by_its_model_and_goes_on_without_it() {
    let gpu = Gpu::open(&GpuChoice::Software).unwrap();
    let software = GpuSweep::rival(&gpu, GpuOptions::default());
    // As a discrete GPU would be expected to do.
    let rival = Rival { fixed: 1e5, per_box: 2.0, per_change: 2.0, ..software.clone() };
    let workers = Workers::one();
    let frames = frames(5000, 4);
    let mut truth = Detector::new(Algorithm::Bvh);
    let auto = Box::new(Auto::with_rival(&workers, rival));
    let mut device = Detector::with_broad_phase(auto, workers.clone());
    let modest = Box::new(Auto::with_rival(&workers, software));
    let mut modest = Detector::with_broad_phase(modest, workers);
    for detector in [&mut device, &mut truth, &mut modest] {
        detector.boxes_mut().insert_all(&frames[0], Filter::ALL).unwrap();
    }
    for (step, frame) in frames.iter().enumerate() {
        if step == 2 {
            assert!(device.reason().unwrap().starts_with("grid-sweep on "), "{step}");
            assert!(!modest.reason().unwrap().starts_with("grid-sweep on "), "{step}");
            gpu.device().destroy();
        }
        for detector in [&mut device, &mut truth, &mut modest] {
            detector.boxes_mut().set_all(frame).unwrap();
        }
        let expected = truth.step().unwrap();
        assert!(device.step().unwrap() == expected, "step {step}");
        assert!(modest.step().unwrap() == expected, "step {step}");
    }
    let reason = device.reason().unwrap();
    assert!(reason.contains("without the device: the device was lost"), "{reason}");
}
