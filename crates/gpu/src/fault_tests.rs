//! Faults that a healthy device does not show by itself: no memory left, a shader refused.

use jostle::{Aabb, Algorithm, Detector, Error, Filter, Workers};

use crate::device::{Gpu, GpuChoice, GpuError};
use crate::kernel::compile;
use crate::sweep::GpuSweep;

fn gpu() -> Gpu {
    Gpu::open(&GpuChoice::Software).unwrap_or_else(|error| panic!("{error}"))
}

fn boxes(step: usize) -> Vec<Aabb> {
    let at = |k: usize| (k * 37 % 400 + step * (k % 3)) as f32;
    (0..500).map(|k| Aabb::new([at(k); 3], [at(k) + 3.0; 3])).collect()
}

#[test]
fn a_device_without_memory_is_told_and_the_next_step_continues() {
    let gpu = gpu();
    let broad = Box::new(GpuSweep::new(&gpu));
    let mut device = Detector::with_broad_phase(broad, Workers::one());
    let mut truth = Detector::new(Algorithm::GridSweep);
    for detector in [&mut device, &mut truth] {
        detector.boxes_mut().insert_all(&boxes(0), Filter::ALL).unwrap();
    }
    for step in 0..5 {
        for detector in [&mut device, &mut truth] {
            detector.boxes_mut().set_all(&boxes(step)).unwrap();
        }
        if step == 2 {
            let source = Box::new(std::fmt::Error);
            gpu.report(wgpu::Error::OutOfMemory { source });
            let pending = device.boxes().changes().len();
            let error = device.step().unwrap_err();
            assert!(matches!(&error, Error::Device(why) if why.contains("no memory left")));
            assert_eq!(device.boxes().changes().len(), pending, "changes stay pending");
        }
        assert_eq!(device.step().unwrap(), truth.step().unwrap(), "step {step}");
    }
}

#[test]
fn a_refused_shader_is_told_by_its_name() {
    let gpu = gpu();
    compile(gpu.device(), "broken.wgsl", "", &["@compute @workgroup_size(1) fn main( {"], &[]);
    let error = gpu.check().unwrap_err();
    assert!(matches!(error, GpuError::Refused(_)), "{error:?}");
    assert!(error.to_string().contains("broken.wgsl"), "{error}");
    assert_eq!(gpu.check(), Ok(()), "it is told once");
}
