//! Random histories. Coordinates come from a small lattice, so that equal bounds and touching
//! faces are common, from a range of plain numbers, and now and then from the edges of f32.

use jostle::{Aabb, Filter};
use proptest::prelude::*;

use crate::bytes::Bytes;
use crate::replay::Op;

/// Bounds that careless code gets wrong.
pub const SPECIAL: [f32; 12] = [
    0.0,
    -0.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-40,
    1e30,
    -1e30,
    1e-30,
];

/// How many unlike filters the histories use.
const FILTERS: u8 = 14;

fn coordinate() -> impl Strategy<Value = f32> {
    prop_oneof![
        6 => (-4i8..=4).prop_map(f32::from),
        4 => -5.0f32..5.0,
        1 => (0..SPECIAL.len()).prop_map(|k| SPECIAL[k]),
    ]
}

fn aabb() -> impl Strategy<Value = Aabb> {
    let corner = || [coordinate(), coordinate(), coordinate()];
    let free = (corner(), corner()).prop_map(|(p, q)| spanned(p, q));
    let small = (corner(), prop::array::uniform3(0.0f32..1.5))
        .prop_map(|(p, size)| spanned(p, std::array::from_fn(|k| p[k] + size[k])));
    let point = corner().prop_map(Aabb::point);
    prop_oneof![2 => free, 6 => small, 1 => point]
}

/// The box between two points.
fn spanned(p: [f32; 3], q: [f32; 3]) -> Aabb {
    Aabb {
        min: std::array::from_fn(|k| p[k].min(q[k])),
        max: std::array::from_fn(|k| p[k].max(q[k])),
    }
}

/// A filter by number; most numbers mean no filter.
fn numbered_filter(number: u8) -> Filter {
    match number % FILTERS {
        0 => Filter::STILL,
        1 => Filter::groups(1, 2),
        2 => Filter::groups(2, 1),
        3 => Filter::groups(3, 3),
        4 => Filter::ALL.with_owner(1),
        5 => Filter::ALL.with_owner(2),
        6 => Filter::groups(1, 0),
        7 => Filter::STILL.with_owner(1),
        8 => Filter::groups(0, 0).with_owner(1),
        9 => Filter::groups(0, 0).with_owner(2),
        _ => Filter::ALL,
    }
}

fn filter() -> impl Strategy<Value = Filter> {
    any::<u8>().prop_map(numbered_filter)
}

fn op() -> impl Strategy<Value = Op> {
    let offset = || prop::array::uniform3(-1.5f32..1.5);
    let place = || 0usize..1000;
    prop_oneof![
        12 => (aabb(), filter()).prop_map(|(aabb, filter)| Op::Insert(aabb, filter)),
        4 => (place(), aabb()).prop_map(|(place, aabb)| Op::Set(place, aabb)),
        10 => (place(), offset()).prop_map(|(place, by)| Op::Shift(place, by)),
        1 => offset().prop_map(Op::ShiftAll),
        2 => (place(), place()).prop_map(|(place, from)| Op::Copy(place, from)),
        2 => (place(), filter()).prop_map(|(place, filter)| Op::Refilter(place, filter)),
        2 => (place(), place(), any::<bool>()).prop_map(|(a, b, on)| Op::Exclude(a, b, on)),
        5 => place().prop_map(Op::Remove),
        1 => Just(Op::RemoveAll),
        12 => Just(Op::Step),
        1 => Just(Op::Rebuild),
    ]
}

/// Histories of up to `length` operations.
pub fn histories(length: usize) -> impl Strategy<Value = Vec<Op>> {
    let start = prop::collection::vec((aabb(), filter()), 0..40)
        .prop_map(|list| list.into_iter().map(|(aabb, filter)| Op::Insert(aabb, filter)));
    (start, prop::collection::vec(op(), 0..length))
        .prop_map(|(start, rest)| start.chain(rest).collect())
}

