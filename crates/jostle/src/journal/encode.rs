//! [`Encoder`]: the fields of calls as bytes; see the [module above](super) for the format.

use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::Pair;

/// Slots and bounds that are handled at once.
const BLOCK: usize = 64;

/// Bytes of a frame as they are put together.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    pub(super) bytes: Vec<u8>,
}

impl Encoder {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn word(&mut self, word: u64) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    pub(crate) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A zigzag varint.
    fn signed(&mut self, number: i64) {
        self.varint(((number << 1) ^ (number >> 63)) as u64);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Bounds of boxes that follow each other. A block at a time: growing the bytes box by box
    /// costs several times as much as writing them.
    pub(crate) fn bounds(&mut self, aabbs: &[Aabb]) {
        let mut block = [[0; 24]; BLOCK];
        for part in aabbs.chunks(BLOCK) {
            block.iter_mut().zip(part).for_each(|(to, aabb)| *to = bytes_of(aabb));
            self.bytes.extend_from_slice(block[..part.len()].as_flattened());
        }
    }

    pub(crate) fn filter(&mut self, filter: &Filter) {
        match *filter {
            Filter::ALL => self.byte(0),
            Filter::STILL => self.byte(1),
            Filter { membership, mask, owner, still } => {
                self.byte(2);
                for part in [membership, mask, owner] {
                    self.bytes.extend_from_slice(&part.to_le_bytes());
                }
                self.byte(u8::from(still));
            }
        }
    }

    pub(crate) fn slots(&mut self, slots: impl ExactSizeIterator<Item = Slot>) {
        self.varint(slots.len() as u64);
        let mut last = 0;
        for slot in slots {
            self.signed(i64::from(slot.get()) - last);
            last = i64::from(slot.get());
        }
    }

    /// Slots of which many follow each other, as most do that move.
    pub(crate) fn runs(&mut self, slots: &[Slot]) {
        self.varint(slots.len() as u64);
        let mut next = 0;
        for run in runs_of(slots) {
            let first = i64::from(run[0].get());
            self.signed(first - next);
            self.varint(run.len() as u64 - 1);
            next = first + run.len() as i64;
        }
    }

    /// Bounds of boxes by slot.
    pub(crate) fn bounds_at(&mut self, slots: &[Slot], aabbs: &[Aabb]) {
        self.bytes.reserve(slots.len() * 24);
        for run in runs_of(slots) {
            let first = run[0].index();
            self.bounds(&aabbs[first..first + run.len()]);
        }
    }

    pub(crate) fn pairs(&mut self, pairs: impl ExactSizeIterator<Item = Pair>) {
        self.varint(pairs.len() as u64);
        for pair in pairs {
            self.word(u64::from(pair.a().get()) | u64::from(pair.b().get()) << 32);
        }
    }
}

/// Stretches of consecutive slots.
fn runs_of(mut slots: &[Slot]) -> impl Iterator<Item = &[Slot]> {
    std::iter::from_fn(move || {
        let (run, rest) = slots.split_at(first_run(slots));
        slots = rest;
        (!run.is_empty()).then_some(run)
    })
}

/// How many slots follow the first without a gap, itself included. Whole blocks are compared
/// without a branch, which vectorises; `chunk_by` took 13 instructions a slot (callgrind).
fn first_run(slots: &[Slot]) -> usize {
    let Some(first) = slots.first() else { return 0 };
    let fits = |place: usize, slot: &Slot| slot.get() == first.get().wrapping_add(place as u32);
    let whole = |(number, block): &(usize, &[Slot; BLOCK])| {
        let at = number * BLOCK;
        let places = block.iter().enumerate();
        fits(at + BLOCK - 1, &block[BLOCK - 1])
            && places.fold(true, |all, (k, slot)| all & fits(at + k, slot))
    };
    let (blocks, _) = slots.as_chunks::<BLOCK>();
    let length = blocks.iter().enumerate().take_while(whole).count() * BLOCK;
    let rest = slots[length..].iter().enumerate();
    length + rest.take_while(|(k, slot)| fits(length + k, slot)).count()
}

fn bytes_of(aabb: &Aabb) -> [u8; 24] {
    let mut bytes = [0; 24];
    let bounds = aabb.min.iter().chain(&aabb.max);
    for (to, bound) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(bounds) {
        *to = bound.to_le_bytes();
    }
    bytes
}
