//! `worst`: boxes made to hurt. Each kind breaks an assumption that some broad phase lives on.
//!
//! | kind | what it is | whom it hurts |
//! |---|---|---|
//! | `sheets` | all overlap on two axes, neighbours only on the third | a sweep on the wrong axis |
//! | `giant` | one box over all others | grids, trees, a sweep's active list |
//! | `points` | zero size, sixteen at the very same place | splitting that never separates |
//! | `teleports` | all swap sides on every frame | whatever trusts in coherence |
//! | `flat` | everything in one plane, without thickness | grids, sweeps along a flat axis |
//! | `needles` | long and thin along each of the axes | cells chosen by size |
//! | `extremes` | infinite, largest finite, subnormal, both zeros | arithmetic on coordinates |
//! | `mixed` | an equal share of each, side by side | the choice of one setting for all |
//!
//! Hostile is the placing, not the answer: pairs stay in proportion to `n` in every kind (a
//! sheet meets a few neighbours, a point fifteen others, the giant each box once). Each box is a
//! base plus a way times a straight wave of the frame number, so nothing drifts.

use super::Motion;
use crate::catalog::Values;
use crate::math::{cube_root, triangle_wave};
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// Points that share a place.
const CLUMP: usize = 16;

/// The free space left between the kinds of `mixed`, and around each.
const MARGIN: f32 = 4.0;

/// A box that swings from its base by `way` and back within `period` frames.
#[derive(Clone, Copy)]
struct Swing {
    base: Aabb,
    way: [f32; 3],
    period: u32,
}

/// All boxes.
pub(super) struct Worst {
    swings: Vec<Swing>,
}

type Generator = fn(usize, &mut Rng, &mut Vec<Swing>) -> f32;

/// The kinds from 1 on, in the order of the catalogue.
const KINDS: [Generator; 7] = [sheets, giant, points, teleports, flat, needles, extremes];

/// The order in `mixed`: sheets take the most room, so they come last, where coordinates may be
/// coarse.
const MIXED: [usize; 7] = [1, 2, 3, 4, 5, 6, 0];

pub(super) fn build(values: &Values, n: usize, rng: &mut Rng) -> (Frame, Worst) {
    let mut swings = Vec::with_capacity(n);
    match values.get_or("kind", 0.0) as usize {
        0 => mixed(n, rng, &mut swings),
        kind => {
            KINDS[kind - 1](n, rng, &mut swings);
        }
    }
    let boxes: Vec<Aabb> = swings.iter().map(|swing| swing.at(0.0)).collect();
    let ends = swings.iter().map(|swing| swing.at(1.0));
    let world = ends.chain(boxes.iter().copied()).reduce(|a, b| a.union(&b));
    let world = world.unwrap_or_default();
    (Frame { world, boxes, ..Frame::default() }, Worst { swings })
}

/// An equal share of each kind, one next to the other along x.
fn mixed(n: usize, rng: &mut Rng, out: &mut Vec<Swing>) {
    let mut offset = 0.0f32;
    for (i, &kind) in MIXED.iter().enumerate() {
        let count = n * (i + 1) / MIXED.len() - n * i / MIXED.len();
        let first = out.len();
        let width = KINDS[kind](count, rng, out);
        for swing in &mut out[first..] {
            swing.base.min[0] += offset;
            swing.base.max[0] += offset;
        }
        offset += width + MARGIN;
    }
}

impl Motion for Worst {
    fn advance(&mut self, frame: &mut Frame) {
        for (aabb, swing) in frame.boxes.iter_mut().zip(&self.swings) {
            *aabb = swing.at(triangle_wave(frame.number, u64::from(swing.period)));
        }
    }
}

impl Swing {
    fn at(&self, wave: f32) -> Aabb {
        // Adding zero would turn a minus zero into a zero.
        let shift = |bound: f32, way: f32| if way == 0.0 { bound } else { bound + way * wave };
        let shifted = |bound: [f32; 3]| std::array::from_fn(|k| shift(bound[k], self.way[k]));
        Aabb::new(shifted(self.base.min), shifted(self.base.max))
    }
}

fn cuboid(min: [f32; 3], size: [f32; 3]) -> Aabb {
    Aabb::new(min, std::array::from_fn(|k| min[k] + size[k]))
}

/// The side of the cube in which `count` unit boxes have this density.
fn side_of(count: usize, density: f64) -> f32 {
    (cube_root(count as f64 / density) as f32).max(1.0)
}

// Each generator fills x from about 0 on and returns how far it reaches.

fn sheets(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let mut places: Vec<usize> = (0..count).collect();
    for i in (1..count).rev() {
        places.swap(i, rng.below(i + 1));
    }
    for place in places {
        let base = cuboid([1.0 + place as f32, 0.0, 0.0], [1.2, 100.0, 100.0]);
        let way = [rng.between(-0.4, 0.4), 0.0, 0.0];
        out.push(Swing { base, way, period: 20 + rng.below(60) as u32 });
    }
    count as f32 + MARGIN
}

