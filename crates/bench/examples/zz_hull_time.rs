//! temp
use glam::{DQuat, DVec3};
use jostle::shape::Hull;
use std::time::Instant;
fn main() {
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let n: usize = std::env::args().nth(1).and_then(|t| t.parse().ok()).unwrap_or(1_000_000);
    let only = std::env::args().nth(2);
    let cube: Vec<DVec3> = (0..n).map(|_| DVec3::new(number(), number(), number())).collect();
    let sphere: Vec<DVec3> = cube.iter().map(|p| p.normalize()).collect();
    let ball: Vec<DVec3> = cube.iter().map(|p| p.normalize()*p.x.abs().cbrt()).collect();
    let flat: Vec<DVec3> = cube.iter().map(|p| DQuat::from_rotation_x(0.3) * DVec3::new(p.x, p.y, 0.0)).collect();
    let line: Vec<DVec3> = cube.iter().map(|p| DVec3::new(1.0,2.0,3.0)*p.x).collect();
    let grid: Vec<DVec3> = (0..n).map(|i| DVec3::new((i % 100) as f64, (i / 100 % 100) as f64, (i / 10000) as f64)).collect();
    let turned: Vec<DVec3> = grid.iter().map(|&p| DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.7)) * p).collect();
    let shell: Vec<DVec3> = grid.iter().filter(|p| p.min_element() == 0.0 || p.max_element() == 99.0).map(|&p| DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.7)) * p).collect();
    let circle: Vec<DVec3> = (0..n/2).flat_map(|i| { let a = i as f64 * 1.2345; [DVec3::new(a.cos(), a.sin(), 1.0), DVec3::new(a.cos(), a.sin(), -1.0)] }).collect();
    let helix: Vec<DVec3> = (0..n/50).map(|i| { let a = i as f64 * 1e-3; DVec3::new(a.cos(), a.sin(), a) }).collect();
    let moment: Vec<DVec3> = (0..n/50).map(|i| { let a = i as f64 / 20000.0; DVec3::new(a, a*a, a*a*a) }).collect();
    let same = vec![DVec3::ONE; n];
    for (name, points) in [("cube", cube), ("ball", ball), ("sphere", sphere), ("flat", flat), ("line", line), ("same", same), ("grid", grid), ("turned grid", turned), ("shell", shell), ("cylinder rims", circle), ("helix", helix), ("moment curve", moment)] {
        if only.as_deref().is_some_and(|o| o != name) { continue; }
        let t = Instant::now();
        let hull = Hull::new(&points).unwrap();
        println!("{name}: {} points, dim {}, {} vertices, {} faces, {:.3} s", points.len(), hull.dimension(), hull.vertices().len(), hull.face_count(), t.elapsed().as_secs_f64());
    }
}
