//! What the columns look like, and how many boxes touch each.

use super::plan::ColumnPlan;
use crate::aabb::Aabb;
use crate::boxes::Boxes;
use crate::broad::sketch::Sketch;

/// Above this many columns nothing can be told apart in a picture.
const MOST: usize = 1 << 16;

pub(super) fn draw(plan: &ColumnPlan, boxes: &Boxes, sketch: &mut Sketch) {
    sketch.sweep_axes[plan.axis] = true;
    let (columns, in_row) = (plan.columns(), plan.columns_in_row());
    if columns > MOST {
        return;
    }
    let mut counts = vec![0u32; columns];
    for slot in boxes.live_slots() {
        let span = plan.span_of(&boxes.aabbs()[slot.index()]);
        for row in span.from[0]..=span.to[0] {
            for place in span.from[1]..=span.to[1] {
                counts[row as usize * in_row + place as usize] += 1;
            }
        }
    }
    for (column, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        sketch.add(bounds(plan, [column / in_row, column % in_row]), 0, count);
    }
}

fn bounds(plan: &ColumnPlan, cell: [usize; 2]) -> Aabb {
    let mut bounds = Aabb::EVERYTHING;
    for (k, scale) in plan.across.iter().enumerate() {
        let axis = (plan.axis + 1 + k) % 3;
        [bounds.min[axis], bounds.max[axis]] = scale.edges(cell[k] as u32);
    }
    bounds
}
