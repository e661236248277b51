//! [`RayColumns`]: many rays in the frame of a tree, a column for each number, and what boxes and
//! leaves are asked for them.
//!
//! One ray and eight boxes, eight rays and one box, one ray and the eight triangles of a leaf, and
//! a whole [`Beam`] of rays and eight boxes: whatever is eight wide goes into a register. All
//! answers are on the safe side: rounding only ever lets through what does not matter.

use super::lanes::{Lanes, Points};
use super::leaf_gaps::RAY_ROUNDING;
use super::leaf8::{Leaf8, STEPS};
use super::node_maps::{NODE_ROUNDING, NodeRay, STEEPEST};
use super::node8::{Node8, WIDTH};
use super::vector::{Mask, Simd};
use crate::aabb::Axis;

/// Groups of eight rays.
pub(crate) const GROUPS: usize = 8;

/// Rays that are on their way at the same time.
pub(crate) const WAVE: usize = GROUPS * WIDTH;

/// Eight numbers.
type Row<T> = [T; WIDTH];

/// A number for each ray.
pub(crate) type Column<T> = [Row<T>; GROUPS];

/// The number of one ray.
#[inline(always)]
pub(crate) fn of<T: Copy>(column: &Column<T>, ray: usize) -> T {
    column.as_flattened()[ray % WAVE]
}

/// See the [module](self).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RayColumns {
    /// As boxes want it: see [`NodeRay`].
    inverse: [Column<f32>; 3],
    to_min: [Column<f32>; 3],
    to_max: [Column<f32>; 3],
    /// Where rays begin, and their directions over the largest part of each.
    first: [Column<f32>; 3],
    way: [Column<f32>; 3],
    /// The sign of the largest part; and bits for the rays of each group: it is on the second axis,
    /// on the third, it is negative.
    forward: Column<f32>,
    second: [u32; GROUPS],
    third: [u32; GROUPS],
    backward: [u32; GROUPS],
    /// As triangles want it, seen along the ray on the two axes after that one: how far a unit of
    /// that axis moves a point, where the middle is then, and how far along the ray begins.
    shear: [Column<f32>; 2],
    middle: [Column<f32>; 2],
    begin: Column<f32>,
    /// By how much boxes are grown, and how far corners can seem to be from where they are.
    box_slack: Column<f32>,
    leaf_slack: Column<f32>,
}

/// Eight rays.
pub(crate) struct EightRays {
    /// Where they begin.
    pub first: [Row<f32>; 3],
    /// Their directions, whose largest part is one in size.
    pub way: [Row<f32>; 3],
    /// The largest coordinate of where they begin.
    pub away: Row<f32>,
    /// Rounding of f64 on the way there.
    pub far: Row<f32>,
}

const NOTHING: Column<f32> = [[0.0; WIDTH]; GROUPS];

impl RayColumns {
    /// Rays that were not set yet.
    pub(crate) const BLANK: RayColumns = RayColumns {
        inverse: [NOTHING; 3],
        to_min: [NOTHING; 3],
        to_max: [NOTHING; 3],
        first: [NOTHING; 3],
        way: [NOTHING; 3],
        forward: NOTHING,
        second: [0; GROUPS],
        third: [0; GROUPS],
        backward: [0; GROUPS],
        shear: [NOTHING; 2],
        middle: [NOTHING; 2],
        begin: NOTHING,
        box_slack: NOTHING,
        leaf_slack: NOTHING,
    };

