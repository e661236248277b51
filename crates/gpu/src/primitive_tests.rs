//! Prefix sums and sorts alone, against plain code, at sizes around every block boundary.

use crate::buffers::{Readback, storage};
use crate::device::{Gpu, GpuChoice};
use crate::kernel::Kernel;
use crate::program::{Builder, Length, Program, SortLists, Stage, Sums, Ways, digits};
use crate::sweep::Digits;
use crate::work;

/// Sizes around a thread's four elements, a workgroup of 256, a tile of 1024, and several tiles
/// to each of the workgroups used here.
const SIZES: &[u32] = &[
    0,
    1,
    3,
    4,
    5,
    255,
    256,
    257,
    1023,
    1024,
    1025,
    2047,
    2048,
    2049,
    3 * 1024,
    3 * 1024 + 1,
    7 * 1024 - 1,
    7 * 1024 + 5,
    40_000,
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 32) as u32
    }
}

fn gpu() -> Gpu {
    Gpu::open(&GpuChoice::Software).unwrap_or_else(|error| panic!("{error}"))
}

fn work_buffer(gpu: &Gpu, groups: u32) -> wgpu::Buffer {
    storage(gpu, "work", u64::from(work::length(groups, 1)))
}

fn put(gpu: &Gpu, buffer: &wgpu::Buffer, at: u32, words: &[u32]) {
    gpu.queue().write_buffer(buffer, u64::from(at) * 4, bytemuck::cast_slice(words));
}

fn get(gpu: &Gpu, buffer: &wgpu::Buffer, words: u32) -> Vec<u32> {
    let readback = Readback::new(gpu, u64::from(words) * 4);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(buffer, 0, readback.buffer(), 0, u64::from(words.max(1)) * 4);
    gpu.queue().submit([encoder.finish()]);
    readback.open(u64::from(words) * 4);
    gpu.wait().unwrap();
    let mut found = Vec::new();
    readback.read(u64::from(words), |word| found.push(word)).unwrap();
    found
}

fn run(gpu: &Gpu, program: &Program) {
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    program.record(
        gpu.kernels(),
        &mut encoder,
        (Stage::Upload, Stage::Upload),
        Ways::default(),
        None,
    );
    gpu.queue().submit([encoder.finish()]);
    gpu.wait().unwrap();
}

fn scanned(gpu: &Gpu, groups: u32, values: &[u32], capacity: u32) -> (Vec<u32>, u32) {
    let (work_buffer, data) = (work_buffer(gpu, groups), storage(gpu, "data", values.len() as u64));
    put(gpu, &work_buffer, work::ENTRIES, &[values.len() as u32]);
    put(gpu, &data, 0, values);
    let mut builder = Builder::new(gpu, &work_buffer, groups);
    let length = Length { count_at: work::ENTRIES, capacity };
    let to = Sums { total_at: work::PAIRS, longest_at: work::LONGEST, apart: 1 };
    builder.scan(&data, length, to);
    run(gpu, &builder.finish());
    let total = get(gpu, &work_buffer, work::PAIRS + 1)[work::PAIRS as usize];
    (get(gpu, &data, values.len() as u32), total)
}

#[test]
fn prefix_sums_are_those_of_plain_code() {
    let (gpu, mut random) = (gpu(), Random(1));
    for &size in SIZES {
        for groups in [1, 2, 3, 7] {
            let values: Vec<u32> = (0..size).map(|_| random.next() % 1000).collect();
            let (found, total) = scanned(&gpu, groups, &values, size);
            let mut sum = 0;
            for (index, &value) in values.iter().enumerate() {
                assert_eq!(found[index], sum, "{size} elements, {groups} groups, at {index}");
                sum += value;
            }
            assert_eq!(total, sum, "{size} elements, {groups} groups");
        }
    }
}

#[test]
fn the_largest_element_is_told_and_the_last_is_apart() {
    let gpu = gpu();
    for size in [1u32, 2, 257, 1025, 5000] {
        let mut values: Vec<u32> = (0..size).map(|k| k * 37 % 101).collect();
        values[size as usize - 1] = 1000;
        let work_buffer = work_buffer(&gpu, 3);
        let data = storage(&gpu, "data", size.into());
        put(&gpu, &work_buffer, work::ENTRIES, &[size]);
        put(&gpu, &data, 0, &values);
        let mut builder = Builder::new(&gpu, &work_buffer, 3);
        let length = Length { count_at: work::ENTRIES, capacity: size };
        let to = Sums { total_at: work::PAIRS, longest_at: work::LONGEST, apart: 1 };
        builder.scan(&data, length, to);
        run(&gpu, &builder.finish());
        let told = get(&gpu, &work_buffer, work::HEADER)[work::LONGEST as usize];
        let rest = values[..size as usize - 1].iter().copied().max().unwrap_or(0);
        assert_eq!(told, rest, "{size}");
    }
}

