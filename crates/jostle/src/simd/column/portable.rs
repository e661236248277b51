//! The sweep for machines without one of the instruction sets that have a file of their own:
//! eight lanes as plain arrays, which the compiler turns into what vectors there are.

use std::ops::Range;

use super::Column;
use crate::id::Slot;
use crate::pair::Pair;

const LANES: usize = 8;

/// One box.
struct Probe {
    low: [f32; 3],
    high: [f32; 3],
    id: Slot,
    marks: u32,
}

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
        let (begin, end) = (begins[one] as usize, ends[one] as usize);
        if begin >= end {
            continue;
        }
        let probe = Probe {
            low: [0, 1, 2].map(|axis| column.low[axis][one]),
            high: [0, 1, 2].map(|axis| column.high[axis][one]),
            id: Slot::new(column.id[one]),
            marks: column.marks[one],
        };
        for place in (begin..end).step_by(LANES) {
            let hits = compare(others, &probe, place);
            if hits == [false; LANES] {
                continue;
            }
            for lane in (0..LANES.min(end - place)).filter(|&lane| hits[lane]) {
                found.push(Pair::new(probe.id, Slot::new(others.id[place + lane])));
            }
        }
    }
}

/// Which of the boxes from `place` on overlap the probe and share no mark with it.
#[inline(always)]
fn compare(others: &Column, probe: &Probe, place: usize) -> [bool; LANES] {
    let marks: &[u32; LANES] = lanes(&others.marks, place);
    let mut hits = marks.map(|marks| marks & probe.marks == 0);
    for axis in 0..3 {
        let low: &[f32; LANES] = lanes(&others.low[axis], place);
        let high: &[f32; LANES] = lanes(&others.high[axis], place);
        for lane in 0..LANES {
            hits[lane] &= low[lane] <= probe.high[axis];
            hits[lane] &= probe.low[axis] <= high[lane];
        }
    }
    hits
}

#[inline(always)]
fn lanes<T>(items: &[T], place: usize) -> &[T; LANES] {
    items[place..].first_chunk().expect("columns are padded")
}
