//! `churn`: the scene of Tracy, Buss and Woods (*Efficient Large-Scale Sweep and Prune Methods
//! with AABB Insertion and Removal*): a share of the boxes moves, a share is removed and a share
//! inserted on every frame. The defaults are those of their largest test: density 5 %, way per
//! frame 10 % of the width, 10 % moving, 0.5 % inserts and 0.5 % removes.
//!
//! Slots are stable: `n` of them, all alive at first. A frame removes boxes at random, then
//! inserts new ones of new size at new places into free slots, the one freed last first. As long
//! as inserts equal removes, each freed slot is taken again at once, so every frame has `n`
//! living boxes and a file of fixed shape tells the whole story. With other numbers the
//! population shrinks or grows between 0 and `n`; a free slot then holds a parked point outside
//! the world that touches nothing. Whether a slot's boxes move is fixed for the slot.

use super::Motion;
use super::bounce::{self, Bounce};
use crate::catalog::Values;
use crate::rng::Rng;
use crate::scene::Frame;
use jostle::Aabb;

/// The bouncing boxes with their coming and going.
pub(super) struct Churn {
    bounce: Bounce,
    values: Values,
    rng: Rng,
    /// Slots with a living box, in an order of no meaning, for picking one at random.
    living: Vec<u32>,
    free: Vec<u32>,
    /// Fractions of a removal and an insertion carried over to the next frame.
    owed: [f64; 2],
}

pub(super) fn build(values: &Values, n: usize, mut rng: Rng) -> (Frame, Churn) {
    let (mut frame, bounce) = bounce::build(values, n, &mut rng);
    frame.alive = Some(vec![true; n]);
    let living = (0..n as u32).collect();
    let values = values.clone();
    (frame, Churn { bounce, values, rng, living, free: Vec::new(), owed: [0.0; 2] })
}

impl Motion for Churn {
    fn advance(&mut self, frame: &mut Frame) {
        self.bounce.advance(frame);
        let removes = self.due(0, "removes", frame.boxes.len()).min(self.living.len());
        for _ in 0..removes {
            self.remove_one(frame);
        }
        let inserts = self.due(1, "inserts", frame.boxes.len()).min(self.free.len());
        for _ in 0..inserts {
            self.insert_one(frame);
        }
    }
}

impl Churn {
    /// How many to do now; the fraction is kept, so the rate is met in the long run.
    fn due(&mut self, which: usize, name: &str, n: usize) -> usize {
        let total = self.owed[which] + self.values.get_or(name, 0.0) * n as f64;
        self.owed[which] = total.fract();
        total as usize
    }

    fn remove_one(&mut self, frame: &mut Frame) {
        let at = self.rng.below(self.living.len());
        let slot = self.living.swap_remove(at);
        self.free.push(slot);
        set_alive(frame, slot, false);
        frame.boxes[slot as usize] = parked(slot);
        frame.removed.push(slot);
    }

    fn insert_one(&mut self, frame: &mut Frame) {
        let Some(slot) = self.free.pop() else { return };
        self.living.push(slot);
        let size =
            bounce::draw_size(&self.values, &mut self.rng).map(|width| width.min(self.bounce.side));
        set_alive(frame, slot, true);
        frame.boxes[slot as usize] = bounce::place(size, self.bounce.side, &mut self.rng);
        self.bounce.replace(&self.values, slot, size, &mut self.rng);
        frame.inserted.push(slot);
    }
}

fn set_alive(frame: &mut Frame, slot: u32, alive: bool) {
    if let Some(flags) = &mut frame.alive {
        flags[slot as usize] = alive;
    }
}

/// A point of its own for each slot, on a grid on the far side of the origin. Both numbers are
/// whole and small enough to be exact.
fn parked(slot: u32) -> Aabb {
    let (column, row) = (slot % 16_384, slot / 16_384);
    Aabb::point([-1.0 - column as f32, -1.0 - row as f32, -1.0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parked_points_are_distinct() {
        let points: Vec<Aabb> = [0, 1, 16_383, 16_384, 16_385, (1 << 28) - 1].map(parked).into();
        for (i, a) in points.iter().enumerate() {
            assert!(points[..i].iter().all(|b| !a.overlaps(b)));
        }
    }
}
