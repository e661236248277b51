//! Merges vertices that are exactly equal, by sorting: no hash order, and no worst case.

use glam::DVec3;

/// Distinct points in the order in which they first appear, and the place of each given one.
pub(super) fn merge(points: &[DVec3]) -> (Vec<DVec3>, Vec<u32>) {
    // Zero has two signs; they are the same place.
    let key = |at: u32| (points[at as usize] + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&at| (key(at), at));
    // For every point the first one that is equal.
    let mut first = vec![0u32; points.len()];
    for same in order.chunk_by(|&one, &other| key(one) == key(other)) {
        same.iter().for_each(|&at| first[at as usize] = same[0]);
    }
    let (mut distinct, mut place) = (Vec::new(), vec![0u32; points.len()]);
    for at in 0..points.len() {
        if first[at] as usize == at {
            place[at] = distinct.len() as u32;
            distinct.push(points[at]);
        } else {
            place[at] = place[first[at] as usize];
        }
    }
    (distinct, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_points_share_a_place_and_the_first_keeps_its_turn() {
        let at = |x: f64| DVec3::new(x, 0.0, 1.0);
        let (distinct, place) = merge(&[at(5.0), at(-0.0), at(5.0), at(2.0), at(0.0), at(2.0)]);
        assert_eq!(distinct, [at(5.0), at(0.0), at(2.0)]);
        assert_eq!(place, [0, 1, 0, 2, 1, 2]);
    }
}
