//! [`Wave`]: rays of the caller in the frame of a tree, eight at a time.

use super::data::{Mesh, MeshTree};
use super::ray::{MeshRay, NEAR, tree_time};
use crate::simd::Simd;
use crate::simd::lanes::Lanes;
use crate::simd::node8::WIDTH;
use crate::simd::ray_columns::{Column, EightRays, GROUPS, RayColumns, WAVE, of};

/// See the [module](self).
pub(super) struct Wave {
    pub rays: RayColumns,
    /// When rays end, in the tree; before they begin for those that hit nothing.
    limit: Column<f32>,
    /// How far it is from the caller's origin to where a ray begins in the tree, along the largest
    /// part of the direction, and how far it gets that way in one unit of the caller's time.
    begin: Column<f64>,
    speed: Column<f64>,
    /// The caller's rays in columns: origins, directions and limits.
    origin: [Column<f64>; 3],
    direction: [Column<f64>; 3],
    end: Column<f64>,
}

/// Eight numbers.
type Row = [f64; WIDTH];

impl Wave {
    /// Rays that were not set yet.
    pub(super) const BLANK: Wave = Wave {
        rays: RayColumns::BLANK,
        limit: [[-1.0; WIDTH]; GROUPS],
        begin: [[0.0; WIDTH]; GROUPS],
        speed: [[0.0; WIDTH]; GROUPS],
        origin: [[[0.0; WIDTH]; GROUPS]; 3],
        direction: [[[0.0; WIDTH]; GROUPS]; 3],
        end: [[0.0; WIDTH]; GROUPS],
    };

    /// Takes other rays, at most one for each place; what is left over of a group hits nothing.
    ///
    /// All are put into columns first: a row that has just been written number by number cannot be
    /// read as a whole before the writes have reached the cache.
    #[inline(always)]
    pub(super) fn set<S: Simd>(&mut self, simd: S, mesh: &Mesh, rays: &[MeshRay]) {
        let rays = &rays[..rays.len().min(WAVE)];
        for (place, ray) in rays.iter().enumerate() {
            let (origin, direction) = (ray.origin.to_array(), ray.direction.to_array());
            for k in 0..3 {
                self.origin[k].as_flattened_mut()[place] = origin[k];
                self.direction[k].as_flattened_mut()[place] = direction[k];
            }
            self.end.as_flattened_mut()[place] = ray.limit;
        }
        let groups = rays.len().div_ceil(WIDTH);
        self.end.as_flattened_mut()[rays.len()..groups * WIDTH].fill(-1.0);
        for group in 0..groups {
            self.set_group(simd, mesh.tree(), group);
        }
    }

