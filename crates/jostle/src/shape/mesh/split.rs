//! Where a range of triangles is split in two, for [`build`](super::build).
//!
//! Splits are chosen by the surface area heuristic among all three axes. A range of more than 64
//! triangles looks at the boundaries of bins (Wald, *On fast construction of SAH-based bounding
//! volume hierarchies*) and moves the best to the next multiple of eight triangles, so that leaves
//! are full. A smaller one is sorted along each axis and looks at all multiples of eight.
//!
//! Triangles go to their side of the best boundary by their bins, in one pass, and then the few
//! between the boundary and the multiple of eight change sides. Next to a selection of the nth
//! among all, with items of 48 bytes, one thread takes 0.87, 0.97 and 0.85 of the time (`Mesh::new`
//! on the three meshes below, least of 12, both forms in turns).
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

use glam::Vec4;
use std::ops::Range;

use crate::aabb::Aabb;
use crate::par::Workers;
use crate::simd::node8::WIDTH;

/// Boundaries that a split chooses from on each axis, and one.
const BINS: usize = 16;

/// Triangles of a range that is sorted rather than binned.
const SORTED: usize = WIDTH * WIDTH;

/// A triangle while the tree is built, in 32 bytes: its box, and its number in the fourth lanes,
/// the lower half in one and the upper in the other. Both are whole numbers that f32 has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    bounds: Bounds,
}

impl Item {
    /// What fills an array before it is written.
    const BLANK: Item = Item { bounds: NOTHING };

    pub(super) fn new(aabb: &Aabb, triangle: u32) -> Item {
        let [lower, upper] = [triangle & 0xffff, triangle >> 16].map(|half| half as f32);
        let ([a, b, c], [d, e, f]) = (aabb.min, aabb.max);
        let (min, max) = (Vec4::new(a, b, c, lower), Vec4::new(d, e, f, upper));
        Item { bounds: Bounds { min, max } }
    }

    #[inline(always)]
    pub(super) fn triangle(&self) -> u32 {
        let Bounds { min, max } = self.bounds;
        (max.w as u32) << 16 | min.w as u32
    }

    /// Twice the centre, in the first three lanes.
    #[inline(always)]
    fn center(&self) -> Vec4 {
        self.bounds.min + self.bounds.max
    }

    /// Twice the centre on one axis.
    #[inline(always)]
    fn along(&self, axis: usize) -> f32 {
        let (min, max): (&[f32; 4], &[f32; 4]) =
            (self.bounds.min.as_ref(), self.bounds.max.as_ref());
        min[axis] + max[axis]
    }

    /// The order of items along an axis, as a number: by the centre, and by the triangle if others
    /// have the same.
    #[inline(always)]
    fn key(&self, axis: usize) -> u64 {
        u64::from(ordered(self.along(axis))) << 32 | u64::from(self.triangle())
    }
}

/// A box in registers; the fourth lanes mean nothing to it.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: Vec4,
    max: Vec4,
}

/// The neutral element of the union.
const NOTHING: Bounds =
    Bounds { min: Vec4::splat(f32::INFINITY), max: Vec4::splat(f32::NEG_INFINITY) };