fn giant(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let side = side_of(count, 0.05);
    for i in 0..count {
        if i == 0 {
            let base = Aabb::new([0.0; 3], [side + 2.0 * MARGIN; 3]);
            out.push(Swing { base, way: [0.0; 3], period: 2 });
            continue;
        }
        let min = std::array::from_fn(|_| MARGIN + rng.between(0.0, side - 1.0));
        let way = rng.direction().map(|x| x * 3.0);
        out.push(Swing { base: cuboid(min, [1.0; 3]), way, period: 60 });
    }
    side + 2.0 * MARGIN
}

fn points(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let side = 2.0 * side_of(count, 1.0);
    let mut clump = Swing { base: Aabb::default(), way: [0.0; 3], period: 30 };
    for i in 0..count {
        if i % CLUMP == 0 {
            clump.base = Aabb::point(std::array::from_fn(|_| 1.0 + rng.between(0.0, side)));
            clump.way = rng.direction();
        }
        out.push(clump);
    }
    side + 2.0
}

fn teleports(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let side = side_of(count, 0.05);
    for i in 0..count {
        let min: [f32; 3] = std::array::from_fn(|_| rng.between(0.0, side - 1.0));
        let far = if i % 2 == 0 { 0.0 } else { 2.0 * side };
        let base = cuboid([min[0] + far, min[1], min[2]], [1.0; 3]);
        let way = [if i % 2 == 0 { 2.0 * side } else { -2.0 * side }, 0.0, 0.0];
        out.push(Swing { base, way, period: 2 });
    }
    3.0 * side
}

fn flat(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let side = ((count as f64 / 0.2).sqrt() as f32).max(1.0);
    for _ in 0..count {
        let min = [1.0 + rng.between(0.0, side), rng.between(0.0, side), 0.0];
        let [x, y, _] = rng.direction();
        let base = cuboid(min, [1.0, 1.0, 0.0]);
        out.push(Swing { base, way: [x, y, 0.0], period: 40 });
    }
    side + 3.0
}

fn needles(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let side = 100.0f32;
    // As thin as it takes for a needle to cross about one other.
    let thickness = (4.0 * side / count.max(1) as f32).min(1.0);
    for i in 0..count {
        let mut size = [thickness; 3];
        size[i % 3] = 0.5 * side;
        let min = size.map(|width| 1.0 + rng.between(0.0, side - width));
        out.push(Swing { base: cuboid(min, size), way: rng.direction(), period: 50 });
    }
    side + 2.0
}

fn extremes(count: usize, rng: &mut Rng, out: &mut Vec<Swing>) -> f32 {
    let quarter = count.div_ceil(4).max(1);
    let columns = (quarter as f64).sqrt().ceil() as usize;
    let subnormal_start = columns as f32 + MARGIN;
    for i in 0..count {
        let number = i / 4;
        let swing = match i % 4 {
            0 => huge_sheet(number, quarter),
            1 => infinite_rod(number % columns, number / columns, rng),
            2 => subnormal(number, subnormal_start),
            _ => far_point(number, quarter),
        };
        out.push(swing);
    }
    subnormal_start + quarter as f32 / 8.0 + MARGIN
}

/// One of many sheets from 1e38 on, as tall as finite numbers go; each meets its neighbours.
fn huge_sheet(number: usize, of: usize) -> Swing {
    let step = 2e38 / of as f32;
    let x = 1e38 + number as f32 * step;
    let base = Aabb::new([x, f32::MIN, f32::MIN], [x + 1.1 * step, f32::MAX, f32::MAX]);
    Swing { base, way: [0.0; 3], period: 2 }
}

/// A rod without ends along y, on a grid across; it meets its eight neighbours.
fn infinite_rod(column: usize, row: usize, rng: &mut Rng) -> Swing {
    let (x, z) = (1.0 + column as f32 + rng.between(0.0, 0.2), row as f32);
    let base = Aabb::new([x, f32::NEG_INFINITY, z], [x + 1.1, f32::INFINITY, z + 1.1]);
    Swing { base, way: [rng.between(-0.4, 0.4), 0.0, 0.0], period: 30 }
}

/// Boxes so small that they round to zero where subnormal numbers are flushed; eight in a row
/// touch in turn. The third axis spans from minus zero to zero.
fn subnormal(number: usize, start: f32) -> Swing {
    let x = start + (number / 8) as f32;
    let low = (number % 8) as f32 * 1e-40;
    let base = Aabb::new([x, low, -0.0], [x, low + 1e-40, 0.0]);
    Swing { base, way: [0.0; 3], period: 2 }
}

/// A point among the largest numbers on the negative side.
fn far_point(number: usize, of: usize) -> Swing {
    let share = number as f32 / of as f32;
    let corner = if number.is_multiple_of(2) { f32::MAX } else { f32::MIN };
    let base = Aabb::point([f32::MIN * (0.5 + 0.5 * share), corner, -corner]);
    Swing { base, way: [0.0; 3], period: 2 }
}
