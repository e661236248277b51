//! Recordings made, read, done again, cut, flipped and forged.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::*;
use crate::{
    Aabb, Algorithm, BoxId, Boxes, Detector, Filter, Pair, RecordError, Recorder, Slot, Stepper,
    Workers,
};

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn place(k: usize, step: usize) -> Aabb {
    let at = [k * 37 % 11, k * 53 % 13, k * 71 % 7].map(|part| (part + step * (k % 3)) as f32);
    Aabb::new(at, at.map(|low| low + (k % 4) as f32))
}

/// Calls of every kind, a refused step among them; `before` is called before the step numbered 3.
fn history(detector: &mut Detector, count: usize, before: impl FnOnce(&mut Detector)) {
    let mut before = Some(before);
    let mut ids: Vec<BoxId> = Vec::new();
    for step in 0..9 {
        let aabbs: Vec<Aabb> = (0..count).map(|k| place(k + step, step)).collect();
        let filters: Vec<Filter> = (0..count)
            .map(|k| if k % 5 == 0 { Filter::STILL } else { Filter::ALL.with_owner(k as u32 % 4) })
            .collect();
        match step % 3 {
            0 => ids.extend(detector.boxes_mut().insert_each(&aabbs, &filters).unwrap()),
            1 => ids.extend(detector.boxes_mut().insert_all(&aabbs, Filter::ALL).unwrap()),
            _ => ids.push(detector.insert(place(1, step), Filter::groups(3, 1)).unwrap()),
        }
        // A box that no step ever sees, whose slot is given out again at once.
        let gone = detector.insert(place(7, 7), Filter::ALL).unwrap();
        detector.remove(gone).unwrap();
        ids.push(detector.insert(place(5, step), Filter::ALL).unwrap());
        let moved: Vec<Aabb> = (0..detector.boxes().len()).map(|k| place(k, step)).collect();
        if step % 2 == 0 {
            detector.boxes_mut().set_all(&moved).unwrap();
        } else {
            detector.boxes_mut().set_many(&ids[..3], &moved[..3]).unwrap();
            detector.set(ids[4], place(9, step)).unwrap();
        }
        detector.boxes_mut().set_filter(ids[step], Filter::groups(step as u32, 7)).unwrap();
        detector.boxes_mut().set_user_data(ids[1], step as u64).unwrap();
        detector.exclude(ids[2], ids[step + 3]).unwrap();
        if step > 4 {
            detector.include(ids[2], ids[step + 2]).unwrap();
        }
        if step == 3 {
            before.take().unwrap()(detector);
        }
        detector.remove(ids.swap_remove(step + 6)).unwrap();
        let last = ids.split_off(ids.len() - 2);
        detector.boxes_mut().remove_all(&last).unwrap();
        if step == 5 {
            detector.set_pair_limit(3);
            detector.step().unwrap_err();
            detector.set_pair_limit(1 << 20);
            detector.set_algorithm(Algorithm::Bvh);
        }
        detector.step().unwrap();
        detector.step().unwrap();
    }
}

/// A recording of the history, from the beginning or from its middle.
fn recorded(count: usize, from_the_beginning: bool) -> Vec<u8> {
    let file = Memory::default();
    let mut detector = Detector::new(Algorithm::Sap);
    if from_the_beginning {
        detector.record(Recorder::new(file.clone()));
    }
    history(&mut detector, count, |detector| {
        if !from_the_beginning {
            detector.record(Recorder::new(file.clone()));
        }
    });
    let recorder = detector.stop_recording().unwrap();
    assert_eq!(recorder.steps(), if from_the_beginning { 18 } else { 12 });
    assert_eq!(recorder.finish().unwrap(), file.bytes().len() as u64);
    file.bytes()
}

