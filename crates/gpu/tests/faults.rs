//! Devices that are not there, go away or are too small: a clear error, nothing lost, and the
//! next step elsewhere continues with balanced events.

use jostle::{Aabb, Algorithm, Detector, Error, Filter, Workers};
use jostle_gpu::{Gpu, GpuChoice, GpuError, GpuSweep};
use jostle_scenes::SceneSpec;

fn open() -> Gpu {
    Gpu::open(&GpuChoice::Software).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_device_that_is_not_there_is_named_with_what_there_is() {
    let error = Gpu::open(&GpuChoice::Name("no such thing".into())).unwrap_err();
    assert!(matches!(error, GpuError::NoDevice { .. }), "{error:?}");
    assert!(error.to_string().contains("no such thing"), "{error}");
    let listed = Gpu::list();
    for (number, info) in listed.iter().enumerate() {
        assert_eq!(info.number, number);
        assert!(error.to_string().contains(&info.name), "{error}");
    }
    let error = Gpu::open(&GpuChoice::Number(listed.len())).unwrap_err();
    assert!(error.to_string().contains("number"), "{error}");
}

/// Plays a scene; the device is destroyed before one step, which fails; then the processor, or
/// another device, takes over. Every event is that of a run without faults.
fn lose_the_device(elsewhere: impl Fn(&mut Detector)) {
    let spec = SceneSpec::new("uniform", 2000, 5).param("density", 0.35);
    let mut scene = spec.build().unwrap();
    let gpu = open();
    let broad = Box::new(GpuSweep::new(&gpu));
    let mut detector = Detector::with_broad_phase(broad, Workers::one());
    let mut truth = Detector::new(Algorithm::GridSweep);
    for detector in [&mut detector, &mut truth] {
        detector.boxes_mut().insert_all(scene.boxes(), Filter::ALL).unwrap();
    }
    for step in 0..8 {
        for detector in [&mut detector, &mut truth] {
            detector.boxes_mut().set_all(scene.boxes()).unwrap();
        }
        if step == 4 {
            gpu.device().destroy();
            let before = detector.pairs().to_vec();
            let pending = detector.boxes().changes().len();
            let error = detector.step().unwrap_err();
            assert!(matches!(error, Error::Device(_)), "{error:?}");
            assert!(error.to_string().contains("lost"), "{error}");
            assert!(gpu.is_lost());
            assert_eq!(detector.boxes().changes().len(), pending, "changes stay pending");
            assert_eq!(detector.pairs(), before);
            // A lost device stays lost.
            assert!(detector.step().is_err());
            elsewhere(&mut detector);
        }
        assert_eq!(detector.step().unwrap(), truth.step().unwrap(), "step {step}");
        assert_eq!(detector.pairs(), truth.pairs());
        scene.advance();
    }
}

#[test]
fn a_lost_device_is_told_and_the_processor_continues() {
    lose_the_device(|detector| detector.set_algorithm(Algorithm::Sap));
}

#[test]
fn a_lost_device_is_told_and_another_device_continues() {
    lose_the_device(|detector| {
        let broad = Box::new(GpuSweep::new(&open()));
        detector.set_broad_phase(broad);
    });
}

#[test]
fn more_boxes_than_a_binding_holds_are_refused_with_the_numbers() {
    let gpu = open();
    // 28 bytes an entry, 24 a box: a set that no binding of the usual 128 MiB takes.
    let count = gpu.info().binding / 24 + 1;
    if count > 8_000_000 {
        println!("SKIPPED: this device's bindings hold more boxes than fit the test's memory");
        return;
    }
    let broad = Box::new(GpuSweep::new(&gpu));
    let mut detector = Detector::with_broad_phase(broad, Workers::one());
    let boxes = vec![Aabb::point([0.0; 3]); count as usize];
    detector.boxes_mut().insert_all(&boxes, Filter::STILL).unwrap();
    let error = detector.step().unwrap_err();
    assert!(error.to_string().contains("one binding for the boxes"), "{error}");
}
