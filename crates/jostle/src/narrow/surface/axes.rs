//! Triangles against boxes (Akenine-Möller, *Fast 3D Triangle-Box Overlap Testing*) and against
//! triangles, by the axes along which they can be parted: the least overlap is the exact depth.
//!
//! The cheapest axes come first, and a triangle is left as soon as one shows that it is out of
//! reach, or not deeper than the deepest known.

use glam::DVec3;

/// What the axes tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Axes {
    /// Apart by more than the reach.
    Apart,
    /// Not deeper than what is known.
    Beyond,
    /// Apart, but perhaps within the reach.
    Near,
    /// The separation along the axis of least overlap, below zero or zero, and that axis, a unit
    /// vector from the triangle to the other.
    Overlapping { separation: f64, normal: DVec3 },
}

/// Squared sine under which edges count as parallel.
const PARALLEL: f64 = 1e-24;

struct Best {
    separation: f64,
    normal: DVec3,
}

impl Best {
    /// Offers an axis of any length along which intervals are parted by `separation` times it.
    #[inline(always)]
    fn offer(&mut self, axis: DVec3, square: f64, separation: f64) {
        // Faces win among equals.
        let best = self.separation * self.separation * square * (1.0 - 1e-12);
        let larger = if separation > 0.0 {
            self.separation <= 0.0 || separation * separation > best
        } else {
            self.separation < 0.0 && separation * separation < best
        };
        if larger {
            let scale = 1.0 / square.sqrt();
            *self = Best { separation: separation * scale, normal: axis * scale };
        }
    }
}

/// A triangle in the frame of a box. Pairs apart by more than `reach` are apart, and those that are
/// shown to be apart by more than `least`, if that is less than zero, are of no interest.
#[inline]
pub(super) fn triangle_box(v: &[DVec3; 3], half: DVec3, reach: f64, least: f64) -> Axes {
    let low = v[0].min(v[1]).min(v[2]);
    let high = v[0].max(v[1]).max(v[2]);
    let (above, below) = (low - half, -half - high);
    let apart = above.max(below);
    let most = apart.max_element();
    if most > reach {
        return Axes::Apart;
    }
    if most > least {
        return Axes::Beyond;
    }
    let axis = if apart.x == most {
        0
    } else if apart.y == most {
        1
    } else {
        2
    };
    let sign = if above[axis] >= below[axis] { -1.0 } else { 1.0 };
    let mut best = Best { separation: most, normal: DVec3::AXES[axis] * sign };
    let edges = [v[1] - v[0], v[2] - v[1], v[0] - v[2]];
    let normal = edges[0].cross(edges[1]);
    let square = normal.length_squared();
    if square > PARALLEL * edges[0].length_squared() * edges[1].length_squared() {
        let height = normal.dot(v[0]);
        let wide = normal.abs().dot(half);
        let away = if height >= 0.0 { -normal } else { normal };
        best.offer(away, square, height.abs() - wide);
    }
    if let Some(early) = early(&best, reach, least) {
        return early;
    }
    for k in 0..3 {
        let (edge, other) = (edges[k], v[(k + 2) % 3]);
        let at = v[k];
        // The unit axes crossed with the edge have two components each.
        for (j, l, m) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            let (along, across) = (-edge[m], edge[l]);
            let square = along * along + across * across;
            if square <= PARALLEL * edge.length_squared() {
                continue;
            }
            let (p, q) = (along * at[l] + across * at[m], along * other[l] + across * other[m]);
            let (p, q) = if p < q { (p, q) } else { (q, p) };
            let wide = half[l] * along.abs() + half[m] * across.abs();
            let (above, below) = (p - wide, -wide - q);
            let mut axis = [0.0; 3];
            let sign = if above >= below { -1.0 } else { 1.0 };
            (axis[j], axis[l], axis[m]) = (0.0, sign * along, sign * across);
            best.offer(axis.into(), square, above.max(below));
        }
        if let Some(early) = early(&best, reach, least) {
            return early;
        }
    }
    if best.separation > 0.0 {
        return Axes::Near;
    }
    Axes::Overlapping { separation: best.separation, normal: best.normal }
}

#[inline(always)]
fn early(best: &Best, reach: f64, least: f64) -> Option<Axes> {
    if best.separation > reach {
        return Some(Axes::Apart);
    }
    (best.separation > least).then_some(Axes::Beyond)
}

/// Two triangles: the separation along the axis of least overlap, and that axis, a unit vector from
/// the first to the second. None if they have no area and nothing crosses.
pub(super) fn triangles(one: &[DVec3; 3], other: &[DVec3; 3]) -> Option<(f64, DVec3)> {
    let edges = |v: &[DVec3; 3]| [v[1] - v[0], v[2] - v[1], v[0] - v[2]];
    let (mine, theirs) = (edges(one), edges(other));
    let mut best: Option<Best> = None;
    let mut offer = |axis: DVec3, scale: f64| {
        let square = axis.length_squared();
        if square <= PARALLEL * scale || square == 0.0 {
            return;
        }
        let axis = axis / square.sqrt();
        let reach = |v: &[DVec3; 3]| {
            let at = v.map(|corner| (corner - one[0]).dot(axis));
            (at[0].min(at[1]).min(at[2]), at[0].max(at[1]).max(at[2]))
        };
        let ((low, high), (least, most)) = (reach(one), reach(other));
        let (ahead, behind) = (least - high, low - most);
        let (separation, normal) = if ahead >= behind { (ahead, axis) } else { (behind, -axis) };
        if best.as_ref().is_none_or(|best| separation > best.separation) {
            best = Some(Best { separation, normal });
        }
    };
    for edges in [&mine, &theirs] {
        let scale = edges[0].length_squared() * edges[1].length_squared();
        offer(edges[0].cross(edges[1]), scale);
    }
    for first in mine {
        for second in theirs {
            offer(first.cross(second), first.length_squared() * second.length_squared());
        }
    }
    best.map(|best| (best.separation, best.normal))
}
