//! Random vectors and turns in f64, from the scenes' generator.

use crate::Rng;
use glam::{DQuat, DVec3};

/// A number between two others.
pub(crate) fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.unit_f64()
}

/// A vector in a cube about the origin.
pub(crate) fn vector(rng: &mut Rng, half: f64) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| between(rng, -half, half)))
}

/// A direction, uniform on the sphere.
pub(crate) fn direction(rng: &mut Rng) -> DVec3 {
    loop {
        let point = vector(rng, 1.0);
        if (1e-3..1.0).contains(&point.length_squared()) {
            return point.normalize();
        }
    }
}

/// A turn, uniform among all: a direction in four dimensions.
pub(crate) fn rotation(rng: &mut Rng) -> DQuat {
    loop {
        let turn = DQuat::from_array(std::array::from_fn(|_| between(rng, -1.0, 1.0)));
        if (1e-3..1.0).contains(&turn.length_squared()) {
            return turn.normalize();
        }
    }
}

/// The turn by a small vector: axis times angle, to the second order.
pub(crate) fn small_turn(spin: DVec3) -> DQuat {
    let half = 0.5 * spin;
    DQuat::from_xyzw(half.x, half.y, half.z, 1.0).normalize()
}