#[test]
fn prefix_sums_stop_at_the_largest_number() {
    let gpu = gpu();
    let values = vec![1 << 30; 3000];
    let (found, total) = scanned(&gpu, 2, &values, 3000);
    assert_eq!(found[..5], [0, 1 << 30, 1 << 31, 3 << 30, u32::MAX]);
    assert!(found[5..].iter().all(|&sum| sum == u32::MAX));
    assert_eq!(total, u32::MAX);
}

#[test]
fn more_elements_than_fit_are_left_alone() {
    let gpu = gpu();
    let values = vec![7; 2000];
    assert_eq!(scanned(&gpu, 2, &values, 1999), (values, 0));
}

#[test]
fn halves_of_small_sums_are_told() {
    let gpu = gpu();
    let work_buffer = work_buffer(&gpu, 4);
    for length in [2u32, 6, 256, 510, 512, 514, 2048] {
        put(&gpu, &work_buffer, work::HITS, &vec![3; length as usize]);
        let mut builder = Builder::new(&gpu, &work_buffer, 4);
        builder.scan_small(work::HITS, length, work::EVENTS, work::BEGAN);
        run(&gpu, &builder.finish());
        let words = get(&gpu, &work_buffer, work::HITS + length);
        assert_eq!(words[work::EVENTS as usize], 3 * length);
        assert_eq!(words[work::BEGAN as usize], 3 * length / 2, "{length}");
        let sums = &words[work::HITS as usize..];
        assert!(sums.iter().enumerate().all(|(place, &sum)| sum == 3 * place as u32));
    }
}

#[test]
fn sorts_are_stable_and_those_of_plain_code() {
    let (gpu, mut random) = (gpu(), Random(2));
    for &size in SIZES {
        for groups in [1, 3] {
            let crowded = size % 2 == 1;
            let keys: Vec<[u32; 2]> = (0..size)
                .map(|_| {
                    let second = random.next();
                    [random.next() % 500, if crowded { second % 7 } else { second }]
                })
                .collect();
            let mut expected: Vec<([u32; 2], u32)> =
                keys.iter().enumerate().map(|(place, &key)| (key, place as u32)).collect();
            expected.sort_by_key(|&(key, _)| key);
            for kind in [Digits::Four, Digits::Eight] {
                let found = sorted(&gpu, groups, &keys, kind);
                assert_eq!(found, expected, "{size} keys, {groups} groups, {kind:?}");
            }
        }
    }
}

/// Sorts by sixteen bits of the first word and all of the second.
fn sorted(gpu: &Gpu, groups: u32, keys: &[[u32; 2]], kind: Digits) -> Vec<([u32; 2], u32)> {
    let count = keys.len() as u64;
    let work_buffer = work_buffer(gpu, groups);
    let lists = [2 * count, 2 * count, count, count].map(|words| storage(gpu, "list", words));
    let values: Vec<u32> = (0..count as u32).collect();
    put(gpu, &work_buffer, work::ENTRIES, &[count as u32]);
    put(gpu, &lists[0], 0, keys.as_flattened());
    put(gpu, &lists[2], 0, &values);
    let mut builder = Builder::new(gpu, &work_buffer, groups);
    let sort = SortLists {
        keys: &lists[0],
        other_keys: &lists[1],
        values: &lists[2],
        other_values: &lists[3],
        with_values: true,
    };
    let length = Length { count_at: work::ENTRIES, capacity: count as u32 };
    let all = digits(kind, 1, 32).chain(digits(kind, 0, 16));
    builder.sort(sort, length, kind, all);
    run(gpu, &builder.finish());
    let found = get(gpu, &lists[0], 2 * count as u32);
    let places = get(gpu, &lists[2], count as u32);
    found.as_chunks().0.iter().copied().zip(places).collect()
}

