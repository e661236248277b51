//! A hint that memory will soon be read or written.

/// Asks for the cache lines of a slice. Does nothing on targets without a stable instruction for
/// it.
#[inline(always)]
pub(crate) fn prefetch<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    fetch::<T, { std::arch::x86_64::_MM_HINT_T0 }>(items);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

/// As [`prefetch`], for much that is wanted a little later: not into the nearest cache, which
/// holds what is in use.
#[inline(always)]
pub(crate) fn prefetch_later<T>(items: &[T]) {
    #[cfg(target_arch = "x86_64")]
    fetch::<T, { std::arch::x86_64::_MM_HINT_T1 }>(items);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = items;
}

/// As [`prefetch`], for one item of a slice; one that is not there is a hint for nothing.
#[inline(always)]
pub(crate) fn prefetch_at<T>(items: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    // An item that need not begin with a cache line may have its end in one line more.
    for offset in
        (0..size_of::<T>()).step_by(64).chain((align_of::<T>() < 64).then_some(size_of::<T>() - 1))
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = items.as_ptr().wrapping_add(place).cast::<i8>().wrapping_add(offset);
        // SAFETY: a hint neither reads nor writes, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, place);
}

/// As [`prefetch_at`], for the cache line in which a small item begins.
#[inline(always)]
pub(crate) fn prefetch_begin<T>(items: &[T], place: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = items.as_ptr().wrapping_add(place).cast::<i8>();
        // SAFETY: a hint neither reads nor writes, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, place);
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch<T, const HINT: i32>(items: &[T]) {
    use std::arch::x86_64::_mm_prefetch;
    const LINE: usize = 64;
    let (start, bytes) = (items.as_ptr().cast::<i8>(), size_of_val(items));
    for offset in (0..bytes).step_by(LINE) {
        // SAFETY: a hint neither reads nor writes, and the address lies in the slice.
        unsafe { _mm_prefetch::<HINT>(start.add(offset)) };
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_hint_changes_nothing() {
        let items: Vec<u32> = (0..1000).collect();
        super::prefetch(&items);
        super::prefetch(&items[1000..]);
        super::prefetch_later(&items);
        for place in [0, 999, 1000, usize::MAX] {
            super::prefetch_at(&items, place);
            super::prefetch_begin(&items, place);
        }
        assert!(items.iter().enumerate().all(|(place, &item)| place as u32 == item));
    }
}
