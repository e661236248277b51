//! [`Decoder`]: fields of calls from bytes. Whatever is there, it ends with a value or with words.

use crate::aabb::Aabb;
use crate::filter::Filter;
use crate::id::Slot;
use crate::pair::Pair;

/// What is left of a frame.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Decoder<'a> {
        Decoder { bytes }
    }

    /// Bytes not read yet.
    pub(super) fn rest(&self) -> usize {
        self.bytes.len()
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or("it ends within a call")?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take::<1>()?[0])
    }

    pub(super) fn half(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(super) fn word(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(super) fn varint(&mut self) -> Result<u64, String> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number has more than 64 bits".into())
    }

    /// A zigzag varint.
    fn signed(&mut self) -> Result<i64, String> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    pub(super) fn size(&mut self) -> Result<usize, String> {
        let number = self.varint()?;
        usize::try_from(number).map_err(|_| format!("{number} is too large for this machine"))
    }

    /// A number of things that take at least `least` bytes each.
    pub(super) fn count(&mut self, least: usize) -> Result<usize, String> {
        let count = self.size()?;
        if count > self.rest() / least {
            return Err(format!("it claims {count} entries in {} bytes", self.rest()));
        }
        Ok(count)
    }

    pub(super) fn text(&mut self) -> Result<String, String> {
        let length = self.count(1)?;
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8(text.to_vec()).map_err(|_| "a text is not UTF-8".into())
    }

    pub(super) fn slot(&mut self) -> Result<Slot, String> {
        slot_of(i128::from(self.varint()?))
    }

    pub(super) fn slots(&mut self) -> Result<Vec<Slot>, String> {
        let count = self.count(1)?;
        let mut last = 0;
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            let slot = slot_of(i128::from(last) + i128::from(self.signed()?))?;
            last = i64::from(slot.get());
            list.push(slot);
        }
        Ok(list)
    }

    /// Slots as runs, each with at least `least` bytes still to come, which bounds the memory that
    /// a run may claim.
    pub(super) fn runs(&mut self, least: usize) -> Result<Vec<Slot>, String> {
        let count = self.count(least)?;
        let (mut next, mut list) = (0, Vec::with_capacity(count));
        while list.len() < count {
            let first = slot_of(i128::from(next) + i128::from(self.signed()?))?.get().into();
            let length = self.varint()?.saturating_add(1);
            if length > (count - list.len()) as u64 {
                return Err(format!("a run of {length} slots is too long"));
            }
            let end: i64 = first + length as i64;
            slot_of(i128::from(end - 1))?;
            list.extend((first..end).map(|slot| Slot::new(slot as u32)));
            next = end;
        }
        Ok(list)
    }

    pub(super) fn bits(&mut self) -> Result<[u32; 6], String> {
        let bytes = self.take::<24>()?;
        let mut words = bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four));
        Ok(std::array::from_fn(|_| words.next().unwrap_or_default()))
    }

    pub(super) fn bounds(&mut self, count: usize) -> Result<Vec<Aabb>, String> {
        if count > self.rest() / 24 {
            return Err(format!("it claims {count} boxes in {} bytes", self.rest()));
        }
        let aabb = |bits: [u32; 6]| {
            let [a, b, c, d, e, f] = bits.map(f32::from_bits);
            Aabb::new([a, b, c], [d, e, f])
        };
        (0..count).map(|_| self.bits().map(aabb)).collect()
    }

    pub(super) fn filter(&mut self) -> Result<Filter, String> {
        match self.byte()? {
            0 => Ok(Filter::ALL),
            1 => Ok(Filter::STILL),
            2 => {
                let filter = Filter::groups(self.half()?, self.half()?).with_owner(self.half()?);
                match self.byte()? {
                    still @ 0..=1 => Ok(filter.with_still(still == 1)),
                    other => Err(format!("a filter is still by {other}")),
                }
            }
            other => Err(format!("there is no filter of kind {other}")),
        }
    }

    pub(super) fn pairs(&mut self) -> Result<Vec<Pair>, String> {
        let count = self.count(8)?;
        (0..count).map(|_| pair_of(Slot::new(self.half()?), Slot::new(self.half()?))).collect()
    }

    /// A pair whose slots are varints.
    pub(super) fn pair(&mut self) -> Result<Pair, String> {
        pair_of(self.slot()?, self.slot()?)
    }
}

fn slot_of(number: i128) -> Result<Slot, String> {
    u32::try_from(number).map(Slot::new).map_err(|_| format!("there is no slot {number}"))
}

fn pair_of(one: Slot, other: Slot) -> Result<Pair, String> {
    match one == other {
        true => Err(format!("it pairs box {one} with itself")),
        false => Ok(Pair::new(one, other)),
    }
}
