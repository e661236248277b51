//! Times the stages of a steady step by the device's own clock, and prints what was counted:
//!
//! ```text
//! cargo run --release -p jostle-gpu --example stages -- 100000 0.35 6
//! ```
//!
//! Number of boxes, density and frames. The device is the first one; a software device does.

use std::time::Duration;

use jostle::{Detector, Filter, Stats, Workers};
use jostle_gpu::{Gpu, GpuChoice, GpuOptions, GpuSweep};
use jostle_scenes::SceneSpec;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = std::env::args().skip(1);
    let boxes: usize = given.next().map_or(Ok(100_000), |text| text.parse())?;
    let density: f64 = given.next().map_or(Ok(0.35), |text| text.parse())?;
    let frames: usize = given.next().map_or(Ok(6), |text| text.parse())?;
    let gpu = Gpu::open(&GpuChoice::Number(0))?;
    let options = GpuOptions { timestamps: true, ..GpuOptions::default() };
    let broad = Box::new(GpuSweep::with_options(&gpu, options));
    let mut detector = Detector::with_broad_phase(broad, Workers::one());
    let mut scene = SceneSpec::new("uniform", boxes, 1).param("density", density).build()?;
    detector.boxes_mut().insert_all(scene.boxes(), Filter::ALL)?;
    detector.step()?;
    let mut steps = Vec::new();
    for _ in 0..frames {
        scene.advance();
        detector.boxes_mut().set_all(scene.boxes())?;
        detector.step()?;
        steps.push(detector.stats());
    }
    println!("{boxes} boxes, density {density}, on {}: the least of {frames}", gpu.info().name);
    print(&steps);
    Ok(())
}

fn print(steps: &[Stats]) {
    let Some(last) = steps.last() else { return };
    let mut all = Duration::ZERO;
    for (stage, _) in last.stages.iter().filter(|stage| stage.0.starts_with("device: ")) {
        let times = steps.iter().flat_map(|step| step.stages.iter().filter(|s| s.0 == *stage));
        let least = times.map(|stage| stage.1).min().unwrap_or_default();
        all += least;
        println!("{:>10.3} ms  {}", least.as_secs_f64() * 1e3, &stage[8..]);
    }
    println!("{:>10.3} ms  all of them", all.as_secs_f64() * 1e3);
    for (name, value) in &last.counts {
        println!("{value:>14.3} {name}");
    }
}
