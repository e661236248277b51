//! Bytes of messages and snapshots: little-endian numbers, one after the other.

use jostle::{Aabb, Filter};

use crate::id::GlobalId;

/// Writes numbers behind each other.
pub(crate) trait Put {
    fn put(&mut self, bytes: &[u8]);

    fn put_u8(&mut self, value: u8) {
        self.put(&[value]);
    }

    fn put_u32(&mut self, value: u32) {
        self.put(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.put(&value.to_le_bytes());
    }

    fn put_id(&mut self, id: GlobalId) {
        self.put_u64(id.0);
    }

    fn put_aabb(&mut self, aabb: &Aabb) {
        let mut bytes = [0; 24];
        let bounds = aabb.min.iter().chain(&aabb.max);
        for (place, bound) in bytes.chunks_exact_mut(4).zip(bounds) {
            place.copy_from_slice(&bound.to_le_bytes());
        }
        self.put(&bytes);
    }

    /// One byte for the filter of most boxes, fourteen for others.
    fn put_filter(&mut self, filter: &Filter) {
        if *filter == Filter::ALL {
            return self.put_u8(0);
        }
        self.put_u8(1 + u8::from(filter.still));
        self.put_u32(filter.membership);
        self.put_u32(filter.mask);
        self.put_u32(filter.owner);
    }
}

impl Put for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Reads numbers back; `None` once the bytes run out or make no sense.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    pub(crate) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    pub(crate) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    pub(crate) fn f32(&mut self) -> Option<f32> {
        Some(f32::from_bits(self.u32()?))
    }

    pub(crate) fn id(&mut self) -> Option<GlobalId> {
        Some(GlobalId(self.u64()?))
    }

    pub(crate) fn aabb(&mut self) -> Option<Aabb> {
        let mut corner = || Some([self.f32()?, self.f32()?, self.f32()?]);
        Some(Aabb::new(corner()?, corner()?))
    }

    pub(crate) fn filter(&mut self) -> Option<Filter> {
        let still = match self.u8()? {
            0 => return Some(Filter::ALL),
            1 => false,
            2 => true,
            _ => return None,
        };
        let filter = Filter::groups(self.u32()?, self.u32()?).with_owner(self.u32()?);
        Some(if still { filter.with_still(true) } else { filter })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_taken_and_a_cut_is_noticed() {
        let aabb = Aabb::new([f32::NEG_INFINITY, -0.0, 1.5], [f32::INFINITY, 0.0, 1e-40]);
        let filters = [Filter::ALL, Filter::STILL, Filter::groups(5, 9).with_owner(77)];
        let mut bytes = Vec::new();
        bytes.put_id(GlobalId(u64::MAX));
        bytes.put_aabb(&aabb);
        filters.iter().for_each(|filter| bytes.put_filter(filter));
        let mut take = Take(&bytes);
        assert_eq!(take.id(), Some(GlobalId(u64::MAX)));
        let read = take.aabb().unwrap();
        assert!(read.same(&aabb) && read.min[1].is_sign_negative());
        for filter in filters {
            assert_eq!(take.filter(), Some(filter));
        }
        assert!(take.is_empty() && take.u8().is_none());
        let mut cut = Take(&bytes[..bytes.len() - 1]);
        cut.id().and(cut.aabb()).and(cut.filter()).and(cut.filter()).unwrap();
        assert_eq!(cut.filter(), None);
    }
}
