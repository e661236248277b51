//! Principal axes of a cloud of points, for volumes that choose their own orientation.

use glam::{DMat3, DVec3};

/// Jacobi's method squares its error with each sweep; it has long converged after this many.
const SWEEPS: usize = 12;

/// The orthonormal, right-handed axes along which the points spread most, next, and least.
pub(super) fn principal_axes(points: &[DVec3]) -> DMat3 {
    let share = 1.0 / points.len() as f64;
    let mean: DVec3 = points.iter().map(|&point| point * share).sum();
    let largest = points.iter().map(|p| (*p - mean).abs().max_element()).fold(0.0, f64::max);
    if largest == 0.0 {
        return DMat3::IDENTITY;
    }
    let mut spread = DMat3::ZERO;
    for &point in points {
        let offset = (point - mean) / largest;
        spread += DMat3::from_cols(offset * offset.x, offset * offset.y, offset * offset.z);
    }
    let (axes, values) = eigenvectors(spread);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]).then(i.cmp(&j)));
    let [first, second] = [axes.col(order[0]).normalize(), axes.col(order[1])];
    // Once more orthogonal, since twelve sweeps of rotations drift a little.
    let third = first.cross(second).normalize();
    DMat3::from_cols(first, third.cross(first), third)
}

/// Eigenvectors (columns) and eigenvalues of a symmetric matrix, by Jacobi rotations.
fn eigenvectors(mut matrix: DMat3) -> (DMat3, DVec3) {
    let mut vectors = DMat3::IDENTITY;
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let across = matrix.col(q)[p];
            if across == 0.0 {
                continue;
            }
            let ratio = (matrix.col(q)[q] - matrix.col(p)[p]) / (2.0 * across);
            // An infinite ratio gives the right limit, a tangent of zero.
            let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            let mut turn = DMat3::IDENTITY;
            turn.col_mut(p)[p] = cosine;
            turn.col_mut(q)[q] = cosine;
            turn.col_mut(q)[p] = sine;
            turn.col_mut(p)[q] = -sine;
            matrix = turn.transpose() * matrix * turn;
            vectors *= turn;
        }
    }
    (vectors, DVec3::new(matrix.x_axis.x, matrix.y_axis.y, matrix.z_axis.z))
}
