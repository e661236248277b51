//! `plane`: the plane cluster of Capannini and Larsson (*Adaptive Collision Culling for Massive
//! Simulations by a Parallel and Context-Aware Sweep and Prune Algorithm*, section 7).
//!
//! Equal cubes stand on a square grid in two coordinates and at random heights u in the third;
//! all of them pass u = 0 at the same frame, halfway, and end up mirrored. A cube is a little
//! narrower than the grid's spacing (`fill`), so at the default **nothing ever collides**, as in
//! the paper: what is hard is that everything shares one plane. A `fill` above 1 makes
//! neighbours overlap while they cross. After a passage the cubes come back the same way.
//!
//! Positions are computed from the frame's number, not summed up: the plane is met exactly.
//! The paper's size is 750 x 750 = 562 500.

use super::{Motion, around};
use crate::catalog::Values;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// The heights at frame 0 and how the passage runs.
pub(super) struct Plane {
    heights: Vec<f32>,
    columns: usize,
    fill: f32,
    axis: usize,
    frames: u64,
}

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, Plane) {
    let columns = ((n as f64).sqrt().ceil() as usize).max(1);
    let reach = 0.5 * columns as f32;
    let heights = (0..n).map(|_| rng.between(-reach, reach)).collect();
    let fill = values.get_or("fill", 0.98) as f32;
    let axis = values.get_or("axis", 0.0) as usize;
    let frames = values.get_or("frames", 500.0) as u64;
    let plane = Plane { heights, columns, fill, axis, frames };
    let wall = reach + 0.5 * fill;
    let world = Aabb::new([-wall; 3], [wall; 3]);
    let mut frame = Frame { world, boxes: vec![Aabb::default(); n], ..Frame::default() };
    plane.write(&mut frame);
    (frame, plane)
}

impl Motion for Plane {
    fn advance(&mut self, frame: &mut Frame) {
        self.write(frame);
    }
}

impl Plane {
    /// The factor on all heights: 1, falling to -1 within a passage, and back again.
    fn factor(&self, frame: u64) -> f32 {
        let at = frame % (2 * self.frames);
        let way = at.min(2 * self.frames - at);
        (1.0 - 2.0 * way as f64 / self.frames as f64) as f32
    }

    fn write(&self, frame: &mut Frame) {
        let factor = self.factor(frame.number);
        let first = 0.5 * (1.0 - self.columns as f32);
        let half = [0.5 * self.fill; 3];
        let mut heights = self.heights.iter();
        // Row by row, so that no cube needs a division to know its place.
        for (row, cubes) in frame.boxes.chunks_mut(self.columns).enumerate() {
            for (column, (cube, height)) in cubes.iter_mut().zip(&mut heights).enumerate() {
                let mut centre = [0.0; 3];
                centre[self.axis] = height * factor;
                centre[(self.axis + 1) % 3] = first + column as f32;
                centre[(self.axis + 2) % 3] = first + row as f32;
                *cube = around(centre, half);
            }
        }
    }
}
