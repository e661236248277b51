//! Which axes tell boxes apart.

use crate::aabb::Aabb;
use crate::boxes::Boxes;

/// How many boxes are looked at to choose the axes.
const SAMPLE: usize = 1024;

/// An axis is cut if the boxes' lower corners spread over more than this many median extents.
const WORTH_CUTTING: f64 = 2.0;

/// The axis along which the centres of the boxes vary most. Infinite endpoints count as the
/// largest finite value, so that one giant box does not decide for all.
pub(crate) fn widest_axis(boxes: &Boxes) -> usize {
    let mut sum = [0.0f64; 3];
    let mut square = [0.0f64; 3];
    let mut scale = 0.0f64;
    let centre = |aabb: &Aabb, k: usize| {
        let bound = |value: f32| f64::from(value.clamp(f32::MIN, f32::MAX));
        0.5 * bound(aabb.min[k]) + 0.5 * bound(aabb.max[k])
    };
    for id in boxes.live_slots() {
        let aabb = &boxes.aabbs()[id.index()];
        for k in 0..3 {
            let c = centre(aabb, k);
            sum[k] += c;
            square[k] += c * c;
        }
        scale += 1.0;
    }
    let variance = |k: usize| square[k] - sum[k] * sum[k] / scale.max(1.0);
    (0..3)
        .max_by(|&one, &other| variance(one).total_cmp(&variance(other)).then(other.cmp(&one)))
        .unwrap_or(0)
}

/// The axes, the widest first.
pub(crate) fn axes_by_spread(boxes: &Boxes) -> [usize; 3] {
    let widest = widest_axis(boxes);
    [widest, (widest + 1) % 3, (widest + 2) % 3]
}

/// Where the lower corners begin along an axis and how far they spread; the spread is zero if
/// cutting there would not tell boxes apart. Some strays at each end do not count.
pub(crate) fn worthwhile_spread<'a>(
    mut aabbs: impl ExactSizeIterator<Item = &'a Aabb>,
    axis: usize,
) -> (f64, f64) {
    let total = aabbs.len();
    let wanted = SAMPLE.min(total);
    let finite = |bound: f32| f64::from(bound.clamp(f32::MIN, f32::MAX));
    let mut corners = [0.0; SAMPLE];
    let mut extents = [0.0; SAMPLE];
    let mut count = 0;
    let mut next = 0;
    for sample in 0..wanted {
        // One from each stretch, at a place that no order of the boxes repeats.
        let (from, to) = (sample * total / wanted, (sample + 1) * total / wanted);
        let jump = ((sample as u32).wrapping_mul(0x9E37_79B1) >> 8) as usize % (to - from);
        let Some(aabb) = aabbs.nth(from + jump - next) else { break };
        next = from + jump + 1;
        // Slots without a box hold NaN.
        if aabb.min[axis].is_nan() {
            continue;
        }
        corners[count] = finite(aabb.min[axis]);
        extents[count] = finite(aabb.max[axis]) - corners[count];
        count += 1;
    }
    if count == 0 {
        return (0.0, 0.0);
    }
    let (corners, extents) = (&mut corners[..count], &mut extents[..count]);
    corners.sort_unstable_by(f64::total_cmp);
    extents.sort_unstable_by(f64::total_cmp);
    let low = corners[count / 50];
    let spread = corners[count - 1 - count / 50] - low;
    (low, if spread > WORTH_CUTTING * extents[count / 2] { spread } else { 0.0 })
}
