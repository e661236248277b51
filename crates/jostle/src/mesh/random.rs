//! Random numbers and points for the tests of this room.

use glam::DVec3;

pub(super) struct Random(pub u64);

impl Random {
    /// From -1 to 1.
    pub(super) fn number(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.number().abs() * count as f64) as usize % count
    }

    pub(super) fn point(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }
}
