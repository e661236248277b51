//! The caller's pointers, as slices and back. All unsafe code that is not a function's signature.
//!
//! Nothing can tell whether a pointer is that of a living array of the stated length; that is the
//! caller's word. What can be told is checked: null, alignment, lengths that no array has.

use std::ffi::{CStr, c_char};

use crate::status::Fault;
use crate::status::jostle_status::JOSTLE_BUFFER_TOO_SMALL;

fn check<T>(pointer: *const T, count: usize, name: &str) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::argument(format!("{name} is null")));
    }
    if !pointer.is_aligned() {
        return Err(Fault::argument(format!("{name} is not aligned to its type")));
    }
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Fault::argument(format!("{name}: {count} is too large a length")));
    }
    Ok(())
}

/// The caller's array, to read. It may be null if it is empty.
pub(crate) unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Fault> {
    if count == 0 {
        return Ok(&[]);
    }
    check(pointer, count, name)?;
    // SAFETY: not null, aligned, no larger than an array can be; that `count` elements are there,
    // and that nobody writes to them during the call, is the caller's word.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// The caller's array of points or vectors, three numbers each.
pub(crate) unsafe fn triples<'a, T>(
    pointer: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [[T; 3]], Fault> {
    if count > 0 {
        check(pointer, count.saturating_mul(3), name)?;
    }
    // SAFETY: an array of three has the alignment of its elements; the rest is as above.
    unsafe { slice(pointer.cast::<[T; 3]>(), count, name) }
}

/// Writes an array into the caller's, which has room for as many.
pub(crate) unsafe fn copy_out<T: Copy>(
    values: &[T],
    pointer: *mut T,
    name: &str,
) -> Result<(), Fault> {
    if values.is_empty() {
        return Ok(());
    }
    check(pointer, values.len(), name)?;
    // SAFETY: not null, aligned; that there is room is the caller's word. `values` is the
    // library's own memory, so the two do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), pointer, values.len()) };
    Ok(())
}

/// Fails if a value could not be written.
pub(crate) fn check_out<T>(pointer: *mut T, name: &str) -> Result<(), Fault> {
    check(pointer, 1, name)
}

/// Fails if an array could not be written.
pub(crate) fn check_room<T>(pointer: *mut T, count: usize, name: &str) -> Result<(), Fault> {
    if count == 0 { Ok(()) } else { check(pointer, count, name) }
}

/// Writes a value.
pub(crate) unsafe fn write<T>(value: T, pointer: *mut T, name: &str) -> Result<(), Fault> {
    check(pointer, 1, name)?;
    // SAFETY: not null, aligned; that it may be written is the caller's word.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes an array into a buffer of a stated capacity, and its length.
pub(crate) unsafe fn fill<T: Copy>(
    values: &[T],
    buffer: *mut T,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Fault> {
    check_out(count, "count")?;
    // SAFETY: checked above.
    unsafe { count.write(values.len()) };
    if capacity < values.len() {
        let message = format!("the buffer has room for {capacity} of {}", values.len());
        return Err(Fault::new(JOSTLE_BUFFER_TOO_SMALL, message));
    }
    // SAFETY: the caller's word, as above.
    unsafe { copy_out(values, buffer, "buffer") }
}

/// A value that may be left out by giving null.
pub(crate) unsafe fn optional<'a, T>(
    pointer: *const T,
    name: &str,
) -> Result<Option<&'a T>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's word, as above.
    Ok(unsafe { slice(pointer, 1, name) }?.first())
}

/// A text that ends with a zero byte, or null.
pub(crate) unsafe fn text<'a>(
    pointer: *const c_char,
    name: &str,
) -> Result<Option<&'a str>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; that a zero byte ends it is the caller's word.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(Some).map_err(|_| Fault::argument(format!("{name} is not UTF-8")))
}
