//! Boxes against boxes by the fifteen axes (Gottschalk, Lin and Manocha, *OBBTree*), in the frame
//! of the first one.
//!
//! Three axes of each box and nine cross products of their edges. The least overlap is the exact
//! depth; one positive separation proves that the boxes are apart, and GJK then measures how far.
//! Cross products are compared without normalising them; only a winner pays for its root. An almost
//! parallel pair of edges is ill-conditioned in that form (its rounding is divided by a small
//! sine), so that its axis is made a unit vector first and everything is projected onto it.

use crate::shape::PoseMatrix;
use glam::DVec3;

/// What the axes tell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axes {
    /// Apart: a unit axis that shows it, from a to b, and by how much at least.
    Separated { axis: DVec3, separation: f64 },
    /// The least overlap and its axis, a unit vector from a to b.
    Overlapping { depth: f64, normal: DVec3 },
}

/// Squared sine under which two edges count as nearly parallel.
const NEARLY_PARALLEL: f64 = 1e-6;
/// Squared sine under which they count as parallel and only the faces matter.
const PARALLEL: f64 = 1e-28;

/// Both boxes as plain numbers: half sizes, the center of b, and the axes of b, all in a's frame.
struct Boxes {
    a: [f64; 3],
    b: [f64; 3],
    center: [f64; 3],
    axes: [[f64; 3]; 3],
}

#[derive(Clone, Copy)]
struct Best {
    separation: f64,
    normal: DVec3,
}

/// Tries the axes; stops at the first that separates.
pub(crate) fn run(half_a: DVec3, half_b: DVec3, pose: &PoseMatrix) -> Axes {
    let boxes = Boxes {
        a: half_a.to_array(),
        b: half_b.to_array(),
        center: pose.translation.to_array(),
        axes: pose.rotation.to_cols_array_2d(),
    };
    let mut best = Best { separation: f64::NEG_INFINITY, normal: DVec3::X };
    boxes.faces_of_a(&mut best);
    if best.separation <= 0.0 {
        boxes.faces_of_b(&mut best);
    }
    if best.separation <= 0.0 {
        boxes.edges(&mut best);
    }
    let Best { separation, normal } = best;
    if separation > 0.0 {
        Axes::Separated { axis: normal, separation }
    } else {
        Axes::Overlapping { depth: -separation, normal }
    }
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Boxes {
    #[inline(always)]
    fn faces_of_a(&self, best: &mut Best) {
        for axis in 0..3 {
            let reach: f64 = (0..3).map(|j| self.axes[j][axis].abs() * self.b[j]).sum();
            let separation = self.center[axis].abs() - self.a[axis] - reach;
            if separation > best.separation {
                let mut normal = [0.0; 3];
                normal[axis] = 1f64.copysign(self.center[axis]);
                *best = Best { separation, normal: normal.into() };
            }
        }
    }

    #[inline(always)]
    fn faces_of_b(&self, best: &mut Best) {
        for axis in 0..3 {
            let place = dot(&self.axes[axis], &self.center);
            let reach: f64 = (0..3).map(|i| self.axes[axis][i].abs() * self.a[i]).sum();
            let separation = place.abs() - self.b[axis] - reach;
            if separation > best.separation {
                let normal = DVec3::from(self.axes[axis]) * 1f64.copysign(place);
                *best = Best { separation, normal };
            }
        }
    }

    /// Cross products of edges, until one separates.
    #[inline(always)]
    fn edges(&self, best: &mut Best) {
        for first in 0..3 {
            for second in 0..3 {
                self.edge_pair(first, second, best);
            }
            if best.separation > 0.0 {
                return;
            }
        }
    }

    #[inline(always)]
    fn edge_pair(&self, first: usize, second: usize, best: &mut Best) {
        let (next, last) = ((first + 1) % 3, (first + 2) % 3);
        let edge = &self.axes[second];
        // Unit axis `first` crossed with the edge has only these two components.
        let (mut at_next, mut at_last) = (-edge[last], edge[next]);
        let mut sine = at_next * at_next + at_last * at_last;
        if sine < NEARLY_PARALLEL {
            if sine < PARALLEL {
                return;
            }
            let length = sine.sqrt();
            (at_next, at_last, sine) = (at_next / length, at_last / length, 1.0);
        }
        let along = |vector: &[f64; 3]| at_next * vector[next] + at_last * vector[last];
        let (j, k) = ((second + 1) % 3, (second + 2) % 3);
        let reach = self.a[next] * at_next.abs()
            + self.a[last] * at_last.abs()
            + self.b[j] * along(&self.axes[j]).abs()
            + self.b[k] * along(&self.axes[k]).abs();
        let place = along(&self.center);
        let separation = place.abs() - reach;
        // A separation must beat rounding, or parallel boxes that overlap would be called apart.
        let apart = separation > 4.0 * f64::EPSILON * reach;
        // Otherwise it is negative or nothing: the smaller square is the larger separation. The
        // factor prefers faces among equals.
        let square = best.separation * best.separation * sine * (1.0 - 1e-12);
        if apart || (best.separation <= 0.0 && separation * separation < square) {
            let scale = 1.0 / sine.sqrt();
            let mut normal = [0.0; 3];
            normal[next] = at_next * scale * 1f64.copysign(place);
            normal[last] = at_last * scale * 1f64.copysign(place);
            *best = Best { separation: separation * scale, normal: normal.into() };
        }
    }
}
