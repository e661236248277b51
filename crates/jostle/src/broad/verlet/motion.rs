//! How far boxes move in a step, from a sample of them, and the skin that follows from it.
//!
//! A wide skin lasts for many steps but takes in more candidates, which are tested in every step.
//! The plan weighs the two by a small cost model in nanoseconds a box, fitted to `jostle bench
//! --scene uniform --params speed=…` at densities 0.05 and 0.35 on one thread.

use crate::boxes::Boxes;
use crate::id::Slot;

use super::LEAD;

/// The most boxes in the sample.
const SAMPLE: usize = 512;

/// One box in this many may be faster than the measured speed.
const FASTER: usize = 128;

/// The most steps that a skin is made for.
const LONGEST: u32 = 64;

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Motion {
    /// Some slots and the bounds of their boxes in the last step.
    sample: Vec<(u32, [f32; 6])>,
    /// Number of slots when the sample was taken.
    slots: usize,
    ways: Vec<f32>,
    /// What nearly all bounds move at most in a step.
    pub speed: f32,
    /// The mean extent of a box.
    width: f32,
}

impl Motion {
    /// Looks at the sample, or takes one if the boxes are others.
    pub(super) fn look(&mut self, boxes: &Boxes, continues: bool) {
        if !continues || self.slots != boxes.slots() {
            return self.take(boxes);
        }
        self.ways.clear();
        for (slot, before) in &mut self.sample {
            let now = bounds(boxes, *slot);
            let way = (0..6).map(|k| (now[k] - before[k]).abs()).fold(0.0, f32::max);
            *before = now;
            if way.is_finite() {
                self.ways.push(way);
            }
        }
        if self.ways.is_empty() {
            self.speed = 0.0;
            return;
        }
        let rank = self.ways.len() - 1 - self.ways.len() / FASTER;
        let (_, &mut now, _) = self.ways.select_nth_unstable_by(rank, f32::total_cmp);
        // A step in which less moves is no reason to expect little of the next.
        self.speed = now.max(0.875 * self.speed);
    }

    fn take(&mut self, boxes: &Boxes) {
        let slots = boxes.slots();
        let count = SAMPLE.min(slots.div_ceil(16)).max(16).min(slots);
        self.slots = slots;
        self.sample.clear();
        let (mut sum, mut axes) = (0.0, 0.0);
        for k in 0..count {
            let (from, to) = (k * slots / count, (k + 1) * slots / count);
            let slot = from + (k as u32).wrapping_mul(0x9E37_79B1) as usize % (to - from);
            let now = bounds(boxes, slot as u32);
            self.sample.push((slot as u32, now));
            for axis in 0..3 {
                let extent = now[axis + 3] - now[axis];
                if extent.is_finite() {
                    sum += f64::from(extent);
                    axes += 1.0;
                }
            }
        }
        self.width = if axes > 0.0 { (sum / axes) as f32 } else { 0.0 };
        self.speed = 0.0;
    }

    /// The skin to use, if lists are expected to pay, or were and still nearly do: going over to
    /// the tree costs more than some steps. `pairs` overlap, and `changed` boxes changed in the
    /// last step.
    pub(super) fn plan(
        &self,
        boxes: usize,
        pairs: usize,
        changed: usize,
        listed: bool,
    ) -> Option<f32> {
        let (speed, width) = (f64::from(self.speed), f64::from(self.width));
        if !(speed > 0.0 && width > 0.0 && self.speed < f32::MAX / 1024.0) {
            return None;
        }
        // If most boxes rest, the tree has its own ways, and a list of all would be made for few.
        if !listed && changed * 2 < boxes {
            return None;
        }
        let each = pairs as f64 / boxes.max(1) as f64;
        let share = (7.0 * changed as f64 / boxes.max(1) as f64).min(1.0);
        let without = share * (40.0 + 30.0 * each);
        let cost = |steps: u32| {
            let growth = 1.0 + 2.0 * speed * f64::from(steps) / width;
            let candidates = each.max(0.02) * growth.powi(3);
            let rebuild = (110.0 + 22.0 * candidates) / f64::from(steps - LEAD);
            2.0 + 10.0 * share + 5.0 * each + 2.2 * candidates + rebuild
        };
        let costs = (2 * LEAD + 1..=LONGEST).map(|steps| (cost(steps), steps));
        let (best, steps) = costs.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let accepted = if listed { 1.25 } else { 0.85 };
        (best < accepted * without.max(20.0)).then_some(self.speed * steps as f32)
    }
}

/// The bounds of a box; NaN if there is none.
fn bounds(boxes: &Boxes, slot: u32) -> [f32; 6] {
    debug_assert!(Slot::new(slot).index() < boxes.slots());
    let aabb = &boxes.aabbs()[slot as usize];
    [aabb.min[0], aabb.min[1], aabb.min[2], aabb.max[0], aabb.max[1], aabb.max[2]]
}
