//! Johnson's sub-algorithm: the point of a simplex nearest to the origin, by linear equations.
//!
//! The nearest point of the plane through some corners is a sum of them with weights; by Cramer's
//! rule the weights are quotients of determinants, which grow from those of smaller sets (Gilbert,
//! Johnson and Keerthi; van den Bergen, *A Fast and Robust GJK Implementation*):
//!
//! ```text
//! delta_i({y_i})    = 1
//! delta_j(X + y_j)  = sum over i in X of delta_i(X) (y_i · y_k - y_i · y_j), any k in X
//! X is the answer if delta_i(X) > 0 for all i in X and delta_j(X + y_j) <= 0 for all others
//! ```
//!
//! Only sets with the newest corner are looked at, by van den Bergen's theorem 2. Rounding may
//! leave no set that passes; the *backup procedure* then takes, of all sets with positive weights,
//! the one whose point is nearest. Cost: ten dot products and at most 28 determinants of a
//! tetrahedron, one division at the end. The determinants have degree six, so what they lose in
//! flat simplices they lose three times over; the tests say how much.
//!
//! Departure: dot products are computed afresh in every step. Van den Bergen keeps them, three new
//! ones a step, which is less arithmetic and more bookkeeping.

use glam::DVec3;

use super::Work;
use super::voronoi::Simplex;

/// Determinants of all sets of corners; those of sets without a corner stay zero.
type Deltas = [[f64; 4]; 16];

/// The point nearest to the origin and the corners it is made of; nothing if the origin is inside.
pub(super) fn nearest(simplex: &Simplex, work: &mut Work) -> Option<(DVec3, usize)> {
    let whole = (1usize << simplex.len) - 1;
    let newest = 1 << (simplex.len - 1);
    let deltas = determinants(simplex, whole);
    for set in (1..=whole).filter(|set| set & newest != 0) {
        work.regions += 1;
        if is_answer(&deltas, set, whole) {
            return answer(simplex, &deltas, set);
        }
    }
    backup(simplex, &deltas, whole, work)
}

fn determinants(simplex: &Simplex, whole: usize) -> Deltas {
    let mut dots = [[0.0; 4]; 4];
    for i in 0..simplex.len {
        for j in i..simplex.len {
            dots[i][j] = simplex.corners[i].dot(simplex.corners[j]);
            dots[j][i] = dots[i][j];
        }
    }
    let mut deltas = [[0.0; 4]; 16];
    for set in 1..=whole {
        if set.count_ones() == 1 {
            deltas[set][set.trailing_zeros() as usize] = 1.0;
            continue;
        }
        for j in (0..simplex.len).filter(|j| set >> j & 1 == 1) {
            let rest = set & !(1 << j);
            let k = rest.trailing_zeros() as usize;
            deltas[set][j] = (0..simplex.len)
                .filter(|i| rest >> i & 1 == 1)
                .map(|i| deltas[rest][i] * (dots[i][k] - dots[i][j]))
                .sum();
        }
    }
    deltas
}

/// Returns true if all weights of a set are positive.
fn is_inside(deltas: &Deltas, set: usize) -> bool {
    (0..4).all(|i| set >> i & 1 == 0 || deltas[set][i] > 0.0)
}

fn is_answer(deltas: &Deltas, set: usize, whole: usize) -> bool {
    let others = whole & !set;
    is_inside(deltas, set) && (0..4).all(|j| others >> j & 1 == 0 || deltas[set | 1 << j][j] <= 0.0)
}

fn point(simplex: &Simplex, deltas: &Deltas, set: usize) -> DVec3 {
    let sum: f64 = deltas[set].iter().sum();
    let corners = simplex.corners.iter().zip(deltas[set]);
    corners.map(|(&corner, delta)| corner * delta).sum::<DVec3>() / sum
}

fn answer(simplex: &Simplex, deltas: &Deltas, set: usize) -> Option<(DVec3, usize)> {
    (set != 0b1111).then(|| (point(simplex, deltas, set), set))
}

fn backup(
    simplex: &Simplex,
    deltas: &Deltas,
    whole: usize,
    work: &mut Work,
) -> Option<(DVec3, usize)> {
    let mut best = (DVec3::INFINITY, 1 << (simplex.len - 1));
    for set in (1..=whole).filter(|&set| is_inside(deltas, set)) {
        work.regions += 1;
        let point = point(simplex, deltas, set);
        if point.length_squared() < best.0.length_squared() {
            best = (point, set);
        }
    }
    (best.1 != 0b1111).then_some(best)
}
