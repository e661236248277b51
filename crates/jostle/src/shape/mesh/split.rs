//! Where a range of triangles is split in two, for [`build`](super::build).
//!
//! Splits are chosen by the surface area heuristic among all three axes. A range of more than 64
//! triangles looks at the boundaries of bins (Wald, *On fast construction of SAH-based bounding
//! volume hierarchies*) and moves the best to the next multiple of eight triangles, so that leaves
//! are full. A smaller one is sorted along each axis and looks at all multiples of eight.
//!
//! Bounds are vectors, so that three axes and sorting cost 1.2 times the build of one axis and
//! scalars (`Mesh::new` on one thread, old and new code in turns: 251, 230 and 302 ns a triangle
//! instead of 215, 191 and 255).
//!
//! Before, splits were along the longest side of the centres, at multiples of 8, 64, 512 and so on.
//! A model of both builds and of the search, outside of this library, counted for 20 000 random
//! rays of `jostle_scenes::mesh_rays` 4, 4 and 13 % fewer nodes and 8, 10 and 18 % fewer leaves of
//! `spot.ply`, `bunny.ply` and `armadillo_rollers.ply`; callgrind counts the same 3.8 nodes and
//! 1.45 leaves on the first in the code itself. On the last, multiples of eight alone save 7 % of
//! the nodes, three axes alone 1 %, both 13 %; sorting saves 4 % more of the leaves.
//!
//! Tried and dropped, by the same model: 12 to 256 bins (within 4 % of 16, either way; 8 add 6 % of
//! nodes on the largest mesh); sorting up to 128 or 512 triangles (1 to 2 and 1 to 3 % fewer
//! leaves; 128 in the code itself made rays no faster and cost 10 to 20 ns a triangle of building);
//! triangles cut in two by a split, as in SBVH (0 and 2 % fewer leaves on the two smaller meshes,
//! up to 3 bytes a triangle more; not counted on the largest). Leaves of any size up to eight are
//! entered 13 to 16 % less often, but take 65 to 66 bytes a triangle with the mesh instead of 56;
//! one leaf in eight more, for 60 bytes, saves 5 to 7 % of the leaves and adds 1 to 2 % of nodes.

use glam::Vec3A;
use std::ops::Range;

use crate::aabb::Aabb;
use crate::par::Workers;
use crate::simd::node8::WIDTH;

/// Boundaries that a split chooses from on each axis, and one.
const BINS: usize = 16;

/// Triangles of a range that is sorted rather than binned.
const SORTED: usize = WIDTH * WIDTH;

/// A triangle while the tree is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    bounds: Bounds,
    pub triangle: u32,
}

impl Item {
    /// What fills an array before it is written.
    pub(super) const BLANK: Item = Item { bounds: NOTHING, triangle: 0 };

    pub(super) fn new(aabb: &Aabb, triangle: u32) -> Item {
        let bounds = Bounds { min: aabb.min.into(), max: aabb.max.into() };
        Item { bounds, triangle }
    }

    /// Twice the centre.
    #[inline(always)]
    fn center(&self) -> Vec3A {
        self.bounds.min + self.bounds.max
    }
}

/// A box in registers.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: Vec3A,
    max: Vec3A,
}

/// The neutral element of the union.
const NOTHING: Bounds =
    Bounds { min: Vec3A::splat(f32::INFINITY), max: Vec3A::splat(f32::NEG_INFINITY) };

impl Bounds {
    #[inline(always)]
    fn join(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Half the surface.
    #[inline(always)]
    fn surface(self) -> f32 {
        let [x, y, z] = (self.max - self.min).to_array();
        x * y + y * z + z * x
    }

    fn aabb(self) -> Aabb {
        Aabb { min: self.min.to_array(), max: self.max.to_array() }
    }
}

/// What a split needs to know of a range.
pub(super) struct Spread {
    /// The place in the order of all items.
    pub range: Range<usize>,
    bounds: Bounds,
    /// Bounds of twice the centres.
    centers: Bounds,
}

impl Spread {
    /// Of items whose first has a place in the order.
    pub(super) fn new(items: &mut [Item], first: usize, workers: &Workers) -> Spread {
        let range = first..first + items.len();
        let (bounds, centers) = pass(
            items,
            workers,
            (NOTHING, NOTHING),
            |items, (bounds, centers)| {
                for item in items {
                    let center = item.center();
                    *bounds = bounds.join(item.bounds);
                    *centers = centers.join(Bounds { min: center, max: center });
                }
            },
            |whole, part| *whole = (whole.0.join(part.0), whole.1.join(part.1)),
        );
        Spread { range, bounds, centers }
    }

