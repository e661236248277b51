//! [`Encoder`]: the fields of calls as bytes; see the [module above](super) for the format.

use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::Pair;

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

    pub(crate) fn text(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn bounds(&mut self, aabb: &Aabb) {
        let mut bytes = [0; 24];
        for (to, bound) in
            bytes.as_chunks_mut::<4>().0.iter_mut().zip(aabb.min.iter().chain(&aabb.max))
        {
            *to = bound.to_le_bytes();
        }
        self.bytes.extend_from_slice(&bytes);
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
            let step = i64::from(slot.get()) - last;
            self.varint(((step << 1) ^ (step >> 63)) as u64);
            last = i64::from(slot.get());
        }
    }

    pub(crate) fn pairs(&mut self, pairs: impl ExactSizeIterator<Item = Pair>) {
        self.varint(pairs.len() as u64);
        for pair in pairs {
            self.word(u64::from(pair.a().get()) | u64::from(pair.b().get()) << 32);
        }
    }
}