/// Does the calls again and returns the number of steps that agreed; the first error ends it.
fn replay(bytes: &[u8], algorithm: Algorithm, workers: &Workers) -> (u64, Result<(), String>) {
    let mut agreed = 0;
    let mut run = || -> Result<(), Box<dyn std::error::Error>> {
        let mut recording = Recording::new(bytes)?;
        let (mut boxes, mut stepper) = (Boxes::new(), Stepper::new(algorithm, workers));
        while let Some(call) = recording.next_call()? {
            call.apply(&mut boxes)?;
            match call {
                Call::Begin(start) => {
                    stepper.set_pair_limit(start.pair_limit);
                    stepper.restore_pairs(&boxes, &start.pairs)?;
                }
                Call::PairLimit(limit) => stepper.set_pair_limit(limit),
                Call::Step(expected) => {
                    stepper.step(&boxes)?;
                    if stepper.hash() != expected {
                        return Err("another hash".into());
                    }
                    boxes.commit();
                    agreed += 1;
                }
                Call::RefusedStep(told) => {
                    let error = stepper.step(&boxes).err().ok_or("not refused")?;
                    if error.to_string() != told {
                        return Err(format!("refused with {error}, not {told}").into());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    };
    let done = run().map_err(|error| error.to_string());
    (agreed, done)
}

/// With more boxes than a worker's run of `set_all`, and few.
#[test]
fn every_algorithm_and_number_of_threads_finds_what_was_recorded() {
    for (count, beginning) in [(12, true), (12, false), (400, true)] {
        let bytes = recorded(count, beginning);
        for &algorithm in Algorithm::ALL {
            for threads in [1, 2, 3, 8] {
                let workers = Workers::new(threads).unwrap();
                let steps = if beginning { 18 } else { 12 };
                let expected = (steps, Ok(()));
                assert_eq!(replay(&bytes, algorithm, &workers), expected, "{algorithm} {threads}");
            }
        }
    }
}

/// Batches above the size of a worker's run write the same bytes on any number of workers, except
/// that runs are calls of their own.
#[test]
fn large_batches_are_recorded_by_any_number_of_workers() {
    let frame = |step: usize| -> Vec<Aabb> {
        let at = |k: usize| (k * 7 + if k % 3 == 0 { step } else { 0 }) as f32;
        (0..20_000).map(|k| Aabb::new([at(k), 0.0, 0.0], [at(k) + 8.0, 1.0, 1.0])).collect()
    };
    for threads in [1, 2, 3, 8] {
        let file = Memory::default();
        let workers = Workers::new(threads).unwrap();
        let mut detector = Detector::with_workers(Algorithm::GridSweep, workers);
        detector.boxes_mut().insert_all(&frame(0), Filter::ALL).unwrap();
        detector.record(Recorder::in_background(file.clone()).unwrap());
        for step in 1..4 {
            detector.boxes_mut().set_all(&frame(step)).unwrap();
            assert!(detector.step().unwrap().began.len() > 6000 || step > 1);
        }
        detector.stop_recording().unwrap().finish().unwrap();
        let done = replay(&file.bytes(), Algorithm::SortSweep, &Workers::one());
        assert_eq!(done, (3, Ok(())), "{threads} threads");
    }
}

#[test]
fn a_recording_cut_at_any_byte_is_read_up_to_its_last_whole_frame() {
    let bytes = recorded(8, true);
    let mut last = 0;
    for length in 0..bytes.len() {
        let (steps, done) = replay(&bytes[..length], Algorithm::Sap, &Workers::one());
        let error = done.unwrap_err();
        let fits = match length {
            0..8 => error == "this is no recording",
            _ => error.starts_with(&format!("the recording breaks off after step {steps};")),
        };
        assert!(fits, "{length} bytes: {error}");
        assert!(steps >= last, "{length} bytes: {steps} steps after {last}");
        last = steps;
    }
    assert_eq!(last, 18);
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = recorded(8, false);
    for place in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        let (_, done) = replay(&flipped, Algorithm::Sap, &Workers::one());
        let error = done.unwrap_err();
        let words = ["no recording", "version", "breaks off", "checksum is wrong"];
        assert!(words.iter().any(|word| error.contains(word)), "byte {place}: {error}");
    }
}

#[test]
fn other_versions_are_named() {
    let mut bytes = recorded(8, true);
    for version in [1, 3] {
        bytes[8] = version;
        let error = Recording::new(&bytes[..]).unwrap_err().to_string();
        let told = format!("this recording is of version {version}, and only version 2");
        assert!(error.starts_with(&told), "{error}");
    }
}

/// The payloads of the frames.
fn payloads(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut list, mut rest) = (Vec::new(), &bytes[HEADER..]);
    while let Some((header, after)) = rest.split_at_checked(FRAME_HEADER) {
        let length = u64::from_le_bytes(header[..8].try_into().unwrap()) as usize;
        list.push(after[..length].to_vec());
        rest = &after[length..];
    }
    list
}

fn assembled(payloads: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &[0; 4]].concat();
    for (number, payload) in (0..).zip(payloads) {
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(xxh64(payload, number).to_le_bytes());
        bytes.extend(payload);
    }
    bytes
}

/// A forger fixes the checksums: every byte of every payload takes several values, payloads are
/// cut and doubled. Whatever happens ends in words or agrees; nothing panics or asks for memory
/// that is not there.
#[test]
fn forged_frames_end_in_words() {
    let bytes = recorded(8, false);
    let frames = payloads(&bytes);
    assert_eq!(assembled(&frames), bytes);
    let mut refused = 0;
    let mut tried = 0;
    for number in 0..frames.len() {
        for place in (number % 5..frames[number].len()).step_by(5) {
            for value in [0, 1, 0x7f, 0x80, 0xff, frames[number][place].wrapping_add(1)] {
                let mut forged = frames.clone();
                forged[number][place] = value;
                let (_, done) = replay(&assembled(&forged), Algorithm::Sap, &Workers::one());
                refused += usize::from(done.is_err());
                tried += 1;
            }
        }
        let mut cut = frames.clone();
        cut[number].pop();
        assert!(replay(&assembled(&cut), Algorithm::Sap, &Workers::one()).1.is_err());
        let mut doubled = frames.clone();
        doubled.insert(number, frames[number].clone());
        let _ = replay(&assembled(&doubled), Algorithm::Sap, &Workers::one());
    }
    assert!(refused * 10 > tried * 3 && refused < tried, "{refused} of {tried}");
}

#[test]
fn a_quiet_step_takes_seventeen_bytes() {
    let file = Memory::default();
    let mut detector = Detector::default();
    detector.boxes_mut().insert_all(&[Aabb::default(); 50], Filter::ALL).unwrap();
    detector.record(Recorder::new(file.clone()));
    detector.step().unwrap();
    let before = detector.recorder().unwrap().bytes();
    for _ in 0..10 {
        detector.boxes_mut().set_all(&[Aabb::default(); 50]).unwrap();
        detector.step().unwrap();
    }
    assert_eq!(detector.recorder().unwrap().bytes() - before, 170);
}

/// The hash that follows the events is that of the whole set.
#[test]
fn hashes_of_pairs_add_up() {
    let pairs = |list: &[(u32, u32)]| list.iter().map(|&pair| pair.into()).collect::<Vec<Pair>>();
    let (old, began, ended) = (pairs(&[(0, 1), (2, 9)]), pairs(&[(0, 9)]), pairs(&[(0, 1)]));
    let first = StepHash::new(&old, &[], &[]);
    let second = StepHash::new(&pairs(&[(0, 9), (2, 9)]), &began, &ended);
    assert_eq!(first.next(2, &began, &ended), second);
    let reference = (1u64 << 32).to_le_bytes();
    assert_eq!(StepHash::new(&ended, &[], &[]).pairs_hash, xxh64(&reference, 0));
}

/// What moves together takes its bounds and a few bytes.
#[test]
fn a_box_that_moves_takes_its_bounds_alone() {
    let mut detector = Detector::default();
    let mut boxes: Vec<Aabb> = (0..1000).map(|k| Aabb::point([k as f32, 0.0, 0.0])).collect();
    detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
    detector.record(Recorder::new(io::sink()));
    detector.step().unwrap();
    let before = detector.recorder().unwrap().bytes();
    boxes.iter_mut().for_each(|aabb| *aabb = Aabb::point([aabb.min[0], 1.0, 0.0]));
    detector.boxes_mut().set_all(&boxes).unwrap();
    detector.step().unwrap();
    let call = 1 + 2 + 1 + 2 + 24 * 1000;
    let step = FRAME_HEADER as u64 + 1;
    assert_eq!(detector.recorder().unwrap().bytes() - before, call + step);
}

#[test]
fn a_recorder_that_is_dropped_leaves_every_step() {
    let file = Memory::default();
    let mut detector = Detector::default();
    detector.record(Recorder::in_background(file.clone()).unwrap());
    history(&mut detector, 9, |_| ());
    drop(detector);
    let (steps, done) = replay(&file.bytes(), Algorithm::Auto, &Workers::one());
    assert_eq!(steps, 18);
    assert!(done.unwrap_err().contains("breaks off after step 18"));
}

/// Takes some bytes, then fails, hangs or panics.
struct Failing {
    left: usize,
    how: fn() -> io::Result<()>,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            (self.how)()?;
        }
        self.left = self.left.saturating_sub(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn full() -> io::Result<()> {
    Err(io::ErrorKind::StorageFull.into())
}

#[test]
fn a_full_disk_is_an_error_of_the_recorder_alone() {
    let mut plain = Detector::default();
    history(&mut plain, 8, |_| ());
    for background in [false, true] {
        let writer = Failing { left: 1000, how: full };
        let recorder = match background {
            true => Recorder::in_background(writer).unwrap(),
            false => Recorder::new(writer),
        };
        let mut detector = Detector::default();
        detector.record(recorder);
        history(&mut detector, 8, |_| ());
        assert_eq!(detector.pairs(), plain.pairs());
        let error = detector.stop_recording().unwrap().finish().unwrap_err();
        assert!(matches!(error, RecordError::Write(_)), "{error}");
    }
}

#[test]
fn a_writer_that_panics_or_hangs_ends_the_recording() {
    let panics = || panic!("a writer of the user's");
    let recorder = Recorder::in_background(Failing { left: 100, how: panics }).unwrap();
    let mut detector = Detector::default();
    detector.record(recorder);
    history(&mut detector, 8, |_| ());
    let error = detector.stop_recording().unwrap().finish().unwrap_err();
    assert!(error.to_string().contains("the writer panicked"), "{error}");

    static GATE: Mutex<()> = Mutex::new(());
    let closed = GATE.lock().unwrap();
    let hangs = || {
        drop(GATE.lock());
        Ok(())
    };
    let recorder = Recorder::in_background(Failing { left: 100, how: hangs }).unwrap();
    let mut detector = Detector::default();
    detector.record(recorder.with_patience(Some(Duration::ZERO)));
    let mut boxes = vec![Aabb::default(); 1 << 18];
    for k in 0..boxes.len() {
        boxes[k] = Aabb::point([k as f32, 0.0, 0.0]);
    }
    detector.boxes_mut().insert_all(&boxes, Filter::ALL).unwrap();
    for step in 0..20 {
        boxes.iter_mut().for_each(|aabb| *aabb = Aabb::point([aabb.min[0], step as f32, 1.0]));
        detector.boxes_mut().set_all(&boxes).unwrap();
        detector.step().unwrap();
    }
    assert!(matches!(detector.recorder().unwrap().error(), Some(RecordError::Behind { .. })));
    drop(closed);
}

#[test]
fn calls_that_do_not_fit_the_boxes_say_so() {
    let mut boxes = Boxes::new();
    let slot = Slot::new(3);
    let set = Call::Set { slots: vec![slot], aabbs: vec![Aabb::default()] };
    for call in [set, Call::Remove(vec![slot]), Call::Exclude(Pair::from((3, 4)))] {
        let error = call.apply(&mut boxes).unwrap_err().to_string();
        assert!(error.contains("contradicts itself: there is no box 3"), "{error}");
    }
    let insert = Call::Insert {
        slots: vec![slot],
        aabbs: vec![Aabb::default()],
        filters: vec![Filter::ALL],
    };
    let error = insert.apply(&mut boxes).unwrap_err().to_string();
    assert!(error.contains("box 3 was inserted as box 0"), "{error}");
}