    pub(super) fn aabb(&self) -> Aabb {
        self.bounds.aabb()
    }

    pub(super) fn surface(&self) -> f32 {
        self.bounds.surface()
    }
}

/// Items from which on a pass is shared among threads.
pub(super) const SHARED: usize = 1 << 12;

/// Runs a pass over items, by several threads for many; unions come out the same either way.
fn pass<R: Clone + Send>(
    items: &mut [Item],
    workers: &Workers,
    empty: R,
    each: impl Fn(&[Item], &mut R) + Sync,
    merge: impl Fn(&mut R, &R),
) -> R {
    if workers.count() == 1 || items.len() < SHARED {
        let mut result = empty;
        each(items, &mut result);
        return result;
    }
    let tasks = 4 * workers.count();
    let length = items.len().div_ceil(tasks);
    let mut results = vec![empty.clone(); items.len().div_ceil(length)];
    workers
        .for_each_chunk_with(items, length, &mut results, |_, items, result| each(items, result));
    let mut whole = empty;
    results.iter().for_each(|result| merge(&mut whole, result));
    whole
}

/// Splits the items of a range, more than eight, and says where: at a multiple of eight.
pub(super) fn split(items: &mut [Item], whole: &Spread, workers: &Workers) -> usize {
    if items.len() <= SORTED {
        return split_sorted(items);
    }
    let count = items.len();
    let (mut axis, mut best) = (0, (f32::INFINITY, count / 2));
    for (k, bins) in fill_bins(items, whole, workers).iter().enumerate() {
        let found = cheapest(bins, count);
        if found.0 < best.0 {
            (axis, best) = (k, found);
        }
    }
    let place = to_eights(best.1, count);
    items.select_nth_unstable_by(place, |a, b| {
        let (one, other) = (a.center()[axis], b.center()[axis]);
        one.total_cmp(&other).then(a.triangle.cmp(&b.triangle))
    });
    place
}

/// The next multiple of eight that leaves something on both sides.
fn to_eights(wanted: usize, count: usize) -> usize {
    let last = (count - 1) / WIDTH * WIDTH;
    ((wanted + WIDTH / 2) / WIDTH * WIDTH).clamp(WIDTH, last)
}

#[derive(Clone, Copy)]
struct Bin {
    bounds: Bounds,
    count: usize,
}

/// Items by the place of their centres, on each axis.
fn fill_bins(items: &mut [Item], whole: &Spread, workers: &Workers) -> [[Bin; BINS]; 3] {
    /// Added to a number from 0 to 15 it leaves the nearest whole number in the lowest bits.
    const WHOLE: f32 = 8_388_608.0;
    let low = whole.centers.min;
    let per_length = Vec3A::splat(BINS as f32) / (whole.centers.max - low);
    // All in one bin if there is no length.
    let per_length = Vec3A::select(per_length.is_finite_mask(), per_length, Vec3A::ZERO);
    let (half, last) = (Vec3A::splat(0.5), Vec3A::splat((BINS - 1) as f32));
    pass(
        items,
        workers,
        [[Bin { bounds: NOTHING, count: 0 }; BINS]; 3],
        |items, bins| {
            for item in items {
                // Half less to the nearest is the whole number below.
                let place = (item.center() - low) * per_length - half;
                let place = place.max(Vec3A::ZERO).min(last) + Vec3A::splat(WHOLE);
                let place = place.to_array();
                for k in 0..3 {
                    let bin = &mut bins[k][place[k].to_bits() as usize % BINS];
                    bin.bounds = bin.bounds.join(item.bounds);
                    bin.count += 1;
                }
            }
        },
        |whole, part| {
            for (bin, other) in whole.iter_mut().flatten().zip(part.iter().flatten()) {
                bin.bounds = bin.bounds.join(other.bounds);
                bin.count += other.count;
            }
        },
    )
}

/// The least cost of a boundary between bins, and how many items lie before it.
fn cheapest(bins: &[Bin; BINS], count: usize) -> (f32, usize) {
    let mut after = [0.0f32; BINS];
    let (mut bounds, mut right) = (NOTHING, 0);
    for k in (1..BINS).rev() {
        bounds = bounds.join(bins[k].bounds);
        right += bins[k].count;
        after[k] = if right == 0 { 0.0 } else { bounds.surface() * right as f32 };
    }
    let (mut bounds, mut left, mut best) = (NOTHING, 0, (f32::INFINITY, count / 2));
    for k in 1..BINS {
        bounds = bounds.join(bins[k - 1].bounds);
        left += bins[k - 1].count;
        if left == 0 || left == count {
            continue;
        }
        let cost = bounds.surface() * left as f32 + after[k];
        if cost < best.0 {
            best = (cost, left);
        }
    }
    best
}

/// An item by its centre, and by its triangle if others have the same.
#[derive(Clone, Copy, Default)]
struct Key {
    key: u64,
    place: u32,
}

/// Splits at most 64 items, more than eight: sorts them along each axis and chooses among the
/// multiples of eight.
fn split_sorted(items: &mut [Item]) -> usize {
    let count = items.len();
    let mut orders = [[Key::default(); SORTED]; 3];
    let (mut axis, mut best) = (0, (f32::INFINITY, to_eights(count / 2, count)));
    for (place, item) in items.iter().enumerate() {
        let center = item.center().to_array();
        for k in 0..3 {
            let key = u64::from(ordered(center[k])) << 32 | u64::from(item.triangle);
            orders[k][place] = Key { key, place: place as u32 };
        }
    }
    for k in 0..3 {
        let order = &mut orders[k][..count];
        order.sort_unstable_by_key(|key| key.key);
        if order[0].key >> 32 == order[count - 1].key >> 32 {
            // All centres are in one place.
            continue;
        }
        let found = cheapest_eights(items, order);
        if found.0 < best.0 {
            (axis, best) = (k, found);
        }
    }
    let mut sorted = [Item::BLANK; SORTED];
    for (item, key) in sorted.iter_mut().zip(&orders[axis][..count]) {
        *item = items[key.place as usize];
    }
    items.copy_from_slice(&sorted[..count]);
    best.1
}

/// Bits that are ordered like numbers.
fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The least cost of a split at a multiple of eight, and where that is.
fn cheapest_eights(items: &[Item], order: &[Key]) -> (f32, usize) {
    let mut eights = [NOTHING; WIDTH];
    for (eight, keys) in eights.iter_mut().zip(order.chunks(WIDTH)) {
        let item = |key: &Key| items[key.place as usize].bounds;
        *eight = keys.iter().fold(NOTHING, |all, key| all.join(item(key)));
    }
    let (count, groups) = (order.len(), order.len().div_ceil(WIDTH));
    let mut after = [0.0f32; WIDTH];
    let mut bounds = NOTHING;
    for k in (1..groups).rev() {
        bounds = bounds.join(eights[k]);
        after[k] = bounds.surface() * (count - k * WIDTH) as f32;
    }
    let (mut bounds, mut best) = (NOTHING, (f32::INFINITY, WIDTH));
    for k in 1..groups {
        bounds = bounds.join(eights[k - 1]);
        let cost = bounds.surface() * (k * WIDTH) as f32 + after[k];
        if cost < best.0 {
            best = (cost, k * WIDTH);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::hull::tests::Random;

    /// Boxes around places, some flat, some large, with the same centres now and then.
    fn items(count: usize, random: &mut Random) -> Vec<Item> {
        let stretch = [(); 3].map(|()| 0.1 + random.signed().abs());
        let item = |triangle: usize| {
            let size = random.signed().abs() as f32 * [0.01, 0.3][usize::from(triangle % 9 == 0)];
            let at: [f32; 3] = std::array::from_fn(|k| {
                let at = stretch[k] * random.signed();
                if triangle % 4 == 0 { (4.0 * at).round() as f32 / 4.0 } else { at as f32 }
            });
            let aabb = Aabb { min: at.map(|at| at - size), max: at.map(|at| at + size) };
            Item::new(&aabb, triangle as u32)
        };
        (0..count).map(item).collect()
    }

    fn cost(items: &[Item], place: usize) -> f32 {
        let half = |items: &[Item]| {
            let whole = items.iter().fold(NOTHING, |all, item| all.join(item.bounds));
            whole.surface() * items.len() as f32
        };
        half(&items[..place]) + half(&items[place..])
    }

    /// The least cost of all multiples of eight on all axes.
    fn least_cost(items: &[Item]) -> f32 {
        let mut least = f32::INFINITY;
        for k in 0..3 {
            let mut sorted = items.to_vec();
            sorted.sort_by(|a, b| a.center()[k].total_cmp(&b.center()[k]));
            for place in (WIDTH..items.len()).step_by(WIDTH) {
                least = least.min(cost(&sorted, place));
            }
        }
        least
    }

    /// Splits, and checks that nothing is lost and the halves lie beside each other.
    fn split_and_check(mut items: Vec<Item>, workers: &Workers) -> (Vec<Item>, usize) {
        let count = items.len();
        let whole = Spread::new(&mut items, 0, workers);
        let place = split(&mut items, &whole, workers);
        assert!(place > 0 && place < count && place % WIDTH == 0, "{place} of {count}");
        let mut triangles: Vec<u32> = items.iter().map(|item| item.triangle).collect();
        triangles.sort_unstable();
        assert!(triangles.into_iter().eq(0..count as u32));
        let beside = |k: usize| {
            let end = items[..place].iter().map(|item| item.center()[k]).fold(-9.0, f32::max);
            items[place..].iter().all(|item| item.center()[k] >= end)
        };
        assert!((0..3).any(beside));
        (items, place)
    }

    #[test]
    fn small_ranges_are_split_where_it_costs_least() {
        let mut random = Random(4);
        for round in 0..400 {
            let items = items(9 + round % (SORTED - 8), &mut random);
            let least = least_cost(&items);
            let (items, place) = split_and_check(items, &Workers::one());
            // Equal centres may be on either side.
            assert!(cost(&items, place) <= 1.1 * least, "{} {least}", cost(&items, place));
        }
    }

    #[test]
    fn large_ranges_are_split_near_where_it_costs_least() {
        let mut random = Random(5);
        let mut over = 0.0;
        for round in 0..60 {
            let items = items(SORTED + 1 + 17 * round, &mut random);
            let least = least_cost(&items);
            let (items, place) = split_and_check(items, &Workers::one());
            over += cost(&items, place) / least - 1.0;
        }
        assert!(over / 60.0 < 0.02, "{over}");
    }

    #[test]
    fn ranges_without_length_are_split_in_the_middle() {
        for count in [9, 16, 17, 64, 65, 1000] {
            let aabb = Aabb { min: [0.25; 3], max: [0.25; 3] };
            let items = (0..count).map(|triangle| Item::new(&aabb, triangle)).collect();
            let (_, place) = split_and_check(items, &Workers::one());
            assert!(place.abs_diff(count as usize / 2) <= WIDTH, "{place} of {count}");
        }
    }

    #[test]
    fn bits_of_numbers_are_ordered_like_them() {
        let numbers = [-2.0, -1.0, -1e-40, -0.0, 0.0, 1e-40, 0.5, 3.0];
        assert!(numbers.windows(2).all(|two| ordered(two[0]) < ordered(two[1])));
    }
}