    /// As for a single ray, without branches that some rays take and others do not.
    #[inline(always)]
    fn set_group<S: Simd>(&mut self, simd: S, tree: &MeshTree, group: usize) {
        let reach = f64::from(tree.reach);
        let (scale, middle) = (tree.frame.scale, tree.frame.origin.to_array());
        let mut start = [self.origin[0][group], self.origin[1][group], self.origin[2][group]];
        let mut along =
            [self.direction[0][group], self.direction[1][group], self.direction[2][group]];
        let mut end = self.end[group];
        for k in 0..3 {
            for lane in 0..WIDTH {
                start[k][lane] = (start[k][lane] - middle[k]) * scale;
            }
        }
        let (largest, mut away) = (largest_of(&along), largest_of(&start));
        let mut speed = [0.0; WIDTH];
        for lane in 0..WIDTH {
            speed[lane] = largest[lane] * scale;
        }
        for lane in 0..WIDTH {
            // False for NaN; zero and infinity have no speed.
            let [x, y, z] = [along[0][lane].abs(), along[1][lane].abs(), along[2][lane].abs()];
            let most = largest[lane];
            let moves = (speed[lane] >= f64::MIN_POSITIVE) & (speed[lane] <= f64::MAX);
            let usable = (x <= most) & (y <= most) & (z <= most) & moves;
            end[lane] = if usable { end[lane] } else { -1.0 };
        }
        for k in 0..3 {
            for lane in 0..WIDTH {
                // Not by the inverse, which may be infinite.
                along[k][lane] /= largest[lane];
            }
        }
        let (mut begin, mut far) = ([0.0; WIDTH], [0.0; WIDTH]);
        let mut near = true;
        for lane in 0..WIDTH {
            near &= away[lane] <= NEAR * reach;
        }
        if !near {
            for lane in 0..WIDTH {
                // As `Begin::far_away`.
                let near = away[lane] <= NEAR * reach;
                let size = start[0][lane].abs() + start[1][lane].abs() + start[2][lane].abs();
                let forth = away[lane] - reach;
                let rounding = 32.0 * f64::EPSILON * (size + forth);
                let mut meets = rounding < f64::INFINITY;
                for k in 0..3 {
                    let at = start[k][lane] + along[k][lane] * forth;
                    meets &= at.abs() <= 3.0 * reach + rounding;
                    start[k][lane] = if near { start[k][lane] } else { at };
                }
                begin[lane] = if near { 0.0 } else { forth };
                far[lane] = if near { 0.0 } else { 2.0 * rounding };
                end[lane] = if near | meets { end[lane] } else { -1.0 };
            }
            away = largest_of(&start);
        }
        let usable = end.map(|end| end >= 0.0);
        if usable.contains(&false) {
            // Rays that hit nothing run along with one that may, so that they do not widen a beam
            // or fill it with NaN.
            let other = usable.iter().position(|usable| *usable);
            for lane in (0..WIDTH).filter(|&lane| !usable[lane]) {
                for k in 0..3 {
                    start[k][lane] = other.map_or(0.0, |other| start[k][other]);
                    along[k][lane] = other.map_or(1.0, |other| along[k][other]);
                }
                away[lane] = other.map_or(0.0, |other| away[other]);
                far[lane] = other.map_or(0.0, |other| far[other]);
            }
        }
        let eight = EightRays {
            first: [narrow(&start[0]), narrow(&start[1]), narrow(&start[2])],
            way: [narrow(&along[0]), narrow(&along[1]), narrow(&along[2])],
            away: narrow(&away),
            far: narrow(&far),
        };
        self.rays.set(simd, group, &eight, tree.reach);
        let mut time = [0.0; WIDTH];
        for lane in 0..WIDTH {
            time[lane] = end[lane] * speed[lane] - begin[lane];
        }
        let (time, slack) = (narrow(&time), &self.rays.leaf_slack()[group]);
        let mut limit = [0.0; WIDTH];
        for lane in 0..WIDTH {
            limit[lane] = tree_time(time[lane], slack[lane]);
        }
        let (limit, end) = (Lanes::load(simd, &limit), Lanes::load(simd, &narrow(&end)));
        let usable = Lanes::splat(simd, 0.0).le(end);
        let limit = Lanes::splat(simd, -1.0).choose(limit, usable).to_array();
        (self.limit[group], self.begin[group], self.speed[group]) = (limit, begin, speed);
    }

    /// When a ray ends.
    #[inline(always)]
    pub(super) fn limit(&self, ray: usize) -> f32 {
        of(&self.limit, ray)
    }

    /// Makes a ray end at a time of the caller, or leaves it as it is: without a branch.
    #[inline(always)]
    pub(super) fn set_limit_if(&mut self, ray: usize, time: f64, really: bool) {
        let time = time * of(&self.speed, ray) - of(&self.begin, ray);
        let limit = tree_time(time as f32, of(self.rays.leaf_slack(), ray));
        let own = &mut self.limit.as_flattened_mut()[ray % WAVE];
        *own = if really { limit } else { *own };
    }
}

/// The largest coordinate in each lane, in size.
#[inline(always)]
fn largest_of(rows: &[Row; 3]) -> Row {
    let mut largest = [0.0; WIDTH];
    for lane in 0..WIDTH {
        let [x, y, z] = [rows[0][lane].abs(), rows[1][lane].abs(), rows[2][lane].abs()];
        let most = if x > y { x } else { y };
        largest[lane] = if most > z { most } else { z };
    }
    largest
}

#[inline(always)]
fn narrow(row: &Row) -> [f32; WIDTH] {
    let mut out = [0.0; WIDTH];
    for lane in 0..WIDTH {
        out[lane] = row[lane] as f32;
    }
    out
}
