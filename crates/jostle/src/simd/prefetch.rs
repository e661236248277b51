//! A hint that memory will soon be read or written.

/// Asks for the cache lines of a slice. Does nothing where there is no such instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        const LINE: usize = 64;
        let (start, bytes) = (items.as_ptr().cast::<i8>(), size_of_val(items));
        for offset in (0..bytes).step_by(LINE) {
            // SAFETY: a hint neither reads nor writes, and the address lies in the slice.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hint_changes_nothing() {
        let items: Vec<u32> = (0..1000).collect();
        super::prefetch(&items);
        super::prefetch(&items[1000..]);
        assert!(items.iter().enumerate().all(|(place, &item)| place as u32 == item));
    }
}
