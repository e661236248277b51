//! [`GlobalId`], [`GlobalPair`], and the table that finds things by id.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

/// Names a box in the whole job. Users choose ids below [`GlobalId::FIRST_ISSUED`], or let the
/// detector issue them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct GlobalId(pub u64);

impl GlobalId {
    /// Ids from here on are issued by the detector: this bit, then the rank, then a counter.
    pub const FIRST_ISSUED: u64 = 1 << 63;

    /// Bits of the counter in an issued id.
    const COUNTER_BITS: u32 = 40;

    /// The id that a rank issues for a count of its own.
    pub(crate) fn issued(rank: usize, count: u64) -> GlobalId {
        assert!(count < 1 << Self::COUNTER_BITS, "a rank issues at most 2^40 ids");
        GlobalId(Self::FIRST_ISSUED | (rank as u64) << Self::COUNTER_BITS | count)
    }

    /// Returns true if the detector issued this id.
    pub fn is_issued(self) -> bool {
        self.0 >= Self::FIRST_ISSUED
    }

    /// The rank that keeps the directory entry of this id.
    pub(crate) fn directory_rank(self, ranks: usize) -> usize {
        (mix(self.0) % ranks as u64) as usize
    }
}

impl fmt::Display for GlobalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Two different boxes of the job, the smaller id first. Pairs order by first id, then by second.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalPair {
    a: GlobalId,
    b: GlobalId,
}

impl GlobalPair {
    /// The pair of two different boxes, given in any order.
    pub fn new(one: GlobalId, other: GlobalId) -> GlobalPair {
        debug_assert!(one != other, "box {one} cannot pair with itself");
        GlobalPair { a: one.min(other), b: one.max(other) }
    }

    /// The box with the smaller id.
    pub fn a(self) -> GlobalId {
        self.a
    }

    /// The box with the larger id.
    pub fn b(self) -> GlobalId {
        self.b
    }

    /// A number for this pair among sums of such numbers: see
    /// [`Fingerprint`](crate::Fingerprint).
    pub(crate) fn mixed(self) -> [u64; 2] {
        let one = mix(self.a.0 ^ 0x6a09_e667_f3bc_c909);
        let low = mix(one ^ self.b.0);
        [low, mix(low ^ one.rotate_left(32))]
    }
}

impl fmt::Debug for GlobalPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.a, self.b)
    }
}

impl From<(u64, u64)> for GlobalPair {
    fn from((one, other): (u64, u64)) -> GlobalPair {
        GlobalPair::new(GlobalId(one), GlobalId(other))
    }
}

/// The finalizer of SplitMix64: a bijection in which every input bit reaches every output bit.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hashes the one u64 of an id. Tables are only looked up, never iterated, so their order
/// decides nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(value);
    }
}

/// What is known of ids.
pub(crate) type IdMap<T> = HashMap<GlobalId, T, BuildHasherDefault<IdHasher>>;