    /// Takes a group of rays in the frame of a tree whose boxes reach so far.
    ///
    /// The inverse of a part of the direction rounds twice here, once more than [`NODE_ROUNDING`]
    /// counts: another 9 halves of a unit, for which there is room.
    #[inline(always)]
    pub(crate) fn set<S: Simd>(&mut self, simd: S, group: usize, rays: &EightRays, reach: f32) {
        let group = group % GROUPS;
        let (away, far) = (Lanes::load(simd, &rays.away), Lanes::load(simd, &rays.far));
        let box_slack = Lanes::splat(simd, NODE_ROUNDING * reach + 1e-20) + far;
        let rounding = (Lanes::splat(simd, reach) + away) * Lanes::splat(simd, RAY_ROUNDING);
        let leaf_slack = rounding + far + Lanes::splat(simd, 1e-30);
        self.box_slack[group] = box_slack.to_array();
        self.leaf_slack[group] = leaf_slack.to_array();
        let (one, steepest) = (Lanes::splat(simd, 1.0), Lanes::splat(simd, STEEPEST));
        let flattest = Lanes::splat(simd, -STEEPEST);
        for k in 0..3 {
            let (first, way) = (Lanes::load(simd, &rays.first[k]), Lanes::load(simd, &rays.way[k]));
            let inverse = (one / way).min(steepest).max(flattest);
            self.inverse[k][group] = inverse.to_array();
            self.to_min[k][group] = ((first + box_slack) * inverse).to_array();
            self.to_max[k][group] = ((first - box_slack) * inverse).to_array();
        }
        (self.first[0][group], self.way[0][group]) = (rays.first[0], rays.way[0]);
        (self.first[1][group], self.way[1][group]) = (rays.first[1], rays.way[1]);
        (self.first[2][group], self.way[2][group]) = (rays.first[2], rays.way[2]);
        let first = Points::load(simd, &rays.first);
        let way = Points::load(simd, &rays.way);
        let (second, third) = (one.le(way.y.abs()), one.le(way.z.abs()));
        let forward = way.x.choose(way.y, second).choose(way.z, third);
        let begin = first.x.choose(first.y, second).choose(first.z, third);
        let shear = way.y.choose(way.z, second).choose(way.x, third) * forward;
        let middle = first.y.choose(first.z, second).choose(first.x, third);
        self.shear[0][group] = shear.to_array();
        self.middle[0][group] = (middle - shear * begin).to_array();
        let shear = way.z.choose(way.x, second).choose(way.y, third) * forward;
        let middle = first.z.choose(first.x, second).choose(first.y, third);
        self.shear[1][group] = shear.to_array();
        self.middle[1][group] = (middle - shear * begin).to_array();
        self.forward[group] = forward.to_array();
        self.begin[group] = (begin * forward).to_array();
        (self.second[group], self.third[group]) = (second.bits(), third.bits());
        self.backward[group] = forward.le(Lanes::splat(simd, 0.0)).bits();
    }

    /// How far corners can seem to be from where they are.
    #[inline(always)]
    pub(crate) fn leaf_slack(&self) -> &Column<f32> {
        &self.leaf_slack
    }

    /// A ray for boxes.
    #[inline(always)]
    pub(crate) fn ray(&self, ray: usize) -> NodeRay {
        NodeRay {
            inverse: three(&self.inverse, ray),
            to_min: three(&self.to_min, ray),
            to_max: three(&self.to_max, ray),
        }
    }

    /// The rays of a group as one, if all go the same way along the same axis.
    #[inline(always)]
    pub(crate) fn beam<S: Simd>(&self, simd: S, group: usize) -> Option<Beam> {
        let group = group % GROUPS;
        let third = same(self.third[group])?;
        // Those on the third axis count as nothing else.
        let second = !third && same(self.second[group])?;
        let mut beam = Beam {
            axis: Axis::ALL[if third { 2 } else { usize::from(second) }],
            backward: same(self.backward[group])?,
            first: [[0.0; 2]; 3],
            way: [[0.0; 2]; 3],
            slack: 2.0 * Lanes::load(simd, &self.box_slack[group]).largest(),
        };
        for k in 0..3 {
            beam.first[k] = range(simd, &self.first[k][group]);
            beam.way[k] = range(simd, &self.way[k][group]);
        }
        Some(beam)
    }
}

#[inline(always)]
fn three(columns: &[Column<f32>; 3], ray: usize) -> [f32; 4] {
    [of(&columns[0], ray), of(&columns[1], ray), of(&columns[2], ray), 0.0]
}

/// What the bits of all lanes say, if they agree.
#[inline(always)]
fn same(bits: u32) -> Option<bool> {
    const ALL: u32 = (1 << WIDTH) - 1;
    match bits {
        0 => Some(false),
        ALL => Some(true),
        _ => None,
    }
}

/// The least and the largest of eight numbers.
#[inline(always)]
fn range<S: Simd>(simd: S, row: &Row<f32>) -> [f32; 2] {
    let row = Lanes::load(simd, row);
    [row.least(), row.largest()]
}

/// Many rays as boxes see them: all go the same way along one axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Beam {
    axis: Axis,
    backward: bool,
    /// Where rays begin on each axis, from the least to the largest.
    first: [[f32; 2]; 3],
    /// How far they get on the other axes for each unit along the first.
    way: [[f32; 2]; 3],
    /// Boxes are grown by it.
    slack: f32,
}

