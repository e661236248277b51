//! Random shapes and poses from a small generator of our own.

use glam::{DQuat, DVec3};
use jostle::shape::{Pose, Shape, SupportMap};

/// SplitMix64.
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn range(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        low + (high - low) * (((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64)
    }

    pub(crate) fn vector(&mut self, half: f64) -> DVec3 {
        DVec3::new(self.range(-half, half), self.range(-half, half), self.range(-half, half))
    }

    pub(crate) fn unit(&mut self) -> DVec3 {
        self.vector(1.0).normalize_or(DVec3::X)
    }

    pub(crate) fn pose(&mut self, half: f64) -> Pose {
        let rotation = DQuat::from_scaled_axis(self.vector(3.0)).normalize();
        Pose::new(rotation, self.vector(half)).expect("a pose")
    }

    /// A bounded convex shape of about unit size; kinds repeat from [`KINDS`] on.
    pub(crate) fn shape(&mut self, kind: usize) -> Shape {
        let mut size = || self.range(0.2, 1.1);
        let made = match kind % KINDS {
            0 => Shape::sphere(size()),
            1 => Shape::cuboid(DVec3::new(size(), size(), size())),
            2 => Shape::capsule(0.6 * size(), size()),
            3 => Shape::cylinder(size(), size()),
            4 => Shape::cone(size(), size()),
            5 => Shape::ellipsoid(DVec3::new(size(), size(), size())),
            6 => Shape::triangle([self.vector(1.0), self.vector(1.0), self.vector(1.0)]),
            7 => Shape::hull(&self.cloud(16)),
            // More faces than the plane tests take on.
            8 => Shape::hull(&(0..300).map(|_| self.unit() * 0.9).collect::<Vec<_>>()),
            9 => {
                let (core, margin) = (self.range(1.0, 9.0) as usize, self.range(0.0, 0.3));
                Shape::rounded(&self.shape(core), margin)
            }
            _ => {
                let radii = DVec3::new(size(), size(), size());
                Shape::custom(Sum { radii, along: self.vector(0.5) })
            }
        };
        made.expect("a legal shape")
    }

    pub(crate) fn cloud(&mut self, count: usize) -> Vec<DVec3> {
        (0..count).map(|_| self.vector(0.9)).collect()
    }
}

/// How many kinds [`Random::shape`] makes.
pub(crate) const KINDS: usize = 11;

/// The sum of an ellipsoid and a segment: smooth, and with straight lines in its surface.
#[derive(Debug)]
pub(crate) struct Sum {
    pub radii: DVec3,
    pub along: DVec3,
}

impl SupportMap for Sum {
    fn support(&self, direction: DVec3) -> DVec3 {
        let stretched = self.radii * direction.normalize();
        let end = self.along * self.along.dot(direction).signum();
        self.radii * stretched.normalize() + end
    }
}
