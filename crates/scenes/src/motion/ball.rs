//! `ball`: the ball cluster of Capannini and Larsson (*Adaptive Collision Culling for Massive
//! Simulations by a Parallel and Context-Aware Sweep and Prune Algorithm*, section 7).
//!
//! Boxes start uniformly in a ball and rush towards its centre, each as fast as it takes to
//! arrive at the same frame. Collision response keeps them from passing through each other, so
//! they pile up in a dense ball and are thrown out again in all directions. The paper does not
//! say which response it used; here two overlapping boxes that approach exchange their
//! velocities along the axis of least overlap (equal masses, elastic) and are pushed apart by a
//! part of the overlap. The exchange only swaps numbers, so momentum and energy stay what they
//! were and nothing can blow up. The walls of a cube three times as wide as the ball send the
//! boxes back, so the scene may run on for ever.
//!
//! Overlaps come from a hashed grid of cells two boxes wide, rebuilt by a counting sort; a box
//! looks into at most eight cells. Linear time, some 0.3 µs per box and frame on one core.

use super::{Motion, around, bounce, clipped};
use crate::catalog::Values;
use crate::math::cube_root;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// The share of an overlap by which each of the two boxes is pushed back per frame. A half
/// would part a lone pair at once, but makes a dense heap tremble.
const PUSH: f32 = 0.2;

/// Centres, half sizes and velocities, and the grid's scratch memory.
pub(super) struct Ball {
    centres: Vec<[f32; 3]>,
    halves: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    grid: Grid,
    pairs: Vec<(u32, u32)>,
}

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, Ball) {
    let sizes: Vec<[f32; 3]> = (0..n).map(|_| bounce::draw_size(values, rng)).collect();
    let volume: f64 = sizes.iter().map(|s| s.iter().map(|&x| f64::from(x)).product::<f64>()).sum();
    let ball = volume / values.get_or("density", 0.05);
    let radius = (cube_root(ball * 0.75 / std::f64::consts::PI) as f32).max(1.0);
    let arrival = values.get_or("arrival", 100.0) as f32;
    let centres: Vec<_> = (0..n).map(|_| rng.in_ball().map(|x| x * radius)).collect();
    let velocities = centres.iter().map(|centre| centre.map(|x| -x / arrival)).collect();
    let widest = sizes.iter().flatten().fold(1.0f32, |widest, &side| widest.max(side));
    // A box on the rim of the ball reaches out by half its width.
    let wall = 3.0 * radius + widest;
    let world = Aabb::new([-wall; 3], [wall; 3]);
    let halves = sizes.iter().map(|size| size.map(|x| 0.5 * x)).collect();
    let grid = Grid::new(n, widest);
    let ball = Ball { centres, halves, velocities, grid, pairs: Vec::new() };
    let mut frame = Frame { world, boxes: vec![Aabb::default(); n], ..Frame::default() };
    ball.write(&mut frame);
    (frame, ball)
}

impl Motion for Ball {
    fn advance(&mut self, frame: &mut Frame) {
        self.fly(&frame.world);
        self.grid.find_pairs(&self.centres, &self.halves, &mut self.pairs);
        // In the order of the list, each on the outcome of those before: one thread, one answer.
        for at in 0..self.pairs.len() {
            let (a, b) = self.pairs[at];
            self.respond(a as usize, b as usize);
        }
        self.write(frame);
    }
}

impl Ball {
    /// Moves every box and turns it round at the walls.
    fn fly(&mut self, world: &Aabb) {
        let bodies = self.centres.iter_mut().zip(&mut self.velocities).zip(&self.halves);
        for ((centre, velocity), half) in bodies {
            for k in 0..3 {
                let limit = world.max[k] - half[k];
                let at = centre[k] + velocity[k];
                if at.abs() > limit {
                    velocity[k] = -velocity[k].abs().copysign(at);
                }
                centre[k] = at.clamp(-limit, limit);
            }
        }
    }

    /// Lets two boxes bounce off each other, if they still overlap.
    fn respond(&mut self, a: usize, b: usize) {
        let depth: [f32; 3] = std::array::from_fn(|k| {
            let gap = (self.centres[a][k] - self.centres[b][k]).abs();
            self.halves[a][k] + self.halves[b][k] - gap
        });
        let least = if depth[0] <= depth[1] { 0 } else { 1 };
        let axis = if depth[least] <= depth[2] { least } else { 2 };
        if depth[axis] <= 0.0 {
            return;
        }
        let side = if self.centres[a][axis] <= self.centres[b][axis] { 1.0 } else { -1.0 };
        let (from, to) = (self.velocities[a][axis], self.velocities[b][axis]);
        if (to - from) * side < 0.0 {
            self.velocities[a][axis] = to;
            self.velocities[b][axis] = from;
        }
        self.centres[a][axis] -= side * depth[axis] * PUSH;
        self.centres[b][axis] += side * depth[axis] * PUSH;
    }

    fn write(&self, frame: &mut Frame) {
        let world = frame.world;
        for ((aabb, centre), half) in frame.boxes.iter_mut().zip(&self.centres).zip(&self.halves) {
            // A push may have gone through a wall.
            let inside = std::array::from_fn(|k| {
                centre[k].clamp(world.min[k] + half[k], world.max[k] - half[k])
            });
            *aabb = clipped(around(inside, *half), &world);
        }
    }
}

