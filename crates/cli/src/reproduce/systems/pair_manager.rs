//! [`PairManager`]: three flags for each pair of boxes, one for each axis on which they overlap.
//!
//! Campbell keeps them in a map (§4.1.1): at first with two ids as the key and entries that come
//! with the first overlap, then with one number made of both ids and an entry for every pair from
//! the start, so that setting a flag is a look-up. The thesis calls that look-up constant; a map
//! of the C++ library is a tree all the same. A hash table does what the thesis meant, and the
//! table of bits is that of I-COLLIDE, which the other papers name: no search, and memory for
//! every pair.
//!
//! A B-tree stands for the map. It holds several keys in a node, so it is shallower than the
//! red-black tree that the thesis had.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// How the flags are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    /// A map with two ids as the key; entries come with the first overlap.
    PairMap,
    /// A map with one number as the key and every pair from the start: the thesis's choice.
    KeyMap,
    /// A hash table with the same keys and entries.
    HashTable,
    /// A bit for each axis and pair.
    BitTable,
}

impl Store {
    /// All of them.
    pub(crate) const ALL: [Store; 4] =
        [Store::PairMap, Store::KeyMap, Store::HashTable, Store::BitTable];

    /// What it is called in tables and pictures.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Store::PairMap => "map of pairs of ids",
            Store::KeyMap => "map of one key",
            Store::HashTable => "hash table",
            Store::BitTable => "table of bits",
        }
    }
}

/// The thesis's key (listing 4.1): the smaller id in the lower half. Ids stay below 65 536, which
/// is far beyond what memory for every pair allows.
#[inline]
pub(crate) fn key_of(one: u32, other: u32) -> u32 {
    (one.min(other) & 0xffff) | one.max(other) << 16
}

/// Flags and ids of a pair (listing 4.2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairInfo {
    ids: [u32; 2],
    axes: [bool; 3],
}

/// Mixes a key by one multiplication; the standard library's hash would differ from run to run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u32(&mut self, key: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(key)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// The flags of all pairs of some boxes.
#[derive(Clone, Debug)]
pub(crate) enum PairManager {
    Pairs(BTreeMap<(u32, u32), [bool; 3]>),
    Keys(BTreeMap<u32, PairInfo>),
    Table(HashMap<u32, PairInfo, BuildHasherDefault<KeyHasher>>),
    /// Words of bits for each axis; the bit of a pair is at its place in the triangle of pairs.
    Bits([Vec<u64>; 3]),
}

impl PairManager {
    /// Flags for this many boxes, none of which overlap.
    pub(crate) fn new(store: Store, boxes: usize) -> PairManager {
        let pairs = || (0..boxes as u32).flat_map(|b| (0..b).map(move |a| (a, b)));
        let entry = |(a, b): (u32, u32)| (key_of(a, b), PairInfo { ids: [a, b], axes: [false; 3] });
        match store {
            Store::PairMap => PairManager::Pairs(BTreeMap::new()),
            Store::KeyMap => PairManager::Keys(pairs().map(entry).collect()),
            Store::HashTable => PairManager::Table(pairs().map(entry).collect()),
            Store::BitTable => {
                let words = (boxes * boxes.saturating_sub(1) / 2).div_ceil(64);
                PairManager::Bits(std::array::from_fn(|_| vec![0; words]))
            }
        }
    }

    /// Says whether two boxes overlap on an axis. Returns true if that changes whether they do on
    /// all three.
    #[inline]
    pub(crate) fn set(&mut self, one: u32, other: u32, axis: usize, overlap: bool) -> bool {
        let (low, high) = (one.min(other), one.max(other));
        match self {
            PairManager::Pairs(map) if overlap => {
                flip(map.entry((low, high)).or_default(), axis, true)
            }
            PairManager::Pairs(map) => {
                map.get_mut(&(low, high)).is_some_and(|axes| flip(axes, axis, false))
            }
            PairManager::Keys(map) => map
                .get_mut(&key_of(low, high))
                .is_some_and(|info| flip(&mut info.axes, axis, overlap)),
            PairManager::Table(map) => map
                .get_mut(&key_of(low, high))
                .is_some_and(|info| flip(&mut info.axes, axis, overlap)),
            PairManager::Bits(words) => {
                let (word, bit) = place(low, high);
                let before = words[axis][word] & bit != 0;
                if before == overlap {
                    return false;
                }
                words[axis][word] ^= bit;
                (0..3).all(|k| k == axis || words[k][word] & bit != 0)
            }
        }
    }

