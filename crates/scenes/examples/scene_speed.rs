//! Prints what each scene costs: building it, and one step to the next frame.
//!
//! `cargo run --release -p jostle-scenes --example scene_speed [n] [frames]`

use jostle_scenes::Scene;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let n: usize = arguments.next().map_or(Ok(1_000_000), |text| text.parse())?;
    let frames: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    println!("{n} boxes, {frames} steps\nscene      build ms   min ms  median ms");
    for info in Scene::list() {
        let start = Instant::now();
        let mut scene = Scene::new(info.name, n, 7, &[])?;
        let build = start.elapsed().as_secs_f64() * 1e3;
        let mut times: Vec<f64> = (0..frames.max(1)).map(|_| step_time(&mut scene)).collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!("{:10} {build:8.1} {:8.2} {median:10.2}", info.name, times[0]);
    }
    Ok(())
}

fn step_time(scene: &mut Scene) -> f64 {
    let start = Instant::now();
    scene.advance();
    start.elapsed().as_secs_f64() * 1e3
}
