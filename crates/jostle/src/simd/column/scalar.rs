//! The sweep box by box: what the vector forms are tested against.

use std::ops::Range;

use super::Column;
use crate::pair::{BoxId, Pair};

/// See [`Column::sweep`].
pub(super) fn sweep(
    column: &Column,
    boxes: Range<usize>,
    begins: &[u32],
    ends: &[u32],
    found: &mut Vec<Pair>,
) {
    for one in boxes {
        for other in begins[one] as usize..ends[one] as usize {
            if overlap(column, one, other) {
                found.push(Pair::new(BoxId::new(column.id[one]), BoxId::new(column.id[other])));
            }
        }
    }
}

#[inline(always)]
fn overlap(column: &Column, one: usize, other: usize) -> bool {
    let (low, high) = (&column.low, &column.high);
    let on =
        |axis: usize| (low[axis][one] <= high[axis][other]) & (low[axis][other] <= high[axis][one]);
    on(0) & on(1) & on(2) & (column.marks[one] & column.marks[other] == 0)
}