    /// Returns true if two boxes overlap on all axes.
    pub(crate) fn collide(&self, one: u32, other: u32) -> bool {
        let (low, high) = (one.min(other), one.max(other));
        let all = |axes: &[bool; 3]| *axes == [true; 3];
        match self {
            PairManager::Pairs(map) => map.get(&(low, high)).is_some_and(all),
            PairManager::Keys(map) => map.get(&key_of(low, high)).is_some_and(|i| all(&i.axes)),
            PairManager::Table(map) => map.get(&key_of(low, high)).is_some_and(|i| all(&i.axes)),
            PairManager::Bits(words) => {
                let (word, bit) = place(low, high);
                words.iter().all(|axis| axis[word] & bit != 0)
            }
        }
    }

    /// Shows every pair that overlaps on all axes, in any order: a look at all entries.
    pub(crate) fn for_each_colliding(&self, boxes: usize, mut show: impl FnMut(u32, u32)) {
        let all = |axes: &[bool; 3]| *axes == [true; 3];
        match self {
            PairManager::Pairs(map) => {
                map.iter().filter(|(_, axes)| all(axes)).for_each(|(&(a, b), _)| show(a, b));
            }
            PairManager::Keys(map) => {
                let colliding = map.values().filter(|info| all(&info.axes));
                colliding.for_each(|info| show(info.ids[0], info.ids[1]));
            }
            PairManager::Table(_) | PairManager::Bits(_) => {
                // In the order of the pairs: that of a hash table is nobody's business.
                for high in 0..boxes as u32 {
                    (0..high)
                        .filter(|&low| self.collide(low, high))
                        .for_each(|low| show(low, high));
                }
            }
        }
    }

    /// About how many bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            PairManager::Pairs(map) => map.len() * size_of::<((u32, u32), [bool; 3])>(),
            PairManager::Keys(map) => map.len() * size_of::<(u32, PairInfo)>(),
            PairManager::Table(map) => map.capacity() * (size_of::<(u32, PairInfo)>() + 1),
            PairManager::Bits(words) => words.iter().map(|axis| 8 * axis.len()).sum(),
        }
    }
}

/// Sets a flag. Returns true if all three were set before or are now, but not both.
#[inline]
fn flip(axes: &mut [bool; 3], axis: usize, overlap: bool) -> bool {
    let before = *axes == [true; 3];
    axes[axis] = overlap;
    before != (*axes == [true; 3])
}

/// Word and bit of a pair in a table of bits.
#[inline]
fn place(low: u32, high: u32) -> (usize, u64) {
    let (low, high) = (low as usize, high as usize);
    let at = high * (high - 1) / 2 + low;
    (at / 64, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use jostle_scenes::Rng;

    use super::*;

    #[test]
    fn all_stores_tell_the_same() {
        const BOXES: usize = 30;
        let mut managers = Store::ALL.map(|store| PairManager::new(store, BOXES));
        let mut truth = BTreeMap::<(u32, u32), [bool; 3]>::new();
        let mut rng = Rng::new(5);
        let mut changes = 0;
        for _ in 0..20_000 {
            let (one, other) = (rng.below(BOXES) as u32, rng.below(BOXES) as u32);
            if one == other {
                continue;
            }
            let (axis, overlap) = (rng.below(3), rng.below(3) > 0);
            let axes = truth.entry((one.min(other), one.max(other))).or_default();
            let before = axes.iter().all(|&set| set);
            axes[axis] = overlap;
            let changed = before != axes.iter().all(|&set| set);
            changes += usize::from(changed);
            for manager in &mut managers {
                assert_eq!(manager.set(one, other, axis, overlap), changed, "{manager:?}");
            }
        }
        assert!(changes > 1000);
        let colliding = truth.iter().filter(|(_, axes)| axes.iter().all(|&set| set));
        let expected: Vec<(u32, u32)> = colliding.map(|(&pair, _)| pair).collect();
        for manager in &managers {
            let mut found = Vec::new();
            manager.for_each_colliding(BOXES, |a, b| found.push((a, b)));
            found.sort_unstable();
            assert_eq!(found, expected);
            assert!(expected.iter().all(|&(a, b)| manager.collide(b, a)));
        }
    }

    #[test]
    fn keys_are_the_thesis_s() {
        assert_eq!(key_of(1, 2), 1 | 2 << 16);
        assert_eq!(key_of(65_535, 3), 3 | 65_535 << 16);
    }
}
