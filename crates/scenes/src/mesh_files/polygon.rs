//! Cuts polygons into triangles.
//!
//! A convex polygon becomes a fan from its first corner, as every reader makes it. Others lose
//! their ears one by one, seen along their normal (Newell's). A polygon that is too long for that,
//! crosses itself or is bent so that no ear is left becomes a fan as well: the triangles are all
//! there, only not on the inside everywhere.

use glam::{DVec2, DVec3};

/// Longest polygon whose ears are cut; the cost grows with the square.
const LONGEST: usize = 256;

/// Appends the triangles of a polygon of three corners or more.
pub(super) fn cut(vertices: &[DVec3], corners: &[u32], out: &mut Vec<[u32; 3]>) {
    match corners.len() {
        0..3 => {}
        3 => out.push([corners[0], corners[1], corners[2]]),
        4..=LONGEST => {
            let flat = flatten(vertices, corners);
            if is_convex(&flat) || !cut_ears(&flat, corners, out) {
                fan(corners, out);
            }
        }
        _ => fan(corners, out),
    }
}

fn fan(corners: &[u32], out: &mut Vec<[u32; 3]>) {
    out.extend(corners[1..].windows(2).map(|two| [corners[0], two[0], two[1]]));
}

/// The polygon as seen along its normal, counter-clockwise.
fn flatten(vertices: &[DVec3], corners: &[u32]) -> Vec<DVec2> {
    let points: Vec<DVec3> = corners.iter().map(|&at| vertices[at as usize]).collect();
    let origin = points[0];
    let next = |k: usize| points[(k + 1) % points.len()] - origin;
    let normal: DVec3 = (0..points.len()).map(|k| (points[k] - origin).cross(next(k))).sum();
    let size = normal.abs();
    // Leaves out the axis that the normal is nearest to.
    let (u, v, sign) = if size.x >= size.y && size.x >= size.z {
        (1, 2, normal.x)
    } else if size.y >= size.z {
        (2, 0, normal.y)
    } else {
        (0, 1, normal.z)
    };
    let seen = |p: &DVec3| if sign < 0.0 { DVec2::new(p[v], p[u]) } else { DVec2::new(p[u], p[v]) };
    points.iter().map(seen).collect()
}

fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Turns left everywhere, once around.
fn is_convex(flat: &[DVec2]) -> bool {
    let n = flat.len();
    let left = (0..n).all(|k| turn(flat[k], flat[(k + 1) % n], flat[(k + 2) % n]) >= 0.0);
    // A star turns left too; then some diagonal from the first corner turns right.
    left && (1..n - 1).all(|k| turn(flat[0], flat[k], flat[k + 1]) >= 0.0)
}

/// Cuts ears off; returns false, with nothing appended, if there are none left to cut.
fn cut_ears(flat: &[DVec2], corners: &[u32], out: &mut Vec<[u32; 3]>) -> bool {
    let begin = out.len();
    let mut left: Vec<usize> = (0..corners.len()).collect();
    let (mut at, mut failed) = (0, 0);
    let mut budget = 4 * corners.len() * corners.len();
    while left.len() > 3 {
        let n = left.len();
        let ear = [left[at % n], left[(at + 1) % n], left[(at + 2) % n]];
        if failed > n || budget < n {
            out.truncate(begin);
            return false;
        }
        budget -= n;
        if is_ear(flat, &left, ear) {
            out.push(ear.map(|k| corners[k]));
            left.remove((at + 1) % n);
            // A removal before the place moves it.
            at = if at + 1 >= n { at.saturating_sub(1) } else { at } % (n - 1);
            failed = 0;
        } else {
            at = (at + 1) % n;
            failed += 1;
        }
    }
    out.push([left[0], left[1], left[2]].map(|k| corners[k]));
    true
}

/// A corner that turns left, with no other corner in its triangle.
fn is_ear(flat: &[DVec2], left: &[usize], ear: [usize; 3]) -> bool {
    let [a, b, c] = ear.map(|k| flat[k]);
    turn(a, b, c) > 0.0
        && left.iter().filter(|k| !ear.contains(k)).all(|&k| {
            let p = flat[k];
            p == a
                || p == c
                || !(turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_flat(points: &[[f64; 2]]) -> (Vec<[u32; 3]>, f64) {
        let vertices: Vec<DVec3> = points.iter().map(|p| DVec3::new(2.0, p[0], p[1])).collect();
        let corners: Vec<u32> = (0..points.len() as u32).collect();
        let mut out = Vec::new();
        cut(&vertices, &corners, &mut out);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|k| vertices[k as usize]);
            (b - a).cross(c - a).length() / 2.0
        };
        let sum = out.iter().map(area).sum();
        (out, sum)
    }

    #[test]
    fn convex_polygons_are_fans() {
        let (out, area) = cut_flat(&[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]);
        assert_eq!((out, area), (vec![[0, 1, 2], [0, 2, 3]], 2.0));
    }

    #[test]
    fn concave_polygons_keep_their_area_either_way_round() {
        // A fan from the first corner of this arrow covers more than the arrow.
        let mut arrow = vec![[2.0, 0.0], [0.0, 2.0], [0.5, 0.0], [0.0, -2.0]];
        let (out, area) = cut_flat(&arrow);
        assert_eq!((out.len(), area), (2, 3.0));
        arrow.reverse();
        assert_eq!(cut_flat(&arrow).1, 3.0);
        // A comb of many teeth: between the teeth nothing is covered.
        let mut comb = vec![[0.0, -1.0], [40.0, -1.0]];
        for tooth in (0..20).rev() {
            let x = 2.0 * f64::from(tooth);
            comb.extend([[x + 2.0, 0.0], [x + 1.0, 5.0]]);
        }
        comb.push([0.0, 0.0]);
        let (out, area) = cut_flat(&comb);
        assert_eq!(out.len(), comb.len() - 2);
        assert!((area - (40.0 + 20.0 * 5.0)).abs() < 1e-9, "{area}");
    }

    #[test]
    fn any_polygon_gives_two_triangles_fewer_than_corners() {
        let mut state = 3u32;
        for n in 4..300 {
            let points: Vec<[f64; 2]> = (0..n)
                .map(|_| {
                    [(); 2].map(|()| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        f64::from(state >> 28)
                    })
                })
                .collect();
            assert_eq!(cut_flat(&points).0.len(), n - 2);
        }
    }
}