/// Places and sizes of worlds in the [extreme histories](extreme_histories).
const WORLDS: [(f64, f64); 12] = [
    (0.0, 1.0),
    (100.0, 1.0),
    (1e7, 1.0),
    (-1e9, 64.0),
    (0.0, 1e-6),
    (0.0, 1e6),
    (0.0, 1e-30),
    (0.0, 1e30),
    (0.0, 1e-43),
    (1e-40, 1e-44),
    (3e38, 1e33),
    (-1.0, 1e-7),
];

/// Histories of up to `length` operations in one to three worlds at once, of unlike places and
/// sizes.
pub fn extreme_histories(length: usize) -> impl Strategy<Value = Vec<Op>> {
    let worlds = prop::collection::vec(0..WORLDS.len(), 1..4);
    (histories(length), worlds).prop_map(|(ops, worlds)| {
        let world = |k: usize| WORLDS[worlds[k * k % worlds.len()]];
        ops.into_iter().enumerate().map(|(k, op)| placed(op, world(k))).collect()
    })
}

/// An operation in a world.
fn placed(op: Op, (offset, scale): (f64, f64)) -> Op {
    let bounds = |list: [f32; 3]| list.map(|x| (offset + f64::from(x) * scale) as f32);
    let aabb = |aabb: Aabb| Aabb { min: bounds(aabb.min), max: bounds(aabb.max) };
    let lengths = |list: [f32; 3]| list.map(|x| (f64::from(x) * scale) as f32);
    match op {
        Op::Insert(old, filter) => Op::Insert(aabb(old), filter),
        Op::Set(place, old) => Op::Set(place, aabb(old)),
        Op::Shift(place, by) => Op::Shift(place, lengths(by)),
        Op::ShiftAll(by) => Op::ShiftAll(lengths(by)),
        other => other,
    }
}

/// Reads a history from arbitrary bytes: what a fuzzer uses. Any bytes are a history.
pub fn from_bytes(bytes: &[u8]) -> Vec<Op> {
    let mut bytes = Bytes(bytes);
    let mut ops = Vec::new();
    // Long inputs repeat themselves; the model's loops are quadratic.
    while let (Some(kind), true) = (bytes.next(), ops.len() < 400) {
        ops.push(match kind % 16 {
            0..=4 => Op::Insert(bytes.aabb(), numbered_filter(bytes.byte())),
            5 | 6 => Op::Set(bytes.place(), bytes.aabb()),
            7 | 8 => Op::Shift(bytes.place(), [bytes.small(), bytes.small(), bytes.small()]),
            9 => Op::ShiftAll([bytes.small(), bytes.small(), bytes.small()]),
            10 => Op::Copy(bytes.place(), bytes.place()),
            11 => Op::Refilter(bytes.place(), numbered_filter(bytes.byte())),
            12 => Op::Remove(bytes.place()),
            13 if kind == 13 => Op::RemoveAll,
            13 if kind & 16 != 0 => Op::Exclude(bytes.place(), bytes.place(), bytes.byte() % 3 > 0),
            14 if kind < 64 => Op::Rebuild,
            _ => Op::Step,
        });
    }
    ops
}

impl Bytes<'_> {
    fn place(&mut self) -> usize {
        usize::from(self.byte())
    }

    /// A number between -4 and 4, often whole.
    fn small(&mut self) -> f32 {
        f32::from(self.byte() as i8) / 32.0
    }

    fn coordinate(&mut self) -> f32 {
        match self.byte() {
            byte @ 0..=11 => SPECIAL[usize::from(byte)],
            12 => {
                let bits = u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]);
                let any = f32::from_bits(bits);
                if any.is_nan() { 1.0 } else { any }
            }
            byte => f32::from(byte as i8 / 8) / 4.0,
        }
    }

    fn aabb(&mut self) -> Aabb {
        let p = [self.coordinate(), self.coordinate(), self.coordinate()];
        match self.byte() % 4 {
            0 => spanned(p, [self.coordinate(), self.coordinate(), self.coordinate()]),
            1 => Aabb::point(p),
            _ => spanned(p, p.map(|bound| bound + 1.5)),
        }
    }
}