/// A hashed grid: the boxes sorted by the bucket of their cell.
///
/// The bucket is the cell's number in rows and layers, cut to the size of the table. Cells that
/// are near in space are near in memory, and as the table is about as wide as the ball, few
/// share a bucket. A mixing hash, tried first, took 2.8 times as long for a million boxes.
struct Grid {
    cell: f32,
    reach: f32,
    /// Distance in the table from one row of cells to the next.
    row: u32,
    /// Where each bucket begins in `members`; one more at the end.
    starts: Vec<u32>,
    members: Vec<Member>,
}

/// A box in its bucket, with all that a test needs.
#[derive(Clone, Copy, Default)]
struct Member {
    aabb: Aabb,
    centre: [f32; 3],
    cell: [i32; 3],
    id: u32,
}

impl Grid {
    fn new(n: usize, widest: f32) -> Grid {
        let buckets = (2 * n).next_power_of_two();
        Grid {
            cell: 2.0 * widest,
            reach: widest,
            row: (cube_root(buckets as f64) as u32).max(1),
            starts: vec![0; buckets + 1],
            members: vec![Member::default(); n],
        }
    }

    fn cell_at(&self, point: [f32; 3], offset: f32) -> [i32; 3] {
        point.map(|x| ((x + offset) / self.cell).floor() as i32)
    }

    fn bucket(&self, cell: [i32; 3]) -> usize {
        let [x, y, z] = cell.map(|x| x as u32);
        let number = x.wrapping_mul(self.row).wrapping_add(y).wrapping_mul(self.row);
        number.wrapping_add(z) as usize & (self.starts.len() - 2)
    }

    /// Sorts the boxes into buckets, ascending by index within each.
    fn fill(&mut self, centres: &[[f32; 3]], halves: &[[f32; 3]]) {
        self.starts.fill(0);
        for &centre in centres {
            let bucket = self.bucket(self.cell_at(centre, 0.0));
            self.starts[bucket] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        // Backwards, each member takes the place before its bucket's end; the ends become starts.
        for (i, (&centre, &half)) in centres.iter().zip(halves).enumerate().rev() {
            let cell = self.cell_at(centre, 0.0);
            let bucket = self.bucket(cell);
            self.starts[bucket] -= 1;
            let place = self.starts[bucket] as usize;
            self.members[place] = Member { aabb: around(centre, half), centre, cell, id: i as u32 };
        }
    }

    /// Writes the overlapping pairs, each once, in the order of the buckets.
    fn find_pairs(
        &mut self,
        centres: &[[f32; 3]],
        halves: &[[f32; 3]],
        pairs: &mut Vec<(u32, u32)>,
    ) {
        self.fill(centres, halves);
        pairs.clear();
        for member in &self.members {
            let low = self.cell_at(member.centre, -self.reach);
            let high = self.cell_at(member.centre, self.reach);
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        self.pairs_in([x, y, z], member, pairs);
                    }
                }
            }
        }
    }

    /// Adds the pairs of a box with those of higher index in a cell.
    fn pairs_in(&self, cell: [i32; 3], member: &Member, pairs: &mut Vec<(u32, u32)>) {
        let bucket = self.bucket(cell);
        let range = self.starts[bucket] as usize..self.starts[bucket + 1] as usize;
        for other in &self.members[range] {
            // Another cell may share the bucket.
            let new = (other.id > member.id) & (other.cell == cell);
            if new & member.aabb.overlaps(&other.aabb) {
                pairs.push((member.id, other.id));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_finds_what_a_plain_loop_finds() {
        let mut rng = Rng::new(1);
        let n = 600;
        let centres: Vec<_> = (0..n).map(|_| rng.in_ball().map(|x| x * 8.0)).collect();
        let halves: Vec<_> = (0..n).map(|_| [rng.between(0.2, 0.5); 3]).collect();
        let mut got = Vec::new();
        Grid::new(n, 1.0).find_pairs(&centres, &halves, &mut got);
        got.sort_unstable();
        let mut want = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                if around(centres[i], halves[i]).overlaps(&around(centres[j], halves[j])) {
                    want.push((i as u32, j as u32));
                }
            }
        }
        assert!(want.len() > 100);
        assert_eq!(got, want);
    }

    #[test]
    fn a_head_on_hit_exchanges_the_velocities() {
        let mut ball = Ball {
            centres: vec![[0.0; 3], [0.9, 0.0, 0.0]],
            halves: vec![[0.5; 3]; 2],
            velocities: vec![[1.0, 0.5, 0.0], [-2.0, 0.0, 0.0]],
            grid: Grid::new(2, 1.0),
            pairs: Vec::new(),
        };
        ball.respond(0, 1);
        assert_eq!(ball.velocities, [[-2.0, 0.5, 0.0], [1.0, 0.0, 0.0]]);
        assert!(ball.centres[0][0] < 0.0 && ball.centres[1][0] > 0.9);
        // Parting boxes keep their velocities.
        ball.respond(0, 1);
        assert_eq!(ball.velocities, [[-2.0, 0.5, 0.0], [1.0, 0.0, 0.0]]);
    }
}