/// Kernels: what boxes and leaves are asked for many rays.
pub(crate) trait RayTests: Simd {
    /// The lanes whose box a ray of a beam may enter.
    #[inline(always)]
    fn lit(self, node: &Node8, beam: &Beam) -> u32 {
        let Beam { axis, backward, first, way, slack } = beam;
        let (axis, none) = (axis.index(), Lanes::splat(self, 0.0));
        let (low, high) = (Lanes::load(self, &node.min[axis]), Lanes::load(self, &node.max[axis]));
        let [least, largest] = [first[axis][0] - slack, first[axis][1] + slack];
        // The part of the way on which rays may be beside the box.
        let (begin, end) = if *backward {
            (Lanes::splat(self, least) - high, Lanes::splat(self, largest) - low)
        } else {
            (low - Lanes::splat(self, largest), high - Lanes::splat(self, least))
        };
        // If the second operand is NaN, so is the result: empty lanes stay empty.
        let begin = none.max(begin);
        let mut lit = none.le(end);
        for k in [(axis + 1) % 3, (axis + 2) % 3] {
            let (low, high) = (Lanes::load(self, &node.min[k]), Lanes::load(self, &node.max[k]));
            let [least, largest] = [Lanes::splat(self, way[k][0]), Lanes::splat(self, way[k][1])];
            let down = (least * begin).min(least * end) + Lanes::splat(self, first[k][0] - slack);
            let up = (largest * begin).max(largest * end) + Lanes::splat(self, first[k][1] + slack);
            lit = lit.and(low.le(up)).and(down.le(high));
        }
        lit.bits()
    }

    /// The triangles of a leaf that a ray may hit no later than a limit. The ray enters the box of
    /// the leaf, so that no corner is further from it than the leaf is wide.
    ///
    /// As [`LeafGaps::crossed`](super::leaf_gaps::LeafGaps::crossed), without a branch. Where the
    /// middle is seen rounds by `6 n` halves of a unit if the ray begins `n` units away, and
    /// subtracting it by `2 n + 2`; the shear and its product round by one half each, and their
    /// difference by two: in all as much as there, for which [`RAY_ROUNDING`] has room.
    #[inline(always)]
    fn crossed_by(self, leaf: &Leaf8, rays: &RayColumns, ray: usize, limit: f32) -> u32 {
        const AFTER: [[usize; 3]; 4] = [[1, 2, 0], [2, 0, 1], [0, 1, 2], [0, 1, 2]];
        let (group, lane) = (ray / WIDTH % GROUPS, ray % WIDTH);
        let (second, third) = (rays.second[group] >> lane & 1, rays.third[group] >> lane & 1);
        let [x, y, z] = AFTER[(second | third << 1) as usize % 4];
        let (low, step) = (leaf.low(), leaf.step());
        let shear = [of(&rays.shear[0], ray), of(&rays.shear[1], ray)];
        let low_x = low[x] - shear[0] * low[z] - of(&rays.middle[0], ray);
        let low_y = low[y] - shear[1] * low[z] - of(&rays.middle[1], ray);
        let (low_x, low_y) = (Lanes::splat(self, low_x), Lanes::splat(self, low_y));
        let (step_x, step_y) = (Lanes::splat(self, step[x]), Lanes::splat(self, step[y]));
        let shift_x = Lanes::splat(self, shear[0] * step[z]);
        let shift_y = Lanes::splat(self, shear[1] * step[z]);
        let (az, bz, cz) = (leaf.steps(self, 0, z), leaf.steps(self, 1, z), leaf.steps(self, 2, z));
        let ax = leaf.steps(self, 0, x) * step_x + low_x - az * shift_x;
        let ay = leaf.steps(self, 0, y) * step_y + low_y - az * shift_y;
        let bx = leaf.steps(self, 1, x) * step_x + low_x - bz * shift_x;
        let by = leaf.steps(self, 1, y) * step_y + low_y - bz * shift_y;
        let cx = leaf.steps(self, 2, x) * step_x + low_x - cz * shift_x;
        let cy = leaf.steps(self, 2, y) * step_y + low_y - cz * shift_y;
        let u = cx * by - cy * bx;
        let v = ax * cy - ay * cx;
        let w = bx * ay - by * ax;
        // No corner is further from the lower one, because no part of the shear is above one.
        let wide = if step[x] > step[y] { step[x] } else { step[y] };
        let extent = STEPS * (wide + step[z]);
        let off = 2.0 * leaf.error + 32.0 * f32::EPSILON * extent + of(&rays.leaf_slack, ray);
        // A ray is let into a box from a little beside it.
        let size = 2.0 * extent + off + 4.0 * of(&rays.box_slack, ray);
        let error = Lanes::splat(self, 6.0 * off * (size + off));
        let (least, most) = (u.min(v).min(w), u.max(v).max(w));
        let apart = (least + error).le(Lanes::splat(self, 0.0)).and(error.le(most));
        let forward = of(&rays.forward, ray);
        let step_z = Lanes::splat(self, step[z] * forward);
        let time = (az * step_z).min(bz * step_z).min(cz * step_z);
        let limit = limit + (of(&rays.begin, ray) - low[z] * forward) + 2.0 * off;
        leaf.lanes() & !apart.bits() & !Lanes::splat(self, limit).le(time).bits()
    }
}

impl<S: Simd> RayTests for S {}
