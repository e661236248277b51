//! The sweep box by box: what the vector forms are tested against.

use std::ops::Range;

use super::Column;
use crate::pair::{BoxId, Pair};

/// See [`Column::sweep`].
pub(super) fn sweep(
    column: &Column,
    others: &Column,
    boxes: Range<usize>,
    begins: &[u32],
    ends: &[u32],
    found: &mut Vec<Pair>,
) {
    for one in boxes {
        for other in begins[one] as usize..ends[one] as usize {
            if overlap(column, one, others, other) {
                found.push(Pair::new(BoxId::new(column.id[one]), BoxId::new(others.id[other])));
            }
        }
    }
}

#[inline(always)]
fn overlap(column: &Column, one: usize, others: &Column, other: usize) -> bool {
    let on = |axis: usize| {
        (column.low[axis][one] <= others.high[axis][other])
            & (others.low[axis][other] <= column.high[axis][one])
    };
    on(0) & on(1) & on(2) & (column.marks[one] & others.marks[other] == 0)
}