impl Bounds {
    #[inline(always)]
    fn join(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Half the surface.
    #[inline(always)]
    fn surface(self) -> f32 {
        let [x, y, z, _] = (self.max - self.min).to_array();
        x * y + y * z + z * x
    }

    fn aabb(self) -> Aabb {
        let ([a, b, c, _], [d, e, f, _]) = (self.min.to_array(), self.max.to_array());
        Aabb { min: [a, b, c], max: [d, e, f] }
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
    items: &[Item],
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
    let mut parts: Vec<(&[Item], R)> =
        items.chunks(length).map(|items| (items, empty.clone())).collect();
    workers.for_each_from_ends(&mut parts, |_, (items, result)| each(items, result));
    let mut whole = empty;
    parts.iter().for_each(|(_, result)| merge(&mut whole, result));
    whole
}

/// Splits the items of a range, more than eight, and says where: at a multiple of eight.
pub(super) fn split(items: &mut [Item], whole: &Spread, workers: &Workers) -> usize {
    // Short arrays for short ranges, which are most: all of an array is cleared.
    match items.len() {
        0..=16 => return split_sorted::<16>(items),
        17..=32 => return split_sorted::<32>(items),
        33..=SORTED => return split_sorted::<SORTED>(items),
        _ => {}
    }
    let (count, scale) = (items.len(), Scale::new(whole));
    let mut best = Boundary { cost: f32::INFINITY, axis: 0, bin: 0, before: count / 2 };
    for (axis, bins) in fill_bins(items, &scale, workers).iter().enumerate() {
        let found = cheapest(bins, axis, count);
        if found.cost < best.cost {
            best = found;
        }
    }
    let place = to_eights(best.before, count);
    if best.bin == 0 {
        // No boundary has items on both sides: all centres are in one place.
        items.select_nth_unstable_by_key(place, |item| item.key(best.axis));
    } else {
        part(items, scale.before(best.axis, best.bin));
        mend(items, best.axis, best.before, place);
    }
    // The order within a range is of no meaning, but that of a leaf is seen by users of the tree.
    let (one, other) = items.split_at_mut(place);
    for half in [one, other] {
        if half.len() <= WIDTH {
            half.sort_unstable_by_key(|item| item.key(best.axis));
        }
    }
    place
}

/// Moves the items for which something is true before all others.
fn part(items: &mut [Item], before: impl Fn(&Item) -> bool) {
    let mut count = 0;
    for place in 0..items.len() {
        // Without a branch, which half of the items would take the wrong way.
        let moves = usize::from(before(&items[place]));
        items.swap(count, place);
        count += moves;
    }
}

/// Moves the border between items before and after a boundary to a place at most eight away: those
/// next to the boundary change sides.
fn mend(items: &mut [Item], axis: usize, border: usize, place: usize) {
    if place > border {
        let own = &mut items[border..];
        let mut chosen = [0; WIDTH];
        let chosen = &mut chosen[..place - border];
        first_along(own, chosen, axis, false);
        chosen.iter().enumerate().for_each(|(to, &from)| own.swap(to, from));
    } else if place < border {
        let own = &mut items[..border];
        let mut chosen = [0; WIDTH];
        let chosen = &mut chosen[..border - place];
        first_along(own, chosen, axis, true);
        let last = own.len() - 1;
        chosen.iter().rev().enumerate().for_each(|(to, &from)| own.swap(last - to, from));
    }
}

/// The places of the first items along an axis, or of the last, as many as are chosen and no more
/// than eight. Places ascend.
fn first_along(items: &[Item], chosen: &mut [usize], axis: usize, last: bool) {
    let count = chosen.len();
    let mut found = [(u64::MAX, 0); WIDTH];
    // Few items are as far as the worst of those found, and most cost one comparison.
    let (sign, mut worst) = (if last { -1.0 } else { 1.0 }, f32::INFINITY);
    for (place, item) in items.iter().enumerate() {
        if sign * item.along(axis) > worst {
            continue;
        }
        let key = if last { !item.key(axis) } else { item.key(axis) };
        let at = found[..count].partition_point(|(other, _)| *other < key);
        found[at..count].rotate_right(usize::from(at < count));
        if at < count {
            found[at] = (key, place);
        }
        if found[count - 1].0 != u64::MAX {
            worst = sign * items[found[count - 1].1].along(axis);
        }
    }
    chosen.iter_mut().zip(found).for_each(|(place, (_, from))| *place = from);
    chosen.sort_unstable();
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

/// The map from centres to bins.
struct Scale {
    low: Vec4,
    per_length: Vec4,
}

impl Scale {
    fn new(whole: &Spread) -> Scale {
        let low = whole.centers.min;
        let per_length = Vec4::splat(BINS as f32) / (whole.centers.max - low);
        // All in one bin if there is no length.
        let per_length = Vec4::select(per_length.is_finite_mask(), per_length, Vec4::ZERO);
        Scale { low, per_length }
    }

    /// The bin of an item on each axis, in the lowest bits; numbers are ordered like bins.
    #[inline(always)]
    fn place(&self, item: &Item) -> Vec4 {
        let (half, last) = (Vec4::splat(0.5), Vec4::splat((BINS - 1) as f32));
        // Half less to the nearest is the whole number below.
        let place = (item.center() - self.low) * self.per_length - half;
        place.max(Vec4::ZERO).min(last) + Vec4::splat(WHOLE)
    }

    /// Whether the bin of an item on an axis comes before another: the same numbers as above.
    fn before(&self, axis: usize, bin: usize) -> impl Fn(&Item) -> bool {
        let (low, per_length) = (self.low[axis], self.per_length[axis]);
        let first = WHOLE + bin as f32;
        move |item| {
            let place = (item.along(axis) - low) * per_length - 0.5;
            place.clamp(0.0, (BINS - 1) as f32) + WHOLE < first
        }
    }
}

/// Added to a number from 0 to 15 it leaves the nearest whole number in the lowest bits.
const WHOLE: f32 = 8_388_608.0;

/// Items by the place of their centres, on each axis.
fn fill_bins(items: &mut [Item], scale: &Scale, workers: &Workers) -> [[Bin; BINS]; 3] {
    pass(
        items,
        workers,
        [[Bin { bounds: NOTHING, count: 0 }; BINS]; 3],
        |items, bins| {
            for item in items {
                let place = scale.place(item).to_array();
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

/// Where a range can be split.
#[derive(Clone, Copy)]
struct Boundary {
    cost: f32,
    axis: usize,
    /// The first bin after it.
    bin: usize,
    /// Items before it.
    before: usize,
}

/// The boundary between bins of least cost; that before the first bin if all others have items on
/// one side only.
fn cheapest(bins: &[Bin; BINS], axis: usize, count: usize) -> Boundary {
    let mut after = [0.0f32; BINS];
    let (mut bounds, mut right) = (NOTHING, 0);
    for k in (1..BINS).rev() {
        bounds = bounds.join(bins[k].bounds);
        right += bins[k].count;
        after[k] = if right == 0 { 0.0 } else { bounds.surface() * right as f32 };
    }
    let mut best = Boundary { cost: f32::INFINITY, axis, bin: 0, before: count / 2 };
    let (mut bounds, mut before) = (NOTHING, 0);
    for bin in 1..BINS {
        bounds = bounds.join(bins[bin - 1].bounds);
        before += bins[bin - 1].count;
        if before == 0 || before == count {
            continue;
        }
        let cost = bounds.surface() * before as f32 + after[bin];
        if cost < best.cost {
            best = Boundary { cost, axis, bin, before };
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

/// Splits at most `N` items, more than eight: sorts them along each axis and chooses among the
/// multiples of eight.
fn split_sorted<const N: usize>(items: &mut [Item]) -> usize {
    let count = items.len();
    let mut orders = [[Key::default(); N]; 3];
    let (mut axis, mut best) = (0, (f32::INFINITY, to_eights(count / 2, count)));
    for (place, item) in items.iter().enumerate() {
        for k in 0..3 {
            orders[k][place] = Key { key: item.key(k), place: place as u32 };
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
    let mut sorted = [Item::BLANK; N];
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
        let mut triangles: Vec<u32> = items.iter().map(Item::triangle).collect();
        triangles.sort_unstable();
        assert!(triangles.into_iter().eq(0..count as u32));
        // Equal centres are parted by their triangles, and leaves are in order.
        let (one, other) = items.split_at(place);
        let keys =
            |half: &[Item], k: usize| half.iter().map(|item| item.key(k)).collect::<Vec<_>>();
        let in_order = |k: usize| {
            let halves = [keys(one, k), keys(other, k)];
            let sorted = halves.iter().all(|half| half.len() > WIDTH || half.is_sorted());
            sorted && halves[0].iter().max() < halves[1].iter().min()
        };
        assert!((0..3).any(in_order));
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

    /// The best boundary then has few items on one side, and others join them to fill a leaf.
    #[test]
    fn lone_items_are_split_off_with_their_neighbours() {
        let mut random = Random(6);
        for count in [65, 71, 72, 73, 500, 5000] {
            for lone in [1, 3, 4, 5, 7, 8, 9] {
                for side in [-40.0, 40.0] {
                    let mut items = items(count, &mut random);
                    for item in &mut items[20..20 + lone] {
                        item.bounds.min.x += side;
                        item.bounds.max.x += side;
                    }
                    let (_, place) = split_and_check(items, &Workers::one());
                    let few = if side < 0.0 { place } else { count - place };
                    assert!(few.abs_diff(lone) < 2 * WIDTH, "{place} of {count}, {lone} apart");
                }
            }
        }
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