/// Lengths of buckets around nothing, one, and the longest that a thread sorts.
fn bucket_lengths(buckets: usize, random: &mut Random) -> Vec<u32> {
    let some = [0, 1, 2, 3, work::LONGEST_LOCAL - 1, work::LONGEST_LOCAL];
    (0..buckets).map(|_| some[random.next() as usize % some.len()]).collect()
}

/// Where buckets of these lengths end.
fn ends_of(lengths: &[u32]) -> Vec<u32> {
    let add = |sum: &mut u32, &length: &u32| {
        *sum += length;
        Some(*sum)
    };
    lengths.iter().scan(0, add).collect()
}

#[test]
fn threads_sort_buckets_as_plain_code_does_and_leave_long_ones_alone() {
    let (gpu, mut random) = (gpu(), Random(3));
    for (buckets, groups) in [(1, 1), (255, 1), (257, 2), (1500, 3)] {
        for longest in [work::LONGEST_LOCAL, work::LONGEST_LOCAL + 1] {
            let ends = ends_of(&bucket_lengths(buckets, &mut random));
            let count = *ends.last().unwrap();
            let run_of = |place: u32| ends.partition_point(|&end| end <= place) as u32;
            let keys: Vec<[u32; 2]> =
                (0..count).map(|place| [run_of(place), random.next() % 5]).collect();
            let values: Vec<u32> = (0..count).map(|place| (place * 7919) % count).collect();
            let work_buffer = work_buffer(&gpu, groups);
            // Behind the last bucket is that of the giants.
            put(&gpu, &work_buffer, work::BUCKETS, &[buckets as u32 + 1]);
            put(&gpu, &work_buffer, work::ENTRIES, &[count]);
            put(&gpu, &work_buffer, work::LONGEST, &[longest]);
            let lists = [buckets as u64, 2 * u64::from(count), u64::from(count)];
            let lists = lists.map(|words| storage(&gpu, "list", words));
            put(&gpu, &lists[0], 0, &ends);
            put(&gpu, &lists[1], 0, keys.as_flattened());
            put(&gpu, &lists[2], 0, &values);
            let mut builder = Builder::new(&gpu, &work_buffer, groups);
            builder.run(Kernel::Settle, &[&lists[0], &lists[1], &lists[2]], &[count]);
            run(&gpu, &builder.finish());
            let mut expected: Vec<([u32; 2], u32)> = keys.into_iter().zip(values).collect();
            if longest == work::LONGEST_LOCAL {
                expected.sort_unstable();
            }
            let found = get(&gpu, &lists[1], 2 * count);
            let found = found.as_chunks().0.iter().copied().zip(get(&gpu, &lists[2], count));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{buckets} buckets, {longest}");
        }
    }
}

#[test]
fn threads_sort_the_pairs_of_each_box_as_plain_code_does() {
    let (gpu, mut random) = (gpu(), Random(4));
    for (slots, groups) in [(1, 1), (256, 2), (1025, 3)] {
        for longest in [work::LONGEST_LOCAL, work::LONGEST_LOCAL + 1] {
            let ends = ends_of(&bucket_lengths(slots, &mut random));
            let count = *ends.last().unwrap();
            let first_of = |place: u32| ends.partition_point(|&end| end <= place) as u32;
            let pairs: Vec<[u32; 2]> =
                (0..count).map(|place| [first_of(place), random.next()]).collect();
            let work_buffer = work_buffer(&gpu, groups);
            put(&gpu, &work_buffer, work::SLOTS, &[slots as u32]);
            put(&gpu, &work_buffer, work::PAIRS, &[count]);
            put(&gpu, &work_buffer, work::LONGEST_LIST, &[longest]);
            let lists = [slots as u64, 2 * u64::from(count)];
            let lists = lists.map(|words| storage(&gpu, "list", words));
            put(&gpu, &lists[0], 0, &ends);
            put(&gpu, &lists[1], 0, pairs.as_flattened());
            let mut builder = Builder::new(&gpu, &work_buffer, groups);
            builder.run(Kernel::SettlePairs, &[&lists[0], &lists[1]], &[count]);
            run(&gpu, &builder.finish());
            let mut expected = pairs;
            if longest == work::LONGEST_LOCAL {
                expected.sort_unstable();
            }
            let found = get(&gpu, &lists[1], 2 * count);
            assert_eq!(found.as_chunks().0, expected, "{slots} slots, {longest}");
        }
    }
}
